#pragma once
#include <string>

#include "base/yaml_file.h"

namespace evenkeel::kubernetes {

// The same value as JSON, words taken for what kubectl takes them: true and yes are true, 3 and 0x10 are
// numbers, ~ is null, and whatever stands in quotes is text.
std::string yaml_to_json(const YamlNode& node);

}  // namespace evenkeel::kubernetes

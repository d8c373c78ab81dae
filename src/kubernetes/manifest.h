#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kubernetes/api_objects.h"

namespace evenkeel::kubernetes {

// What a cluster consists of, in the order of the text: what `kubectl get … -o yaml|json` prints, a List,
// several documents, or any mixture. Kinds that scheduling does not look at are passed over. The first object
// that cannot be understood is an error that names file, object and field.
Result<std::vector<ApiObject>> read_manifest(std::string_view text, const std::string& name);

}  // namespace evenkeel::kubernetes

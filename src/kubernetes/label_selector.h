#pragma once
#include <string_view>

#include "base/result.h"
#include "cluster/labels.h"

namespace evenkeel::kubernetes {

// A selector as kubectl's -l has it: `pool=a,zone in (x,y),!edge,tier!=test,disk`.
Result<LabelSelector> parse_label_selector(std::string_view text);

}  // namespace evenkeel::kubernetes

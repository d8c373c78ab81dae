#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/usage.h"
#include "monitor/windows.h"

namespace evenkeel::apps {

// `cpu=4 memory=16Gi receive=10Gbit/s read=500MB/s`: what a node can give, where it is not to be found out.
Result<Usage> parse_capacities(const std::vector<std::string>& texts);

// `cpu=5 memory=3 network=5 disk=3`: over how many samples each is averaged.
Result<monitor::WindowLengths> parse_windows(const std::vector<std::string>& texts);

}  // namespace evenkeel::apps

// The file that says how far apart endpoints are.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "links/link.h"

namespace evenkeel::links {

// settings[from][to], in the order of the endpoints' names.
using Matrix = std::vector<std::vector<LinkSettings>>;

// CSV with the columns from, to and delay_ms, and any of jitter_ms, rate_mbit (empty or 0: no limit) and
// loss_percent. A row is one direction; what has none is a cable without delay. Names that are no endpoint,
// and a direction given twice, are errors.
Result<Matrix> read_matrix(const std::string& path, const std::vector<std::string>& endpoints);
Result<Matrix> parse_matrix(std::string text, const std::string& name,
                            const std::vector<std::string>& endpoints);

}  // namespace evenkeel::links

#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace evenkeel::reporting {

using HttpPairs = std::vector<std::pair<std::string, std::string>>;

// As URLs spell it, %2F and all; a stray % stands for itself.
std::string decode_url(std::string_view text);
// `pod=default%2Fweb&verbose`, where + is a space; what has no value has an empty one.
HttpPairs decode_query(std::string_view query);

}  // namespace evenkeel::reporting

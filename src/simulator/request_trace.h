#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "simulator/request_rates.h"

namespace evenkeel::simulator {

// Which columns of a CSV file say when how many requests came. Plain or zstd-compressed.
struct RequestTrace {
  std::string path;
  std::string time = "time";  // 1998-06-10T15:30[:00][Z], or a number of `unit`
  double unit_s = 1;
  std::string requests = "requests";  // since the time of the row; empty: every row is one request
  std::vector<std::pair<std::string, double>> work;  // what a request costs: columns and their weights
  Duration step{std::chrono::minutes{1}};
  std::string from, to;  // as the column says it, or a whole day; empty: from its beginning, to its end
};

// Rates per step from `from` up to `to`. The mean work of a request is 1.
Result<RequestRates> read_request_trace(const RequestTrace& trace);

// Seconds since 1970 of 1998-06-10[T15:30[:00]][Z].
std::optional<double> parse_trace_time(std::string_view text);

}  // namespace evenkeel::simulator

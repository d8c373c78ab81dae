#include "simulator/request_trace.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/csv_reader.h"
#include "base/numbers.h"

namespace evenkeel::simulator {
namespace {

constexpr double kMostSteps = 1e8;

std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(at, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::optional<double> parse_time(std::string_view text, double unit_s) {
  if (const auto number = parse_number(text)) return *number * unit_s;
  return parse_trace_time(text);
}

struct Bounds {
  double from = -std::numeric_limits<double>::infinity(), to = std::numeric_limits<double>::infinity();
};

Result<Bounds> bounds_of(const RequestTrace& trace) {
  Bounds bounds;
  for (const auto& [text, bound, name] :
       {std::tuple{&trace.from, &bounds.from, "from"}, {&trace.to, &bounds.to, "to"}}) {
    if (text->empty()) continue;
    const auto value = parse_time(*text, trace.unit_s);
    if (!value)
      return invalid(std::string("workload.") + name + ": expected a time as in the trace, found '" + *text +
                     "'");
    *bound = *value;
  }
  if (!(bounds.from < bounds.to)) return invalid("workload.to: expected a time after workload.from");
  return bounds;
}

}  // namespace

std::optional<double> parse_trace_time(std::string_view text) {
  if (!text.empty() && text.back() == 'Z') text.remove_suffix(1);
  const auto year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  if (!year || !month || !day || text[4] != '-' || text[7] != '-') return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  const double seconds =
      86400.0 * static_cast<double>(std::chrono::sys_days{date}.time_since_epoch().count());
  if (text.size() == 10) return seconds;
  const auto hour = digits(text, 11, 2), minute = digits(text, 14, 2);
  const auto second = text.size() > 16 ? digits(text, 17, 2) : std::optional(0);
  if (!hour || !minute || !second || (text[10] != 'T' && text[10] != ' ')) return std::nullopt;
  return seconds + 3600.0 * *hour + 60.0 * *minute + *second;
}

Result<RequestRates> read_request_trace(const RequestTrace& trace) {
  const Result<Bounds> bounds = bounds_of(trace);
  if (!bounds) return bounds.error();
  Result<CsvReader> csv = CsvReader::open(trace.path);
  if (!csv) return csv.error();
  const CsvColumn time = csv->column(trace.time);
  const CsvColumn requests = trace.requests.empty() ? CsvColumn{} : csv->column(trace.requests);
  std::vector<std::pair<CsvColumn, double>> work;
  for (const auto& [name, weight] : trace.work) work.emplace_back(csv->column(name), weight);
  RequestRates rates;
  rates.step = trace.step;
  const double step = to_seconds(trace.step);
  double origin = bounds->from, all_work = 0, all_requests = 0;
  std::vector<double> sums;  // of the work of a step's requests
  while (csv->next()) {
    const auto at = parse_time(csv->text(time), trace.unit_s);
    if (!at) {
      csv->fail(time, "expected a time such as 1998-06-10T15:30Z or a number");
      break;
    }
    if (*at < bounds->from || *at >= bounds->to) continue;
    if (std::isinf(origin)) origin = *at;
    const double slot = std::floor((*at - origin) / step);
    if (slot < 0 || slot > kMostSteps) {
      csv->fail(time, "expected times in their order, and no gap of years");
      break;
    }
    const auto index = static_cast<std::size_t>(slot);
    if (index >= rates.per_s.size()) {
      rates.per_s.resize(index + 1);
      sums.resize(index + 1);
    }
    const double count = requests ? csv->number(requests) : 1;
    double cost = 0;
    for (const auto& [column, weight] : work) cost += weight * csv->number(column);
    rates.per_s[index] += static_cast<float>(count / step);
    sums[index] += cost * count;
    all_work += cost * count;
    all_requests += count;
  }
  if (const auto bad = csv->finish()) return *bad;
  if (rates.per_s.empty()) return invalid(csv->name() + ": no row between workload.from and workload.to");
  if (work.empty() || all_work <= 0) return rates;
  const double mean = all_work / all_requests;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double count = rates.per_s[i] * step;
    rates.work.push_back(count > 0 ? static_cast<float>(sums[i] / count / mean) : 1.F);
  }
  return rates;
}

}  // namespace evenkeel::simulator

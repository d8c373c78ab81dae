#include "apps/monitor_options.h"

#include <algorithm>
#include <utility>

#include "base/kube_quantity.h"
#include "base/numbers.h"
#include "base/unit_text.h"

namespace evenkeel::apps {
namespace {

Result<std::pair<std::string, std::string>> split(const std::string& option, const std::string& text) {
  const std::size_t place = text.find('=');
  if (place == std::string::npos || place == 0 || place + 1 == text.size())
    return invalid(option + " " + text + ": expected NAME=VALUE");
  return std::pair(text.substr(0, place), text.substr(place + 1));
}

Result<double> amount(Dimension dimension, const std::string& text) {
  const auto to_real = [](const auto& parsed) -> Result<double> {
    if (!parsed) return parsed.error();
    return static_cast<double>(parsed->count);
  };
  if (dimension == Dimension::cpu) {
    const auto cpu = parse_cpu(text);
    if (!cpu) return cpu.error();
    return static_cast<double>(cpu->count) / 1000;
  }
  return dimension == Dimension::memory ? to_real(parse_byte_size(text)) : to_real(parse_byte_rate(text));
}

}  // namespace

Result<Usage> parse_capacities(const std::vector<std::string>& texts) {
  Usage capacity;
  for (const std::string& text : texts) {
    const auto parts = split("--capacity", text);
    if (!parts) return parts.error();
    const auto name = std::find(kDimensionNames.begin(), kDimensionNames.end(), parts->first);
    if (name == kDimensionNames.end())
      return invalid("--capacity " + text + ": expected cpu, memory, receive, transmit, read or write");
    const auto dimension = static_cast<Dimension>(name - kDimensionNames.begin());
    const auto value = amount(dimension, parts->second);
    if (!value || *value <= 0)
      return invalid("--capacity " + text + ": " +
                     (value ? "expected more than nothing" : value.error().message));
    capacity[dimension] = *value;
  }
  return capacity;
}

Result<monitor::WindowLengths> parse_windows(const std::vector<std::string>& texts) {
  monitor::WindowLengths windows;
  for (const std::string& text : texts) {
    const auto parts = split("--windows", text);
    if (!parts) return parts.error();
    const auto samples = parse_integer(parts->second);
    if (!samples || *samples < 1 || *samples > static_cast<std::int64_t>(monitor::kMostWindow))
      return invalid("--windows " + text + ": expected 1 to " + std::to_string(monitor::kMostWindow) +
                     " samples");
    const auto length = static_cast<std::size_t>(*samples);
    if (parts->first == "cpu") {
      windows.cpu = length;
    } else if (parts->first == "memory") {
      windows.memory = length;
    } else if (parts->first == "network") {
      windows.network = length;
    } else if (parts->first == "disk") {
      windows.disk = length;
    } else {
      return invalid("--windows " + text + ": expected cpu, memory, network or disk");
    }
  }
  return windows;
}

}  // namespace evenkeel::apps

#include "apps/log.h"

#include <chrono>
#include <cstdio>
#include <ctime>

namespace evenkeel::apps {

void log_line(const std::string& text) {
  constexpr std::size_t kLongest = 2000;
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto millis =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm parts{};
  (void)::gmtime_r(&seconds, &parts);
  char stamp[40];
  const std::size_t length = std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &parts);
  (void)std::snprintf(stamp + length, sizeof stamp - length, ".%03dZ ", static_cast<int>(millis));
  std::string line = stamp + text.substr(0, kLongest);
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  line += '\n';
  (void)std::fwrite(line.data(), 1, line.size(), stderr);  // in one piece: lines never mix
}

}  // namespace evenkeel::apps

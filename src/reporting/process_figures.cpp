#include "reporting/process_figures.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace evenkeel::reporting {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// From the boot time and the process's age in clock ticks (proc(5)).
double started_at() {
  std::ifstream stat("/proc/self/stat"), uptime("/proc/uptime");
  std::string text((std::istreambuf_iterator<char>(stat)), {});
  double up = 0;
  if (!(uptime >> up) || text.rfind(')') == std::string::npos) return 0;
  std::string field;
  constexpr int kStartTime = 22;
  std::size_t at = text.rfind(')') + 2;  // the third field begins here
  for (int i = 3; i < kStartTime && at != std::string::npos; ++i) at = text.find(' ', at) + 1;
  const double ticks = std::strtod(text.c_str() + at, nullptr);
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return now - up + ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

ProcessFigures::ProcessFigures(MetricsRegistry& registry)
    : cpu_(registry
               .totals({"process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", {}})
               .with({})),
      resident_(
          registry.gauges({"process_resident_memory_bytes", "Resident memory size in bytes.", {}}).with({})),
      virtual_(
          registry.gauges({"process_virtual_memory_bytes", "Virtual memory size in bytes.", {}}).with({})),
      start_(registry
                 .gauges({"process_start_time_seconds",
                          "Start time of the process since unix epoch in seconds.",
                          {}})
                 .with({})),
      open_files_(registry.gauges({"process_open_fds", "Number of open file descriptors.", {}}).with({})),
      most_files_(
          registry.gauges({"process_max_fds", "Maximum number of open file descriptors.", {}}).with({})) {
  start_.set(started_at());
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) most_files_.set(static_cast<double>(files.rlim_cur));
}

void ProcessFigures::refresh() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) cpu_.set(seconds(usage.ru_utime) + seconds(usage.ru_stime));
  std::ifstream statm("/proc/self/statm");
  double all = 0, resident = 0;
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  if (statm >> all >> resident) {
    virtual_.set(all * page);
    resident_.set(resident * page);
  }
  std::error_code error;
  std::filesystem::directory_iterator files("/proc/self/fd", error);
  double open = 0;
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) ++open;
  open_files_.set(open);
}

}  // namespace evenkeel::reporting

#pragma once
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace evenkeel::monitor {

// A /proc and a /sys of files, for tests to say what a kernel would.
class FakeMachine {
 public:
  FakeMachine() {
    char name[] = "/tmp/evenkeel-machine-XXXXXX";
    root_ = ::mkdtemp(name);
    std::filesystem::create_directories(sys() + "/fs/cgroup");
    std::filesystem::create_directories(proc());
  }
  ~FakeMachine() { std::filesystem::remove_all(root_); }
  FakeMachine(const FakeMachine&) = delete;
  FakeMachine& operator=(const FakeMachine&) = delete;

  std::string proc() const { return root_ + "/proc"; }
  std::string sys() const { return root_ + "/sys"; }
  std::string cgroups() const { return root_ + "/sys/fs/cgroup"; }

  // In place, as the kernel does: whoever holds the file open sees the new text.
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path, std::ios::trunc) << text;
  }
  void cgroup(const std::string& path, const std::string& text) const {
    write("/sys/fs/cgroup" + path, text);
  }
  void remove(const std::string& path) const { std::filesystem::remove_all(root_ + path); }

  void stat(long user_ticks) const {
    write("/proc/stat", "cpu  " + std::to_string(user_ticks) + " 0 0 1000 0 0 0 0 0 0\ncpu0 0 0\ncpu1 0 0\n");
  }
  void meminfo(long total_kb, long free_kb) const {
    write("/proc/meminfo", "MemTotal: " + std::to_string(total_kb) +
                               " kB\nMemFree: " + std::to_string(free_kb) + " kB\nInactive(file): 0 kB\n");
  }
  void net_dev(const std::string& process, const std::string& name, long received, long sent) const {
    write("/proc/" + process + "/net/dev",
          "Inter-|   Receive\n face |bytes    packets\n    lo: 5 0 0 0 0 0 0 0 5 0 0 0 0 0 0 0\n" + name +
              ": " + std::to_string(received) + " 0 0 0 0 0 0 0 " + std::to_string(sent) +
              " 0 0 0 0 0 0 0\n");
  }
  void diskstats(long sectors_read, long sectors_written) const {
    write("/proc/diskstats", " 254 0 vda 1 2 " + std::to_string(sectors_read) + " 4 5 6 " +
                                 std::to_string(sectors_written) + " 8 9 10 11\n");
  }

 private:
  std::string root_;
};

}  // namespace evenkeel::monitor

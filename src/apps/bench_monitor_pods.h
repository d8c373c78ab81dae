#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace evenkeel::apps {

// Fifty pods for a monitor to watch: cgroups with a process each, in a network namespace of its own; where we
// may not make those, files that look like them. Gone with the object.
class BenchPods {
 public:
  // What the process does. Busy: twenty times a second it computes for a moment, and a packet comes in where
  // a device for that may be made; so processor time and network of every pod move from sample to sample.
  enum class Work { sleeps, busy };
  BenchPods(int count, Work work);
  ~BenchPods();
  BenchPods(const BenchPods&) = delete;
  BenchPods& operator=(const BenchPods&) = delete;

  // What the monitor has to be told to watch them.
  const std::vector<std::string>& options() const { return options_; }
  const std::string& description() const { return description_; }
  bool are_real() const { return !processes_.empty(); }

 private:
  bool make_cgroups(int count, Work work);
  void make_files(int count);
  const std::string& make_folder();

  std::vector<std::string> options_, folders_;
  std::vector<pid_t> processes_;
  std::string description_, files_;
};

}  // namespace evenkeel::apps

#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace evenkeel::apps {

// A program of ours or another's, with its output thrown away; killed with the object.
class Child {
 public:
  explicit Child(const std::vector<std::string>& command);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool is_alive() const;
  double cpu_seconds() const;  // to the nanosecond: /proc counts in hundredths of a second
  double reads() const;        // reading calls so far; 0 where the kernel does not count them
  double megabytes(const std::string& field) const;  // of /proc/PID/status

 private:
  pid_t process_;
};

// One scrape of loopback, as Prometheus does; empty where nobody answers.
std::string scrape(int port);

}  // namespace evenkeel::apps

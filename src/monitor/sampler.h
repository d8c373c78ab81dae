#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cluster/node_report.h"
#include "monitor/windows.h"

namespace evenkeel::monitor {

// Reads what a node and its pods use, from /proc and cgroups of either version, unprivileged. Files are kept
// open and memory is reused: a sample of fifty pods is some two hundred reads and nothing else.
class Sampler {
 public:
  struct Options {
    std::string node;
    std::string proc = "/proc", sys = "/sys";
    std::string cgroups{};  // where they are mounted; empty: fs/cgroup of `sys`
    // The cgroup that is all of this node, where several share a kernel: CPU, memory and disk are its own.
    // Empty: the node is the machine.
    std::string cgroup{};
    // The process whose network namespace is the node's: "self", or "1" from inside a pod.
    std::string network_of = "self";
    std::vector<std::string> interfaces{}, disks{};  // empty: found
    Usage capacity{};                                // 0: found, where it can be
    WindowLengths windows{};
    Duration look_for_pods = std::chrono::seconds(1);  // how often, at most
    std::function<void(const std::string&)> say{};     // what cannot be read: once each
  };
  // unavailable: there is nothing here to read at all; not_found: no such cgroup.
  static Result<Sampler> open(Options options);

  ~Sampler();
  Sampler(Sampler&&) noexcept;
  Sampler& operator=(Sampler&&) noexcept;

  // Valid until the next one. Rates are there from the second sample on, and so is a pod. `now`: of a clock
  // that nobody sets.
  const NodeReport& sample(Duration now);

  std::string description() const;  // what is read, for a log

 private:
  struct Parts;
  explicit Sampler(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace evenkeel::monitor

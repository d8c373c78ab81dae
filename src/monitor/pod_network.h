#pragma once
#include <sys/types.h>

#include <optional>
#include <string>

#include "base/time.h"
#include "monitor/kept_file.h"
#include "monitor/kernel_text.h"
#include "monitor/pod_watch.h"
#include "monitor/stillness.h"

namespace evenkeel::monitor {

// What went through a pod's network namespace, by /proc/PID/net/dev of one of its processes. The open file is
// the namespace's, not the process's: a process that ends, and a PID that is given to another, change
// nothing. It also keeps the namespace alive, so it is let go as soon as the pod has no process left.
class PodNetwork {
 public:
  // `group`: the pod's cgroup, in the tree where processes are looked for. `window`: samples.
  PodNetwork(std::string proc, std::string group, std::size_t window);

  // Whether look() might find something else than it did: there is no process, or the one it knows may have
  // ended, or has not been looked for in a while.
  bool needs_look(const PodWatch::News& news, Duration now) const;

  // Finds out whether the process it knows still lives in the pod, and looks for another where not. Whether
  // another namespace, that is: other counters, was found. `node_network` is the inode of the node's own
  // net/dev: pods that share it have no traffic of their own.
  bool look(ReadBuffer& buffer, ino_t node_network, const PodWatch& watch, Duration now);

  // None: it is not due (`longest` as Stillness has it), there is no process, it may not be looked at, or the
  // pod uses the node's network.
  std::optional<Transfers> read(ReadBuffer& buffer, Duration now, Duration longest);

 private:
  bool find_process(ReadBuffer& buffer, const std::string& folder, int depth);
  bool knows_process(ReadBuffer& buffer);

  std::string proc_, group_;
  KeptFile processes_;  // the cgroup.procs in which it was found
  std::string process_;
  KeptFile held_;  // the process itself, where the kernel says when it ends
  KeptFile devices_;
  ino_t network_ = 0;
  Duration looked_{};
  Stillness still_;
  Transfers transfers_;
};

}  // namespace evenkeel::monitor

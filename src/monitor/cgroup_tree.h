#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace evenkeel::monitor {

// Where this machine keeps its cgroups: one tree for all controllers (v2), one for each (v1), or some of both
// (hybrid).
struct CgroupTree {
  struct Controller {
    std::string root;  // empty: this machine does not have it
    bool is_v2 = false;
    bool operator==(const Controller&) const = default;
  };
  Controller cpu, memory, io;

  // By what lies in `root` (/sys/fs/cgroup).
  static CgroupTree find(const std::string& root);

  bool is_empty() const { return cpu.root.empty() && memory.root.empty() && io.root.empty(); }
  // The tree in which pods and their processes are looked for.
  const Controller& any() const { return !cpu.root.empty() ? cpu : !memory.root.empty() ? memory : io; }
  std::string description() const;  // "v2", "v1", "hybrid", "none"
};

// The folders in a folder, in any order; none where it cannot be read.
std::vector<std::string> folders_in(const std::string& path);
bool is_folder(const std::string& path);

// Where a pod's cgroup lies, below the root of every controller alike.
struct FoundPod {
  std::string uid, path;
};
// All below the node's own cgroup ("" for the whole machine), sorted by uid.
std::vector<FoundPod> find_pods(const CgroupTree& tree, const std::string& node_path);
// The folders in which pods' cgroups are made, as far as there are any.
std::vector<std::string> find_pod_folders(const CgroupTree& tree, const std::string& node_path);

}  // namespace evenkeel::monitor

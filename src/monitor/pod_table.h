#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/node_report.h"
#include "monitor/cgroup_tree.h"
#include "monitor/group_reader.h"
#include "monitor/pod_network.h"
#include "monitor/pod_watch.h"
#include "monitor/usage_windows.h"

namespace evenkeel::monitor {

// The pods of a node: found by their cgroups, read, and forgotten.
class PodTable {
 public:
  struct Options {
    std::string proc;
    std::string node_path{};  // of the node's own cgroup; empty: the machine
    WindowLengths windows{};
    Duration look_every{};  // for pods that came or went
    std::function<void(const std::string&)> say_once{};
  };
  PodTable(CgroupTree tree, Options options) : tree_(std::move(tree)), options_(std::move(options)) {}

  // `node_network`: the inode of the node's own net/dev.
  void look(ReadBuffer& buffer, ino_t node_network, Duration now);
  // Into `pods`, which keeps its memory. A pod is told of from its second sample on.
  void read(ReadBuffer& buffer, const IsCounted& is_disk, const UsageWindows::Sample& sample,
            std::vector<NodeReport::PodPart>& pods);

 private:
  struct Pod {
    Pod(const FoundPod& found, const CgroupTree& tree, const Options& options);
    std::string uid, path;
    GroupReader group;
    PodNetwork network;
    UsageWindows windows;
  };
  void scan();

  CgroupTree tree_;
  Options options_;
  PodWatch watch_;
  std::vector<std::unique_ptr<Pod>> pods_;  // by uid
  std::optional<Duration> looked_, scanned_;
};

}  // namespace evenkeel::monitor

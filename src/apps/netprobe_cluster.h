#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/netprobe_members.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/list_watch.h"
#include "monitor/probe_row.h"

namespace evenkeel::apps {

// What a network probe wants of a cluster: who its nodes are, a ConfigMap to write its row into, and its own
// node's status to say what bandwidth it has. In the turns of the connection's loop.
class NetprobeCluster {
 public:
  struct Options {
    std::string node, port, name_space, config_map;
    std::function<void(const std::string&)> say;
  };
  NetprobeCluster(kubernetes::ApiConnection& connection, Options options);

  void start() { watch_.start(); }
  bool is_synced() const { return watch_.synced(); }

  // All nodes, where something about them changed since the last call.
  std::optional<std::vector<ProbeNode>> take_nodes();
  std::set<std::string> names() const;

  // Tells the row what the ConfigMap holds of it, and removes what is there of nodes that are gone: of our
  // own paths, and of all where our node is the first that is ready.
  void look_at_config_map(monitor::ProbeRow& row);
  // Writes the row's changes, unless a write is on its way or the last one failed just now. By a merge patch:
  // nobody else's entries are touched.
  void write(monitor::ProbeRow& row, const monitor::ProbeRow::Bounds& bounds);
  bool is_writing() const { return is_writing_; }

  // Says so in the node's status, where that says something else.
  void advertise(std::int64_t bits_per_second);

  struct Counts {
    std::uint64_t written = 0, failed = 0, removed = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  void changed(const kubernetes::ObjectChange& change);
  void create(monitor::ProbeRow& row, const monitor::ConfigChanges& changes);
  void written(monitor::ProbeRow& row, const monitor::ConfigChanges& changes,
               const kubernetes::ApiAnswer& answer);
  void complain(const std::string& text);
  bool cleans_for_all() const;

  kubernetes::ApiConnection& connection_;
  Options options_;
  std::map<std::string, ProbeNode> nodes_;
  bool has_changed_ = false;
  bool is_writing_ = false, is_advertising_ = false;
  Time not_before_{}, advertise_not_before_{};  // steady
  std::string complaint_;
  Counts counts_;
  kubernetes::ListWatch watch_;
};

// {"data": {…}}, for a merge patch. Keys that the API would refuse are left out.
std::string config_map_patch(const monitor::ConfigChanges& changes);
// The keys of a ConfigMap's data.
std::vector<std::string> config_map_keys(std::string_view json);

}  // namespace evenkeel::apps

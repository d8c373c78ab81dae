#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "controllers/network_book.h"
#include "controllers/topology_plan.h"
#include "kubernetes/event_recorder.h"
#include "kubernetes/leader_election.h"
#include "kubernetes/network_follower.h"
#include "kubernetes/network_writer.h"

namespace evenkeel::apps {

struct LiveControllersOptions {
  int percentile = 90;
  Duration period = std::chrono::minutes(5);  // between two calculations of what nobody changed
  bool evicts = false;                        // from links with more promised than they carry
  Duration evict_every = std::chrono::seconds(30);
  bool writes = true;  // false: says what it would write
  bool events = true;
  bool elect = false;
  kubernetes::LeaderElector::Options election{};
  std::string host;
  std::uint64_t seed = 1;
  std::function<void(const std::string&)> log = [](const std::string&) {};
};

// The controllers of AppGroups and NetworkTopologies on an API server. Level-based: whatever happened, an
// object is compared with what it should say by what there is now, and written where it differs; so it does
// not matter what was missed, came twice, or was written by one who died. A standby follows and writes
// nothing.
class LiveControllers : private kubernetes::NetworkListener {
 public:
  struct Counts {
    std::uint64_t looks = 0;  // at an object
    std::size_t constrained = 0, troubled = 0;
  };

  LiveControllers(kubernetes::ApiConnection& connection, LiveControllersOptions options);
  ~LiveControllers() override;

  void turn(Time deadline);
  void stop(Duration at_most);
  bool synced() const { return follower_.synced(); }
  bool leading() const { return !is_stopping_ && (!election_ || election_->leads()); }
  // Everything says what it should, as far as that could be done.
  bool is_settled() const;

  const Counts& counts() const { return counts_; }
  const kubernetes::NetworkWriter::Counts& writes() const { return writer_.counts(); }
  const controllers::NetworkBook& book() const { return book_; }
  std::size_t topologies() const { return topologies_.size(); }

 private:
  // An object as last seen, and how writing to it went.
  struct Object {
    kubernetes::WireObject seen;
    bool is_due = true, is_writing = false, is_troubled = false;
    int failures = 0;  // in a row
    Time not_before{};
    std::string told;  // what the last Event said, or what would have been written
  };
  struct Topology : Object {
    std::optional<NetworkTopology> read;
    std::string config_map;  // namespace/name
  };
  struct Pressure {  // of a link that is constrained
    std::int64_t load = 0;
    Duration pause{};
    Time not_before{};
  };

  void node_set(const std::string& name, Place place) override;
  void node_gone(const std::string& name) override;
  void pod_set(NetworkPod pod) override;
  void pod_gone(const std::string& key) override;
  void group_set(const kubernetes::WireObject& object) override;
  void group_gone(const std::string& key) override;
  void topology_set(const kubernetes::WireObject& object) override;
  void topology_gone(const std::string& key) override;
  void measurements_changed(const std::string& key) override;

  void note_change();
  void work(Time now);
  void look_at_group(const std::string& key, Object& object, Time now);
  void look_at_topology(const std::string& key, Topology& topology, bool is_periodic, Time now);
  void write(const kubernetes::ResourceType& type, const std::string& key, Object& object,
             const Result<std::optional<std::string>>& patch);
  Object* find(const kubernetes::ResourceType& type, const std::string& key);
  void wrote(const kubernetes::ResourceType& type, const std::string& key,
             const kubernetes::ApiAnswer& answer);
  void tell(const kubernetes::ResourceType& type, Object& object,
            const std::vector<NetworkCondition>& conditions);
  void tell_strays(const std::string& group_key);
  void relieve(const controllers::ConstrainedLink& link, Time now);

  kubernetes::ApiConnection& connection_;
  LiveControllersOptions options_;
  controllers::NetworkBook book_;
  std::map<std::string, Object> groups_;
  std::map<std::string, Topology> topologies_;
  std::map<LinkId, Pressure> pressures_;
  std::map<std::string, Time> spared_;  // pods by uid: a budget said no, or one was asked just now
  std::set<std::string> strays_;        // pods by uid whose group nobody knows, as told
  kubernetes::EventRecorder events_;
  kubernetes::NetworkWriter writer_;
  kubernetes::NetworkFollower follower_;
  std::unique_ptr<kubernetes::LeaderElector> election_;
  std::optional<Time> work_at_;
  Time next_period_{}, next_eviction_{};
  bool was_leading_ = false, was_synced_ = false, is_stopping_ = false;
  Counts counts_;
};

}  // namespace evenkeel::apps

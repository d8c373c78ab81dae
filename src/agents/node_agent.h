#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/agent_messages.h"
#include "cluster/world.h"
#include "scheduling/scheduler.h"

namespace evenkeel::agents {

// What one node's agent thinks of the pods that wait: filters of its node first, then its network. Facts and the
// leader's questions in, bids out; no clock, no network, no thread.
//
// It knows its node, the pods there, what they use, and of the rest of the cluster what the leader's beats tell.
// Filters that look beyond the node (spreading, affinity between pods, volumes) are the leader's, who asks about
// no node that they turn away. Without a model, a fresh sample of its own node or a fresh beat it abstains.
class NodeAgent {
 public:
  struct Options {
    std::string node;
    std::vector<scheduling::SchedulerProfile> profiles;  // whose pods it looks at, and the filters they ask for
    Duration stale_after{std::chrono::seconds{15}};      // of its own sample, and of the leader's beat
    Duration reward_after{std::chrono::seconds{15}};     // FACTS G
    Duration lessons_every{std::chrono::seconds{60}};
    Duration forget_awards{std::chrono::seconds{20}};    // that no watch has confirmed
    bool learns = false;
  };

  // Facts: its own node, pods bound there, pods that wait (where it watches for them), its own samples.
  void observe(const ClusterEvent& event, Time now);
  // The leader of its term speaks. What a leader of an older term says is ignored.
  void heard(const FromLeader& message, Time now);
  // The line to a leader is new: what was said to the one before is forgotten, and said again.
  void greet(Time now);
  AgentHello hello(std::uint64_t incarnation, bool sees_pods) const;

  // What is to be told to the leader, once a turn.
  std::vector<FromAgent> take_words(Time now);
  Time wake_at() const;
};

}  // namespace evenkeel::agents

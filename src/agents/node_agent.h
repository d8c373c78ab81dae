#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "agents/pod_key_hash.h"
#include "base/random.h"
#include "cluster/agent_messages.h"
#include "cluster/world.h"
#include "scheduling/policies/marl_brain.h"
#include "scheduling/scheduler.h"

namespace evenkeel::agents {

// What one node's agent thinks of the pods that wait: filters of its node first, then its network. Facts and
// the leader's questions in, bids out; no clock, no network, no thread.
//
// It knows its node, the pods there, what they use, and of the rest of the cluster what the leader's beats
// tell. Filters that look beyond the node (spreading, affinity between pods, volumes) are the leader's, who
// asks about no node that they turn away. Without a model, a fresh sample of its own node or a fresh beat it
// abstains.
//
//   seen by its own watch ──▶ spoken of once, unasked    (not those of application groups: only the leader
//   asked about ──▶ answered in the next take_words()     knows what their talk to others would cost)
//   awarded ──▶ counts as placed until the watch shows it, it is withdrawn, or forget_awards has passed
class NodeAgent {
 public:
  struct Options {
    std::string node;
    std::vector<scheduling::SchedulerProfile>
        profiles;                                    // whose pods it looks at, and the filters they ask for
    Duration stale_after{std::chrono::seconds{15}};  // of its own sample, and of the leader's beat
    Duration lessons_every{std::chrono::seconds{60}};
    Duration forget_awards{std::chrono::seconds{20}};  // that no watch has confirmed
    bool learns = false;
    // No: nobody measures the node, and it counts by what its pods are expected to use.
    bool needs_samples = true;
    double too_strange = 0.5;  // of its network's inputs beyond what it was trained on: it abstains
  };

  // `brain`: none: it abstains. When rewards are looked at is the brain's own option.
  NodeAgent(Options options, std::unique_ptr<scheduling::MarlBrain> brain, Random random);

  // Facts: its own node, pods bound there, pods that wait (where it watches for them), its own samples.
  void observe(const ClusterEvent& event, Time now);
  // The leader of its term speaks. What a leader of an older term says is ignored.
  void heard(const FromLeader& message, Time now);
  // The line to a leader is new: what was said to the one before is forgotten, and said again.
  void greet(Time now);
  AgentHello hello(std::uint64_t incarnation, bool sees_pods) const;

  // What is to be told to the leader, once a turn.
  std::vector<FromAgent> take_words(Time now);
  Time wake_at() const;  // when it has something to say without having heard anything

  Term term() const { return term_; }
  ModelVersion model() const { return model_; }
  const scheduling::MarlBrain* brain() const { return brain_.get(); }
  const ClusterState& cluster() const { return facts_.cluster(); }

  struct Figures {
    std::uint64_t questions = 0, bids = 0, accepts = 0, unfit = 0, abstained = 0;
    std::uint64_t awards = 0, withdrawn = 0, unconfirmed = 0;  // awards that no watch has shown in time
    std::uint64_t models = 0, refused_models = 0, lessons = 0, older_term = 0;
  };
  const Figures& figures() const { return figures_; }
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t awarded() const { return awarded_.size(); }

 private:
  using Profile = scheduling::SchedulerProfile;
  struct Waiting {
    PodId pod;
    bool queued = false;  // to be spoken of
  };
  struct Awarded {
    PodQuestion question;
    Time until{};
  };
  // What it went by when it last spoke of a pod, until it is known where that went.
  struct Spoken {
    PodQuestion question;
    std::optional<scheduling::AgentView> view;  // of one that learns
    std::uint64_t number = 0;
    Time at{};
  };
  // Its node as it is now, with awarded pods that no watch shows yet.
  struct Seen {
    scheduling::OwnNode node;
    double promised_cpu = 0, promised_memory = 0;  // cores, bytes
    std::size_t promised_pods = 0;
  };

  // Facts.
  void node_set(const Node& node, const ClusterEvent& event, Time now);
  void pod_added(const Pod& pod, const ClusterEvent& event, Time now);
  void pod_updated(const Pod& pod, const ClusterEvent& event, Time now);
  void pod_here(const PodKey& key, PodId pod, const ClusterEvent& event, Time now);
  void pod_lost(PodId pod, Time now);  // it ended, or another node has it
  std::optional<std::size_t> profile_of(const PodSpec& spec) const;

  // The leader.
  bool is_current(Term term);  // takes up a newer one
  void hear(const LeaderBeat& beat, Time now);
  void hear(const LeaderAsks& asks);
  void hear(const LeaderAwards& awards, Time now);
  void hear(const LeaderModel& model);
  void say_all_again();

  // Words.
  void queue(const PodKey& pod, Waiting& waiting);
  bool speaks_unasked_of(const Pod& pod) const;
  void answer_questions(const Seen& seen, std::vector<Bid>& bids, Time now);
  void speak_unasked(const Seen& seen, std::vector<Bid>& bids, Time now);
  Seen look_at_node(Time now) const;
  PodQuestion question_about(const PodKey& key, const Pod& pod) const;
  const Pod* pod_of(const PodKey& key) const;  // null: it does not see it
  bool fits(const PodQuestion& question, const Pod* pod, const Seen& seen) const;
  bool may_judge(Time now) const;
  Bid bid_on(const PodQuestion& question, const Pod* pod, const Seen& seen, Time now);
  scheduling::AgentWord ask_brain(const scheduling::AgentView& view);
  void remember(const scheduling::AgentView& view, Time now);
  void settle(const PodKey& pod, bool won, Time now);
  void drop_old(Time now);
  void learn(Time now);
  std::optional<AgentLessons> take_lessons(Time now);

  Options options_;
  std::vector<scheduling::SchedulingOptions> local_;  // of each profile, with filters of the node alone
  scheduling::Scheduler facts_;                       // never asked what to do
  std::unique_ptr<scheduling::MarlBrain> brain_;
  Random random_;
  std::optional<NodeId> own_;
  std::map<PodKey, Waiting> waiting_;
  std::unordered_map<PodKey, PodId, PodKeyHash> here_;  // bound to its node
  std::unordered_map<PodId, PodKey> keys_;              // of both

  Term term_ = 0;
  bool leader_spoke_ = false;  // on the line there is now
  std::uint32_t awards_ = 0;
  std::optional<Time> beat_at_;
  bool tells_pods_ = false;
  ClusterShares shares_;
  ModelVersion model_{};

  std::vector<PodKey> to_say_;          // seen, in the order they came
  std::vector<PodQuestion> to_answer_;  // likewise
  std::map<PodKey, Awarded> awarded_;   // walked: in an order that repeats itself
  std::unordered_map<PodKey, Spoken, PodKeyHash> spoken_;
  std::deque<std::pair<PodKey, std::uint64_t>> spoken_order_;
  std::uint64_t next_spoken_ = 0;
  bool must_see_first_ = false;  // a reward is due, and what it would be judged by is too old
  Time next_lessons_ = Time::max();
  Figures figures_;
};

}  // namespace evenkeel::agents

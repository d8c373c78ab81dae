#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agents/bid_desk.h"
#include "agents/deputies.h"
#include "agents/model_pool.h"
#include "agents/node_agent.h"
#include "agents/succession.h"
#include "apps/live_scheduler.h"
#include "base/result.h"
#include "kubernetes/api_connection.h"
#include "kubernetes/leader_election.h"
#include "kubernetes/node_world.h"
#include "messaging/agent_transport.h"

namespace evenkeel::apps {

struct LiveAgentOptions {
  std::string node;               // that it stands for
  std::uint64_t incarnation = 1;  // drawn when the process starts
  // What it schedules by when it leads; its election is the agents' own.
  LiveOptions scheduler;
  std::string name_space = "kube-system", name = "evenkeel-agents";  // of the Lease
  Duration lease{std::chrono::seconds{4}}, renew_deadline{std::chrono::seconds{3}},
      renew_every{std::chrono::milliseconds{500}};
  agents::SuccessionOptions succession;
  agents::BidDeskOptions desk;
  agents::ModelPool::Options pool;
  agents::NodeAgent::Options agent;  // its node and profiles are filled in
  // With more agents than this the leader tells of pods, and agents watch for none; with more than that it
  // asks a sample of them about each pod (docs/distributed.md has what was measured).
  std::size_t tells_beyond = 8, asks_all_up_to = 50, sample = 32;
  Duration report_every{std::chrono::seconds{2}};  // to the leader
  Duration keep_warm{std::chrono::seconds{30}};    // a deputy's view of the cluster, once it is none any more
  std::shared_ptr<const learning::Model> model;  // of its network; none: it abstains, or learns from nothing
  std::string policy = "marl-shared";
  std::uint64_t seed = 1;
};

// One agent of the distributed scheduler at work: what its node is like, what it says to the pods that wait,
// and, while it is elected, the scheduler of the whole cluster. Runs in turns, in one thread, on whatever
// connection and transport it is given: a network, or simulated ones with a clock of their own.
//
//   member ──── follows its own node (and pods that wait); talks to the leader
//   deputy ──── named by the leader: follows the whole cluster besides, so that it could lead at once
//   leader ──── holds the Lease: asks all, decides, binds; every binding carries its term
//
// The clock on the wall may be set as anybody likes: everything here goes by the one that is not.
class LiveAgent {
 public:
  // Errors name what is wrong with the options.
  static Result<std::unique_ptr<LiveAgent>> open(kubernetes::ApiConnection& connection,
                                                 messaging::AgentTransport& transport,
                                                 LiveAgentOptions options);
  ~LiveAgent();
  LiveAgent(const LiveAgent&) = delete;
  LiveAgent& operator=(const LiveAgent&) = delete;

  // Waits until something happens, at most for so long, and does all it leads to.
  void turn(Duration at_most);
  // The same, until then by the connection's own clock.
  void turn(Time deadline);
  // How long it could wait until its next turn, should nothing happen meanwhile.
  Duration rest() const;
  // What its node uses, as its own monitor sees it, and how old that is.
  void report(NodeReport report, Duration age = {});
  // Finishes what is under way and gives up the Lease, for so long at most.
  void stop(Duration at_most);

  bool leading() const { return election_->leads(); }
  bool is_deputy() const { return succession_.is_deputy(); }
  Term term() const { return leading() ? own_term() : heard_term_; }   // 0: nobody is heard of
  const LiveScheduler* scheduler() const { return scheduler_.get(); }  // of a leader or deputy
  const agents::BidDesk& desk() const { return desk_; }
  const agents::NodeAgent& agent() const { return *agent_; }
  const kubernetes::NodeWorld& node_world() const { return *node_world_; }
  const agents::ModelPool& pool() const { return pool_; }
  const std::string& holder() const { return election_->holder(); }
  bool has_line() const { return has_line_; }

  struct Figures {
    std::uint64_t terms_led = 0, beats_heard = 0, beats_sent = 0, bids_sent = 0, reports_heard = 0;
    std::uint64_t claims = 0;     // of a Lease whose holder was proven dead
    std::uint64_t lines = 0;      // that were opened
    std::uint64_t old_terms = 0;  // messages of leaders that are none any more
    std::uint64_t decided_by_bids = 0, decided_by_rule = 0;
  };
  const Figures& figures() const { return figures_; }

 private:
  class SteadyConnection;
  class Watch;
  struct LineChanged {
    messaging::AgentTransport::Line line;
    std::string why;
  };
  struct Joined {
    std::string node;
    AgentHello hello;
  };
  struct Left {
    std::string node;
  };
  struct Said {
    std::string node;
    FromAgent message;
  };
  using Incoming = std::variant<LineChanged, FromLeader, Joined, Left, Said>;

  LiveAgent(kubernetes::ApiConnection& connection, messaging::AgentTransport& transport,
            LiveAgentOptions options, std::unique_ptr<scheduling::MarlBrain> brain);

  Time now() const;
  Term own_term() const { return static_cast<Term>(election_->transitions()) + 1; }
  bool has_work() const;
  Time wake_at() const;
  void start();
  void handle(Incoming& incoming, Time now);
  void heard(FromLeader& message, Time now);
  void follow_election(Time now);
  void begin_term(Time now);
  void end_term();
  void follow_holder();
  void follow_succession(Time now);
  void keep_scheduler(Time now);
  void lead(Time now);
  void beat(Time now);
  LeaderBeat make_beat();
  void choose_ways();
  void speak(Time now);
  void tell_leader(FromAgent message, Time now);
  void send_letters(Time now);
  void log(const std::string& line) const { options_.scheduler.log(line); }

  std::unique_ptr<SteadyConnection> connection_;
  messaging::AgentTransport& transport_;
  LiveAgentOptions options_;
  std::string identity_;
  LiveCounsel counsel_;
  std::unique_ptr<kubernetes::NodeWorld> node_world_;
  std::unique_ptr<agents::NodeAgent> agent_;
  agents::Succession succession_;
  agents::Deputies deputies_;
  agents::BidDesk desk_;
  agents::ModelPool pool_;
  std::unique_ptr<kubernetes::LeaderElector> election_;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<LiveObserver> observers_;   // the watch and whoever else listens
  std::unique_ptr<LiveScheduler> scheduler_;  // of a leader or deputy
  Time unwanted_since_{};                     // the scheduler
  std::vector<Incoming> inbox_;
  bool election_changed_ = false, leads_ = false, has_line_ = false, line_changed_ = false;
  std::optional<HolderIdentity> following_;
  std::string claimed_;  // the holder whose Lease was claimed last: once is enough
  Term heard_term_ = 0, led_term_ = 0;
  std::uint32_t beats_ = 0;
  Time next_beat_ = Time::max(), next_report_{}, said_at_{};
  bool ways_tell_ = false;
  Figures figures_;
};

}  // namespace evenkeel::apps

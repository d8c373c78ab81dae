#include "apps/live_reporter.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "cluster/test_objects.h"
#include "scheduling/policies/weighted_scores.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using reporting::BindingOutcome;
using reporting::DecisionOutcome;
using reporting::JournalEntry;
using scheduling::PlacementRequest;

// A scheduler with its reporter, played through by hand as LiveScheduler does it.
class Desk {
 public:
  explicit Desk(std::uint32_t nodes, LiveReporter::Options options = {})
      : scheduler(std::vector<scheduling::SchedulerProfile>{{"evenkeel", {}}}),
        reporter(with_clock(options)) {
    const LiveProfile profile{"evenkeel", "kube-default", &policy};
    reporter.serves({&profile, 1});
    reporter.began(scheduler, now);
    for (std::uint32_t slot = 0; slot < nodes; ++slot) tell(NodeAdded{test_node(slot)});
  }

  void tell(const ClusterEvent& event) {
    reporter.observed(event, now);
    scheduler.observe(event, now);
  }
  PodId add(std::int64_t milli_cpu, bool gated = false) {
    PodSpec spec = spec_asking(milli_cpu, 0);
    spec.scheduler_name = "evenkeel";
    if (gated) spec.scheduling_gates = {"wait"};
    const PodId id{next_slot_++, 1};
    tell(PodAdded{test_pod(id, test_shape(std::move(spec)))});
    return id;
  }
  // Answers one question, or carries out one action; where the pod went, if anywhere.
  std::optional<NodeId> step() {
    const scheduling::Next next = scheduler.next(now);
    std::optional<NodeId> chosen;
    if (const auto* action = std::get_if<Action>(&next)) {
      wall += 40us;
      reporter.acted(*action, now);
    } else if (const auto* request = std::get_if<PlacementRequest>(&next)) {
      chosen = policy.choose(*request, random);
      wall += 50us;
      reporter.decided(*request, chosen, 50us);
      reporter.acted(scheduler.commit(*request, *chosen), now);
    }
    reporter.turned(scheduler, now);
    return chosen;
  }
  JournalEntry last() { return reporter.journal().find({.limit = 1}).at(0); }
  double figure(const std::string& series) {
    const std::string text = "\n" + reporter.metrics_text();
    const std::size_t at = text.find("\n" + series + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size() + 2));
  }

  scheduling::WeightedScores policy;
  scheduling::Scheduler scheduler;
  Duration wall{1h};
  LiveReporter reporter;
  Time now{24h};
  Random random{1};

 private:
  LiveReporter::Options with_clock(LiveReporter::Options options) {
    options.clock = [this] { return wall; };
    return options;
  }
  std::uint32_t next_slot_ = 0;
};

TEST(LiveReporter, WritesDownWhereAPodWentAndWhy) {
  Desk desk(4);
  desk.add(500);
  const auto node = desk.step();
  const JournalEntry entry = desk.last();
  EXPECT_EQ(entry.pod, "pod-0-1");
  EXPECT_EQ(entry.profile, "evenkeel");
  EXPECT_EQ(entry.policy, "kube-default");
  EXPECT_EQ(entry.outcome, DecisionOutcome::scheduled);
  EXPECT_EQ(entry.binding, BindingOutcome::in_flight);
  EXPECT_EQ(entry.node, "node-" + std::to_string(node->slot));
  EXPECT_EQ(entry.feasible, 4U);
  EXPECT_EQ(entry.evaluated, 4U);
  EXPECT_EQ(entry.took, 50us);
  ASSERT_GE(entry.candidates.size(), 3U);
  EXPECT_LE(entry.candidates.size(),
            4U);  // the chosen one, should a lot have taken another of the same score
  double sum = 0;
  for (const JournalEntry::Score& score : entry.candidates[0].scores) sum += score.score * score.weight;
  EXPECT_EQ(sum, entry.candidates[0].total);
  EXPECT_EQ(desk.figure("scheduler_cache_size{type=\"assumed_pods\"}"), 1);
  EXPECT_EQ(desk.figure("scheduler_schedule_attempts_total{result=\"scheduled\",profile=\"evenkeel\"}"), 0);
}

TEST(LiveReporter, CountsAPodAsScheduledWhenItIsBound) {
  Desk desk(2);
  const PodId pod = desk.add(500);
  desk.now += 100ms;
  const NodeId node = *desk.step();
  desk.now += 30ms;
  desk.tell(PodBound{pod, node});
  desk.step();
  EXPECT_EQ(desk.last().binding, BindingOutcome::bound);
  EXPECT_EQ(desk.last().bound_after, 30ms);
  EXPECT_EQ(desk.figure("scheduler_schedule_attempts_total{result=\"scheduled\",profile=\"evenkeel\"}"), 1);
  EXPECT_EQ(desk.figure("scheduler_pod_scheduling_sli_duration_seconds_sum{attempts=\"1\"}"), 0.13);
  EXPECT_NEAR(
      desk.figure(
          "scheduler_scheduling_attempt_duration_seconds_sum{result=\"scheduled\",profile=\"evenkeel\"}"),
      0.03005, 1e-9);
  EXPECT_EQ(desk.figure("evenkeel_binds_in_flight"), 0);
}

TEST(LiveReporter, TellsAFailedBindingAndTheNextAttempt) {
  Desk desk(2);
  const PodId pod = desk.add(500);
  desk.step();
  desk.tell(BindFailed{pod, "HTTP 409: the pod is bound already"});
  desk.now += 5s;
  desk.step();
  const auto entries = desk.reporter.journal().find({});
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].attempt, 2U);
  EXPECT_EQ(entries[1].outcome, DecisionOutcome::bind_failed);
  EXPECT_EQ(entries[1].binding_why, "HTTP 409: the pod is bound already");
  EXPECT_EQ(desk.figure("evenkeel_bind_failures_total{reason=\"conflict\"}"), 1);
  EXPECT_EQ(desk.figure("scheduler_schedule_attempts_total{result=\"error\",profile=\"evenkeel\"}"), 1);
}

TEST(LiveReporter, CountsReasonsOfAPodThatFitsNowhereAndForgetsThemWhenItIsGone) {
  Desk desk(3);
  desk.wall += 1s;
  desk.reporter.woke(desk.now);
  const PodId pod = desk.add(100'000);
  desk.step();
  const JournalEntry entry = desk.last();
  EXPECT_EQ(entry.outcome, DecisionOutcome::unschedulable);
  EXPECT_TRUE(entry.message.starts_with("0/3 nodes are available: 3 Insufficient cpu.")) << entry.message;
  ASSERT_EQ(entry.reasons.size(), 1U);
  EXPECT_EQ(entry.reasons[0].nodes, 3U);
  EXPECT_EQ(entry.reasons[0].plugin, "NodeResourcesFit");
  EXPECT_EQ(entry.took, 40us);  // the second before it was waiting
  const std::string gauge = "scheduler_unschedulable_pods{plugin=\"NodeResourcesFit\",profile=\"evenkeel\"}";
  EXPECT_EQ(desk.figure(gauge), 1);
  EXPECT_EQ(desk.figure("scheduler_schedule_attempts_total{result=\"unschedulable\",profile=\"evenkeel\"}"),
            1);
  EXPECT_EQ(desk.figure("scheduler_pending_pods{queue=\"unschedulable\"}"), 1);
  desk.tell(PodGone{pod});
  desk.step();
  EXPECT_EQ(desk.figure(gauge), 0);
  EXPECT_EQ(desk.figure("scheduler_pending_pods{queue=\"unschedulable\"}"), 0);
}

TEST(LiveReporter, ForgetsABindingWhosePodIsGoneOrWentElsewhere) {
  Desk desk(2);
  const PodId first = desk.add(500), second = desk.add(500);
  desk.step();
  const NodeId node = *desk.step();
  desk.tell(PodGone{first});
  desk.tell(PodBound{second, {1 - node.slot}});
  desk.step();
  const auto entries = desk.reporter.journal().find({});
  EXPECT_EQ(entries[1].binding, BindingOutcome::forgotten);
  EXPECT_EQ(entries[0].binding_why, "bound elsewhere");
  EXPECT_EQ(desk.figure("evenkeel_binds_in_flight"), 0);
}

TEST(LiveReporter, DoesNotBlameTheSchedulerForGates) {
  Desk desk(1);
  const PodId pod = desk.add(500, true);
  const std::string gauge = "scheduler_unschedulable_pods{plugin=\"SchedulingGates\",profile=\"evenkeel\"}";
  EXPECT_EQ(desk.figure(gauge), 1);
  desk.step();
  EXPECT_EQ(desk.figure("scheduler_pending_pods{queue=\"gated\"}"), 1);
  desk.now += 1h;
  PodSpec spec = spec_asking(500, 0);
  spec.scheduler_name = "evenkeel";
  desk.tell(PodUpdated{test_pod(pod, test_shape(std::move(spec)))});
  desk.now += 1s;
  const NodeId node = *desk.step();
  desk.tell(PodBound{pod, node});
  EXPECT_EQ(desk.figure("scheduler_pod_scheduling_sli_duration_seconds_sum{attempts=\"1\"}"), 1);
  EXPECT_EQ(desk.figure(gauge), 0);
}

TEST(LiveReporter, NeverWaitsForABindingInShadow) {
  Desk desk(2, {.shadow = true});
  desk.add(500);
  desk.step();
  EXPECT_EQ(desk.last().outcome, DecisionOutcome::shadow);
  EXPECT_EQ(desk.last().binding, BindingOutcome::none);
  EXPECT_EQ(desk.figure("evenkeel_binds_in_flight"), 0);
}

// Costs a lot of time on a clock that tests turn by hand.
class SlowToExplain final : public scheduling::PlacementPolicy {
 public:
  explicit SlowToExplain(Duration& wall) : wall_(wall) {}
  std::optional<NodeId> choose(const PlacementRequest&, Random&) override { return NodeId{0}; }
  scheduling::ScoreSheet explain(const PlacementRequest& request) override {
    wall_ += 2ms;
    ++explained;
    return inner_.explain(request);
  }
  int explained = 0;

 private:
  scheduling::WeightedScores inner_;
  Duration& wall_;
};

TEST(LiveReporter, SpendsNoMoreThanItsShareOfTheTimeOnExplanations) {
  Desk desk(1, {.explain_share = 0.01});
  SlowToExplain slow(desk.wall);
  const LiveProfile profile{"slow", "slow", &slow};
  desk.reporter.serves({&profile, 1});
  PodSpec spec = spec_asking(0, 0);
  spec.scheduler_name = "slow";
  const auto shape = test_shape(std::move(spec));
  scheduling::Scheduler scheduler(std::vector<scheduling::SchedulerProfile>{{"slow", {}}});
  scheduler.observe(NodeAdded{test_node(0)}, desk.now);
  const Duration begin = desk.wall;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    scheduler.observe(PodAdded{test_pod({i, 1}, shape)}, desk.now);
    const scheduling::Next next = scheduler.next(desk.now);
    const auto* request = std::get_if<PlacementRequest>(&next);
    if (!request) break;  // the node is full
    desk.wall += 100us;
    desk.reporter.decided(*request, NodeId{0}, 100us);
    scheduler.hold(*request);
    scheduler.observe(PodGone{{i, 1}}, desk.now);
  }
  const double spent = slow.explained * 0.002;
  EXPECT_GE(slow.explained, 4);
  EXPECT_LE(spent, to_seconds(desk.wall - begin) * 0.01 + 0.002);
  EXPECT_EQ(desk.figure("evenkeel_decisions_total{explained=\"yes\"}"), slow.explained);
}

TEST(LiveReporter, KnowsWhetherItIsWell) {
  Desk desk(1);
  const auto failing = [](const std::vector<reporting::HealthCheck>& checks) {
    std::string names;
    for (const reporting::HealthCheck& check : checks)
      if (check.trouble()) names += check.name + " ";
    return names;
  };
  EXPECT_EQ(failing(desk.reporter.live_checks()), "");
  EXPECT_EQ(failing(desk.reporter.ready_checks()), "informer-sync ");
  desk.reporter.synced(true, desk.now);
  desk.reporter.led(true, desk.now);
  EXPECT_EQ(failing(desk.reporter.ready_checks()), "");
  EXPECT_EQ(desk.figure("leader_election_master_status{name=\"evenkeel\"}"), 1);
  desk.wall += 20s;
  EXPECT_EQ(failing(desk.reporter.live_checks()), "leaderElection ");
  desk.wall += 60s;
  EXPECT_EQ(failing(desk.reporter.live_checks()), "scheduling-loop leaderElection ");
  desk.step();
  EXPECT_EQ(failing(desk.reporter.live_checks()), "");
}

TEST(LiveReporter, TellsWhatTheLineCarried) {
  Desk desk(1);
  LiveTraffic traffic;
  traffic.requests[{"POST", 201}] = 7;
  traffic.requests[{"GET", 0}] = 1;
  traffic.watch_events["pods"] = 12;
  traffic.objects_skipped["nodes"] = 1;
  traffic.watch_restarts = 3;
  traffic.events_dropped = 2;
  desk.reporter.carried(traffic);
  EXPECT_EQ(desk.figure("rest_client_requests_total{code=\"201\",host=\"\",method=\"POST\"}"), 7);
  EXPECT_EQ(desk.figure("rest_client_requests_total{code=\"<error>\",host=\"\",method=\"GET\"}"), 1);
  EXPECT_EQ(desk.figure("evenkeel_watch_events_total{resource=\"pods\"}"), 12);
  EXPECT_EQ(desk.figure("evenkeel_objects_skipped_total{resource=\"nodes\"}"), 1);
  EXPECT_EQ(desk.figure("evenkeel_watch_restarts_total"), 3);
  EXPECT_EQ(desk.figure("evenkeel_events_dropped_total"), 2);
}

TEST(LiveReporter, UsesKubeSchedulersNamesTypesLabelsAndBuckets) {
  Desk desk(1);
  const PodId pod = desk.add(100);
  desk.add(100'000);
  const NodeId node = *desk.step();
  desk.step();
  desk.tell(PodBound{pod, node});
  LiveTraffic traffic;
  traffic.requests[{"GET", 200}] = 1;
  desk.reporter.carried(traffic);

  std::map<std::string, std::string> theirs;
  std::ifstream file("src/apps/testdata/kube_scheduler_metrics.txt");
  for (std::string name, rest; file >> name && std::getline(file, rest);) theirs[name] = rest;
  ASSERT_GT(theirs.size(), 20U);

  std::map<std::string, std::string> types;
  std::map<std::string, std::set<std::string>> labels;
  std::map<std::string, std::vector<std::string>> bounds;
  std::istringstream page(desk.reporter.metrics_text());
  static const std::regex sample(R"((\w+?)(_bucket|_sum|_count)?(\{.*\})? \S+)"), pair("(\\w+)=\"([^\"]*)\"");
  std::string current;
  for (std::string line; std::getline(page, line);) {
    std::smatch found;
    if (line.starts_with("# TYPE ")) {
      std::istringstream words(line.substr(7));
      words >> current >> types[current];
    } else if (!line.starts_with("#") && std::regex_match(line, found, sample)) {
      const std::string text = found[3];
      for (std::sregex_iterator each(text.begin(), text.end(), pair), end; each != end; ++each) {
        if ((*each)[1] != "le") {
          labels[current].insert((*each)[1]);
        } else if (auto& known = bounds[current];
                   std::find(known.begin(), known.end(), (*each)[2]) == known.end()) {
          known.push_back((*each)[2]);
        }
      }
    }
  }
  for (const auto& [name, type] : types) {
    if (name.starts_with("evenkeel_")) continue;
    const auto joined = [](const auto& words) {
      std::string text;
      for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
      return text.empty() ? "-" : text;
    };
    EXPECT_EQ(theirs[name], " " + type + " " + joined(labels[name]) + " " + joined(bounds[name])) << name;
  }
}

}  // namespace
}  // namespace evenkeel::apps

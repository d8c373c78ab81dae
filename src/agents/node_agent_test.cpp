#include "agents/node_agent.h"

#include <gtest/gtest.h>

#include <limits>

#include "agents/bid_desk.h"
#include "agents/model_pool.h"
#include "cluster/test_objects.h"
#include "scheduling/node_forecasts.h"
#include "scheduling/test_networks.h"
#include "scheduling/test_questions.h"

namespace evenkeel::agents {
namespace {

using namespace std::chrono_literals;
using scheduling::MarlBrain;

constexpr std::size_t kInputs = 12, kHidden = 32;  // of the thesis's network

// Accepting is worth 1 less the share of CPU that is used, rejecting nothing: the emptier, the higher the
// score.
std::vector<float> emptier_is_better(float base = 1) {
  std::vector<float> parameters(kInputs * kHidden + kHidden + 2 * kHidden + 2, 0);
  const std::size_t second = kInputs * kHidden + kHidden;
  parameters[0] = 1;  // the first hidden unit is the share of CPU
  parameters[second + MarlBrain::kAccept] = -1;
  parameters[second + 2 * kHidden + MarlBrain::kAccept] = base;
  return parameters;
}

std::unique_ptr<MarlBrain> brain_of(const std::vector<float>& parameters) {
  Random random(1);
  scheduling::MarlBrainOptions options = scheduling::thesis_brain();
  options.dqn.epsilon_start = options.dqn.epsilon_end = 0;
  auto brain = std::make_unique<MarlBrain>(options, random);
  EXPECT_TRUE(brain->take(parameters));
  return brain;
}

NodeAgent::Options options_of(const std::string& node) {
  NodeAgent::Options options;
  options.node = node;
  return options;
}

// The agent of node-0, which it has been told of, with a leader of term 5.
class AgentTest {
 public:
  explicit AgentTest(NodeAgent::Options options = options_of("node-0"),
                     std::unique_ptr<MarlBrain> brain = brain_of(emptier_is_better()))
      : agent(std::move(options), std::move(brain), Random(3)) {
    agent.observe(NodeAdded{test_node(0)}, now);
    sample();
    agent.greet(now);
    beat();
  }

  void sample(double cores = 0) {
    UsageReported report{{0}, now, {{cores, 0, 0, 0, 0, 0}}, {}, kAllKnown, kAllKnown, {}};
    agent.observe(report, now);
  }
  void beat(Term term = 5, bool tells_pods = false) {
    LeaderBeat message;
    message.term = term;
    message.beat = ++beats_;
    message.tells_pods = tells_pods;
    message.cluster.nodes = 4;
    agent.heard(message, now);
  }
  Pod pod(const std::string& uid, PodSpec spec = spec_asking(100, 0)) {
    return pod(uid, test_shape(std::move(spec)));
  }
  Pod pod(const std::string& uid, std::shared_ptr<const PodTemplate> shape) {
    Pod made = test_pod({next_pod_++, 1}, std::move(shape));
    made.uid = uid;
    return made;
  }
  Pod see(const std::string& uid, PodSpec spec = spec_asking(100, 0)) {
    Pod made = pod(uid, std::move(spec));
    agent.observe(PodAdded{made}, now);
    return made;
  }
  static PodQuestion question(const std::string& uid, double cores = 0.1, double expected = 0.1) {
    PodQuestion asked;
    asked.pod = pod_key(uid);
    asked.cpu = cores;
    asked.expected.of[0] = expected;
    return asked;
  }
  void ask(const std::string& uid, double cores = 0.1, double expected = 0.1, Term term = 5) {
    agent.heard(LeaderAsks{term, {question(uid, cores, expected)}}, now);
  }
  void award(std::uint32_t count, const std::vector<std::string>& uids, bool withdrawn = false,
             Term term = 5) {
    LeaderAwards message{term, count, {}, withdrawn};
    for (const std::string& uid : uids) message.pods.push_back(pod_key(uid));
    agent.heard(message, now);
  }
  std::vector<Bid> bids() {
    std::vector<Bid> all;
    for (const FromAgent& word : agent.take_words(now))
      if (const auto* said = std::get_if<AgentBids>(&word)) {
        last_term = said->term;
        ++letters;
        all.insert(all.end(), said->bids.begin(), said->bids.end());
      }
    return all;
  }
  // The one bid there is; the verdict of nobody in particular where there is none or are more.
  Bid only_bid() {
    const std::vector<Bid> all = bids();
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? Bid{} : all.front();
  }

  Time now = Time{} + 1h;
  NodeAgent agent;
  Term last_term = 0;
  int letters = 0;

 private:
  std::uint32_t next_pod_ = 0, beats_ = 0;
};

TEST(NodeAgent, SpeaksOfAPodOnceAsSoonAsItSeesIt) {
  AgentTest test;
  test.see("a");
  const Bid bid = test.only_bid();
  EXPECT_EQ(bid.pod, pod_key("a"));
  EXPECT_EQ(bid.verdict, BidVerdict::accept);
  EXPECT_FLOAT_EQ(bid.score, 1);
  EXPECT_EQ(bid.awards, 0U);
  EXPECT_EQ(test.last_term, 5U);
  EXPECT_TRUE(test.agent.take_words(test.now).empty());
}

TEST(NodeAgent, AnswersWhatItIsAskedInOneLetter) {
  AgentTest test;
  test.see("seen");
  test.bids();
  test.letters = 0;
  test.ask("seen");
  test.ask("told");
  test.see("new");
  const std::vector<Bid> bids = test.bids();
  EXPECT_EQ(bids.size(), 3U);
  EXPECT_EQ(test.letters, 1);
  test.see("both");
  test.ask("both");
  EXPECT_EQ(test.bids().size(), 1U) << "one answer is enough";
}

TEST(NodeAgent, ScoresLowerTheMoreItsNodeUses) {
  AgentTest test;
  test.sample(2);
  test.see("a");
  EXPECT_FLOAT_EQ(test.only_bid().score, 0.5F);
  test.sample(4);
  test.see("b");
  const Bid full = test.only_bid();
  EXPECT_EQ(full.verdict, BidVerdict::reject) << "accepting is worth no more than rejecting";
}

// ---- When it has no opinion.

TEST(NodeAgent, AbstainsWithoutAModelAFreshSampleOrAFreshBeat) {
  AgentTest blank(options_of("node-0"), nullptr);
  blank.see("a");
  EXPECT_EQ(blank.only_bid().verdict, BidVerdict::abstains);

  AgentTest test;
  test.now += 16s;
  test.beat();
  test.ask("a");
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::abstains) << "its sample is old";
  test.sample();
  test.ask("a");
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::accept);
  test.now += 16s;
  test.sample();
  test.ask("a");
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::abstains) << "the leader's beat is";
  test.beat();
  test.ask("a");
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::accept);
}

TEST(NodeAgent, AbstainsBeforeItKnowsItsNode) {
  NodeAgent agent(options_of("node-7"), brain_of(emptier_is_better()), Random(1));
  const Time now = Time{} + 1h;
  agent.observe(NodeAdded{test_node(0)}, now);  // another one
  agent.greet(now);
  LeaderBeat beat;
  beat.term = 1;
  agent.heard(beat, now);
  agent.heard(LeaderAsks{1, {AgentTest::question("a")}}, now);
  const std::vector<FromAgent> words = agent.take_words(now);
  ASSERT_EQ(words.size(), 1U);
  EXPECT_EQ(std::get<AgentBids>(words[0]).bids.at(0).verdict, BidVerdict::abstains);
}

TEST(NodeAgent, AbstainsWhereWhatItsNetworkComputesIsNoNumberToTell) {
  std::vector<float> parameters = emptier_is_better();
  const float large = std::numeric_limits<float>::max();
  for (float& parameter : parameters) parameter *= parameter == 0 ? 1 : large;
  AgentTest test(options_of("node-0"), brain_of(parameters));
  test.sample(2);
  test.see("a");
  const Bid bid = test.only_bid();
  EXPECT_EQ(bid.verdict, BidVerdict::abstains);
  EXPECT_EQ(bid.score, 0);
}

// ---- What its node cannot take.

TEST(NodeAgent, CallsItsNodeUnfitByItsOwnFilters) {
  AgentTest test;
  test.see("large", spec_asking(5000, 0));
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::unfit);
  PodSpec named = spec_asking(100, 0);
  named.node_name = "node-3";
  test.see("elsewhere", named);
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::unfit);
  PodSpec choosy = spec_asking(100, 0);
  choosy.node_selector.set("disk", "ssd");
  test.see("choosy", choosy);
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::unfit);
  Node tainted = test_node(0);
  tainted.taints = {{"a", "b", TaintEffect::no_schedule}};
  tainted.labels.set("disk", "ssd");
  test.agent.observe(NodeUpdated{tainted}, test.now);
  test.ask("choosy");
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::unfit) << "its label fits by now, its taint does not";
}

TEST(NodeAgent, CallsItUnfitByTheQuestionsFiguresWhereItDoesNotSeeThePod) {
  AgentTest test;
  test.ask("a", 4.5);
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::unfit);
  test.ask("b", 4);
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::accept);
}

TEST(NodeAgent, LeavesWhatLooksBeyondItsNodeToTheLeader) {
  AgentTest test;
  PodSpec spec = spec_asking(100, 0);
  PodAffinityTerm term;
  term.selector = LabelSelector{};
  term.topology_key = "kubernetes.io/hostname";
  spec.pod_affinity.required.push_back(term);
  TopologySpreadConstraint spread;
  spread.topology_key = "zone";
  spread.selector = LabelSelector{};
  spec.spread.push_back(spread);
  PodVolume volume;
  spec.volumes.push_back(volume);
  test.see("a", spec);
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::accept);
}

TEST(NodeAgent, AsksNoFilterThatThePodsProfileLeavesOut) {
  NodeAgent::Options options = options_of("node-0");
  options.profiles = {{"lenient", {}}};
  options.profiles[0].options.profile.filters = {"NodeName"};
  AgentTest test(options);
  PodSpec spec = spec_asking(100, 0);
  spec.scheduler_name = "lenient";
  spec.node_selector.set("disk", "ssd");
  test.see("a", spec);
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::accept);
  test.see("theirs");
  EXPECT_TRUE(test.bids().empty()) << "pods of other schedulers are not its business";
}

TEST(NodeAgent, CountsPodsThatRunOnItsNode) {
  AgentTest test;
  test.agent.observe(PodFound{test.pod("runs", spec_asking(3500, 0)), {0}}, test.now);
  test.see("a", spec_asking(600, 0));
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::unfit);
  test.see("b", spec_asking(500, 0));
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::accept);
}

// ---- Awards.

TEST(NodeAgent, CountsAwardedPodsAsPlacedUntilItSeesThem) {
  AgentTest test;
  const Pod pod = test.see("a", spec_asking(2000, 0));
  EXPECT_FLOAT_EQ(test.only_bid().score, 1);
  test.award(1, {"a"});
  test.ask("b", 1, 0.1);
  const Bid bid = test.only_bid();
  EXPECT_EQ(bid.awards, 1U);
  const float with_it = bid.score;
  EXPECT_NEAR(with_it, 0.5, 0.01) << "it is expected to use what it asks for";
  test.ask("c", 2.5, 0.1);
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::unfit) << "2 of 4 cores are promised";
  test.agent.observe(PodBound{pod.id, {0}}, test.now);
  EXPECT_EQ(test.agent.awarded(), 0U);
  test.ask("b", 1, 0.1);
  EXPECT_FLOAT_EQ(test.only_bid().score, with_it) << "seen or promised, it counts once";
}

TEST(NodeAgent, CountsPodsItWasOnlyToldOfAsWell) {
  AgentTest test;
  test.ask("a", 3, 1);
  test.bids();
  test.award(1, {"a"});
  test.ask("b", 1.5, 0);
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::unfit);
  test.ask("b", 1, 0);
  EXPECT_NEAR(test.only_bid().score, 0.75, 1e-6);
}

TEST(NodeAgent, GivesBackWhatIsWithdrawn) {
  AgentTest test;
  test.ask("a", 3, 1);
  test.bids();
  test.award(1, {"a"});
  test.award(2, {"a"}, true);
  test.ask("b", 4, 0);
  const Bid bid = test.only_bid();
  EXPECT_EQ(bid.verdict, BidVerdict::accept);
  EXPECT_EQ(bid.awards, 2U);
  EXPECT_FLOAT_EQ(bid.score, 1);
}

TEST(NodeAgent, ForgetsAwardsThatNobodyConfirms) {
  AgentTest test;
  test.ask("a", 3, 1);
  test.bids();
  test.award(1, {"a"});
  test.now += 19s;
  test.sample();
  test.beat();
  test.ask("b", 2, 0);
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::unfit);
  test.now += 1s;
  test.ask("b", 2, 0);
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::accept);
  EXPECT_EQ(test.agent.figures().unconfirmed, 1U);
}

TEST(NodeAgent, AnAwardOfAPodThatIsThereAlreadyPromisesNothing) {
  AgentTest test;
  const Pod pod = test.see("a", spec_asking(2000, 0));
  test.bids();
  test.agent.observe(PodBound{pod.id, {0}}, test.now);  // the watch was quicker
  test.award(1, {"a"});
  EXPECT_EQ(test.agent.awarded(), 0U);
  test.ask("b", 2, 0);
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::accept);
}

TEST(NodeAgent, HearsAnAwardOnceHoweverOftenItComes) {
  AgentTest test;
  test.award(2, {"a", "b"});
  test.award(2, {"a", "b"});
  test.award(1, {"a"});  // overtaken
  EXPECT_EQ(test.agent.figures().awards, 2U);
  test.ask("c");
  EXPECT_EQ(test.only_bid().awards, 2U);
}

// ---- Terms and lines.

TEST(NodeAgent, IgnoresALeaderOfAnOlderTerm) {
  AgentTest test;
  test.beat(6);
  test.bids();
  test.ask("a", 0.1, 0.1, 5);
  test.award(1, {"b"}, false, 5);
  test.beat(5, true);
  test.agent.heard(LeaderModel{5, {5, 1}, emptier_is_better(9)}, test.now);
  EXPECT_TRUE(test.bids().empty());
  EXPECT_EQ(test.agent.awarded(), 0U);
  EXPECT_EQ(test.agent.model(), ModelVersion{});
  EXPECT_EQ(test.agent.figures().older_term, 4U);
  test.see("c");
  EXPECT_EQ(test.only_bid().awards, 0U);
  EXPECT_EQ(test.last_term, 6U);
}

TEST(NodeAgent, SaysEverythingAgainInANewTerm) {
  AgentTest test;
  test.see("a");
  test.see("b");
  test.award(3, {"x", "y", "z"});
  EXPECT_EQ(test.bids().size(), 2U);
  test.ask("unanswered");
  test.beat(6);
  const std::vector<Bid> again = test.bids();
  ASSERT_EQ(again.size(), 2U) << "what the leader before asked is not answered to the new one";
  EXPECT_EQ(again[0].awards, 0U);
  EXPECT_EQ(test.last_term, 6U);
}

TEST(NodeAgent, SaysEverythingAgainOnANewLineOnceTheLeaderHasSpoken) {
  AgentTest test;
  test.see("a");
  test.award(1, {"x"});
  EXPECT_EQ(test.bids().size(), 1U);
  test.agent.greet(test.now);
  EXPECT_TRUE(test.bids().empty()) << "in whose term would it speak?";
  test.beat();
  EXPECT_EQ(test.only_bid().awards, 0U);
  EXPECT_EQ(test.agent.awarded(), 1U) << "the pod may come all the same";
}

TEST(NodeAgent, SaysHelloWithWhatItKnows) {
  AgentTest test;
  test.agent.heard(LeaderModel{5, {5, 2}, emptier_is_better()}, test.now);
  const AgentHello hello = test.agent.hello(77, true);
  EXPECT_EQ(hello.node, "node-0");
  EXPECT_EQ(hello.incarnation, 77U);
  EXPECT_EQ(hello.term, 5U);
  EXPECT_TRUE(hello.sees_pods);
  EXPECT_EQ(hello.model, (ModelVersion{5, 2}));
}

TEST(NodeAgent, KeepsItsPeaceWhereTheLeaderTellsOfPods) {
  AgentTest test;
  test.beat(5, true);
  test.see("a");
  EXPECT_TRUE(test.bids().empty());
  test.ask("a");
  EXPECT_EQ(test.bids().size(), 1U);
  test.beat(5, false);
  EXPECT_EQ(test.bids().size(), 1U) << "and speaks by itself again when it does not any more";
}

// ---- Pods that wait.

TEST(NodeAgent, DoesNotSpeakUnaskedOfPodsThatTalkToOthers) {
  AgentTest test;
  const Pod member = test.pod("a", scheduling::member_shape("shop", "api"));
  test.agent.observe(PodAdded{member}, test.now);
  EXPECT_TRUE(test.bids().empty());
  test.ask("a");
  EXPECT_EQ(test.bids().size(), 1U);
}

TEST(NodeAgent, SpeaksOfGatedPodsWhenTheirGatesAreOpen) {
  AgentTest test;
  PodSpec gated = spec_asking(100, 0);
  gated.scheduling_gates = {"later"};
  Pod pod = test.see("a", gated);
  test.beat(6);
  EXPECT_TRUE(test.bids().empty());
  pod.shape = shape_asking(100, 0);
  test.agent.observe(PodUpdated{pod}, test.now);
  EXPECT_EQ(test.bids().size(), 1U);
  test.agent.observe(PodUpdated{pod}, test.now);
  EXPECT_TRUE(test.bids().empty()) << "nothing it asks for changed";
  pod.shape = shape_asking(5000, 0);
  test.agent.observe(PodUpdated{pod}, test.now);
  EXPECT_EQ(test.only_bid().verdict, BidVerdict::unfit);
}

TEST(NodeAgent, ForgetsPodsThatWentElsewhereOrEnded) {
  AgentTest test;
  const Pod bound = test.see("bound"), gone = test.see("gone"), found = test.see("found");
  test.agent.observe(PodBound{bound.id, {9}}, test.now);
  test.agent.observe(PodGone{gone.id}, test.now);
  test.agent.observe(PodFound{found, {9}}, test.now);
  EXPECT_EQ(test.agent.waiting(), 0U);
  EXPECT_EQ(test.agent.cluster().pod_count(), 0U);
  EXPECT_TRUE(test.bids().empty());
  const Pod here = test.see("here");
  test.agent.observe(PodBound{here.id, {0}}, test.now);
  EXPECT_EQ(test.agent.cluster().pods_on({0}).size(), 1U);
  test.agent.observe(PodGone{here.id}, test.now);
  EXPECT_EQ(test.agent.cluster().pod_count(), 0U);
}

TEST(NodeAgent, StaysSmallWhileManyPodsPass) {
  AgentTest test;
  for (int i = 0; i < 20'000; ++i) {
    const Pod pod = test.see("p" + std::to_string(i));
    test.ask("told" + std::to_string(i));
    EXPECT_EQ(test.bids().size(), 2U);
    test.agent.observe(PodBound{pod.id, {static_cast<std::uint32_t>(i % 50 == 0 ? 0 : 1)}}, test.now);
    if (i % 50 == 0) test.agent.observe(PodGone{pod.id}, test.now);
    if (i % 1000 == 0) {
      test.now += 1s;
      test.sample();
      test.beat();
    }
  }
  EXPECT_EQ(test.agent.waiting(), 0U);
  EXPECT_EQ(test.agent.cluster().pod_count(), 0U);
}

// ---- Learning.

NodeAgent::Options learner() {
  NodeAgent::Options options = options_of("node-0");
  options.learns = true;
  return options;
}

TEST(NodeAgent, LearnsFromWhatItWasGivenAfterFifteenSeconds) {
  AgentTest test(learner());
  const Pod pod = test.see("a", spec_asking(2000, 0));
  test.bids();
  test.award(1, {"a"});
  test.agent.observe(PodBound{pod.id, {0}}, test.now);
  EXPECT_EQ(test.agent.wake_at(), test.now + 15s);
  test.now += 16s;
  test.bids();
  EXPECT_EQ(test.agent.brain()->progress().rewards, 0U) << "what it would see is too old";
  EXPECT_EQ(test.agent.wake_at(), Time::max()) << "and it is no use to wake for it";
  test.sample(2);
  test.beat();
  EXPECT_LE(test.agent.wake_at(), test.now);
  test.bids();
  EXPECT_EQ(test.agent.brain()->progress().rewards, 1U);
}

TEST(NodeAgent, LearnsFromPodsThatWentElsewhereToo) {
  AgentTest test(learner());
  const Pod pod = test.see("a");
  test.ask("told");
  test.bids();
  test.agent.observe(PodBound{pod.id, {9}}, test.now);
  test.now += 5s;
  test.bids();  // of the other it hears no more
  test.now += 15s;
  test.sample();
  test.beat();
  test.bids();
  EXPECT_EQ(test.agent.brain()->progress().rewards, 2U);
}

TEST(NodeAgent, DoesNotLearnFromWhatWasWithdrawnNorWhereItIsNotTo) {
  AgentTest test(learner());
  test.see("a");
  test.bids();
  test.award(1, {"a"});
  test.award(2, {"a"}, true);
  EXPECT_EQ(test.agent.wake_at(), Time::max());
  AgentTest finished;
  finished.see("a");
  finished.bids();
  finished.award(1, {"a"});
  EXPECT_EQ(finished.agent.wake_at(), Time::max());
}

TEST(NodeAgent, SendsLessonsNowAndThenAndGoesOnWithTheSharedModel) {
  AgentTest test(learner());
  const auto lessons = [&]() -> std::optional<AgentLessons> {
    for (const FromAgent& word : test.agent.take_words(test.now))
      if (const auto* said = std::get_if<AgentLessons>(&word)) return *said;
    return std::nullopt;
  };
  std::optional<AgentLessons> sent;
  for (int second = 0; second < 59; ++second) {
    test.sample(2);
    test.beat();
    const Pod pod = test.see("p" + std::to_string(second));
    EXPECT_FALSE(lessons());
    test.award(static_cast<std::uint32_t>(second) + 1, {"p" + std::to_string(second)});
    test.now += 1s;
  }
  test.now += 1s;
  test.sample(2);
  test.beat();
  sent = lessons();
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->from, ModelVersion{});
  EXPECT_GT(sent->experience, 30U);
  EXPECT_FALSE(lessons());

  ModelPool pool(ModelPool::Options{});
  pool.begin_term(5, {}, emptier_is_better(), test.now - 60s);
  pool.offer("node-0", *sent);
  const std::optional<LeaderModel> model = pool.average(test.now);
  ASSERT_TRUE(model);
  test.agent.heard(*model, test.now);
  EXPECT_EQ(test.agent.model(), (ModelVersion{5, 1}));
  EXPECT_EQ(test.agent.brain()->experience(), 0U);
  test.agent.heard(LeaderModel{5, {5, 2}, {1, 2, 3}}, test.now);
  EXPECT_EQ(test.agent.model(), (ModelVersion{5, 1})) << "one of another shape is refused";
  EXPECT_EQ(test.agent.figures().refused_models, 1U);
  test.agent.heard(LeaderModel{5, {5, 3}, emptier_is_better(3)}, test.now);
  test.sample(0);
  test.ask("after");
  bool found = false;
  for (const FromAgent& word : test.agent.take_words(test.now))
    if (const auto* bids = std::get_if<AgentBids>(&word)) {
      found = true;
      EXPECT_GT(bids->bids.at(0).score, 2);
    }
  EXPECT_TRUE(found);
}

// ---- All together: a desk, and agents that see no more than they are told and what their nodes do.

TEST(NodeAgent, ManyOfThemSpreadPodsThatComeAtOnce) {
  for (const bool sees_pods : {false, true}) {
    constexpr std::uint32_t kNodes = 4;
    scheduling::TestCluster cluster(kNodes);
    BidDesk desk({}, Random(1));
    desk.begin_term(5);
    std::vector<std::unique_ptr<NodeAgent>> agents;
    Time& now = cluster.now;
    for (std::uint32_t slot = 0; slot < kNodes; ++slot) {
      const std::string name = "node-" + std::to_string(slot);
      agents.push_back(
          std::make_unique<NodeAgent>(options_of(name), brain_of(emptier_is_better()), Random(slot)));
      NodeAgent& agent = *agents.back();
      agent.observe(NodeAdded{test_node(slot)}, now);
      agent.observe(UsageReported{{slot}, now, {}, {}, kAllKnown, kAllKnown, {}}, now);
      agent.greet(now);
      desk.joined(name, agent.hello(slot, sees_pods));
      LeaderBeat beat;
      beat.term = 5;
      beat.cluster.nodes = kNodes;
      agent.heard(beat, now);
    }
    std::vector<Pod> waiting;
    for (std::uint32_t i = 0; i < 40; ++i) {
      Pod pod = test_pod({i, 1}, shape_asking(200, 0));
      pod.uid = "p" + std::to_string(i);
      waiting.push_back(pod);
      if (sees_pods)
        for (auto& agent : agents) agent->observe(PodAdded{pod}, now);
    }
    std::vector<int> given(kNodes, 0);
    for (int turn = 0; turn < 400 && !waiting.empty(); ++turn) {
      for (std::uint32_t slot = 0; slot < kNodes; ++slot)
        for (const FromAgent& word : agents[slot]->take_words(now))
          EXPECT_TRUE(desk.heard("node-" + std::to_string(slot), std::get<AgentBids>(word), now));
      if (desk.has_news(now)) desk.news_seen();
      std::vector<Pod> left;
      for (const Pod& pod : waiting) {
        const BidDesk::Outcome outcome = desk.is_full() ? BidDesk::Outcome{BidDesk::Answer::waits, {}, {}}
                                                        : desk.consult(cluster.question(pod));
        EXPECT_NE(outcome.answer, BidDesk::Answer::nobody) << outcome.why;
        if (outcome.answer != BidDesk::Answer::chosen) {
          left.push_back(pod);
          continue;
        }
        ++given[outcome.node.slot];
        desk.awarded(pod_key(pod.uid), "node-" + std::to_string(outcome.node.slot));
      }
      waiting = left;
      for (const BidDesk::Letter& letter : desk.take_letters())
        agents[std::stoul(letter.node.substr(5))]->heard(letter.message, now);
      now += 200us;
    }
    EXPECT_TRUE(waiting.empty());
    EXPECT_EQ(given, (std::vector<int>{10, 10, 10, 10})) << (sees_pods ? "seen" : "told");
  }
}

}  // namespace
}  // namespace evenkeel::agents

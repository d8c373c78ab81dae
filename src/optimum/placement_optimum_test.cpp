#include "optimum/placement_optimum.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/random.h"
#include "optimum/network_instances.h"
#include "optimum/placement_model.h"
#include "scheduling/group_plan.h"
#include "solver/highs.h"

namespace evenkeel::optimum {
namespace {

using scheduling::broken_rule;
using scheduling::GroupPlan;
using scheduling::GroupProblem;
using scheduling::plan_of;
constexpr std::uint32_t kNowhere = GroupProblem::kNowhere;

#define NEED_HIGHS(name)                                    \
  const Result<solver::Highs> name = solver::Highs::open(); \
  if (!name) GTEST_SKIP() << name.error().message

std::uint32_t below(Random& random, std::uint32_t limit) {
  return static_cast<std::uint32_t>(random.below(limit));
}

struct Question {
  GroupProblem problem;
  std::vector<std::uint32_t> application;
};

// A few pods on a few nodes, with every kind of rule now and then.
Question small_question(std::uint64_t seed) {
  Random random(seed);
  Question question;
  GroupProblem& problem = question.problem;
  const std::uint32_t nodes = 2 + below(random, 3), pods = 2 + below(random, 4);
  problem.zones = 1 + below(random, 3);
  problem.regions = 1 + below(random, 2);
  const bool whole = below(random, 4) != 0, symmetric = below(random, 2) == 0;
  const auto price = [&](std::uint32_t most) {
    return whole ? static_cast<double>(below(random, most)) : random.between(0, most);
  };
  problem.cost.assign(std::size_t{problem.zones} * problem.zones, 0);
  for (std::uint32_t a = 0; a < problem.zones; ++a) {
    problem.region.push_back(below(random, problem.regions));
    for (std::uint32_t b = 0; b < problem.zones; ++b)
      problem.cost[a * problem.zones + b] = a == b               ? price(3)
                                            : symmetric && b < a ? problem.cost[b * problem.zones + a]
                                                                 : price(12);
  }
  for (std::uint32_t n = 0; n < nodes; ++n)
    problem.nodes.push_back(
        {below(random, problem.zones),
         {static_cast<double>(below(random, 5)) - (below(random, 8) == 0 ? 1 : 0), 1.5 * below(random, 6)}});
  const std::uint32_t applications = 1 + below(random, 2);
  for (std::uint32_t p = 0; p < pods; ++p) {
    GroupProblem::Pod pod{
        .request = {1.0 + below(random, 2), below(random, 3) * 1.0}, .allowed = {}, .bias = {}};
    if (below(random, 3) == 0)  // a double of the last one
      if (p > 0) pod = problem.pods.back();
    if (below(random, 5) == 0)
      for (std::uint32_t n = 0; n < nodes; ++n) pod.allowed.push_back(below(random, 4) != 0);
    if (below(random, 5) == 0)
      for (std::uint32_t n = 0; n < nodes; ++n) pod.bias.push_back(price(4));
    if (pod.allowed.size() > nodes) pod.allowed.clear();
    if (pod.bias.size() > nodes) pod.bias.clear();
    if (below(random, 6) == 0) pod.fixed = below(random, nodes);
    problem.pods.push_back(pod);
    question.application.push_back(below(random, applications));
  }
  const bool flows = below(random, 3) == 0, limits = below(random, 4) == 0;
  for (std::uint32_t a = 0; a < pods; ++a)
    for (std::uint32_t b = 0; b < pods; ++b) {
      if (a == b || question.application[a] != question.application[b] || below(random, 2) == 0) continue;
      GroupProblem::Edge edge{
          .from = a, .to = b, .weight = whole ? 1.0 + below(random, 3) : random.between(0, 3)};
      if (flows) edge.bandwidth = 1.0 + below(random, 3);
      if (limits && below(random, 3) == 0) edge.max_cost = price(10);
      problem.edges.push_back(edge);
    }
  if (flows) {
    for (auto& node : problem.nodes)
      if (below(random, 2) == 0) node.egress = below(random, 7);
    if (below(random, 2) == 0)
      for (std::uint32_t i = 0; i < problem.zones * problem.zones; ++i)
        problem.zone_room.push_back(below(random, 3) == 0 ? GroupProblem::kUnlimited : below(random, 6));
    if (below(random, 2) == 0)
      for (std::uint32_t i = 0; i < problem.regions * problem.regions; ++i)
        problem.region_room.push_back(below(random, 6));
  }
  for (std::uint32_t rules = below(random, 3); rules > 0; --rules) {
    GroupProblem::Apart rule{.pods = {}, .by_zone = below(random, 2) == 0, .taken = {}};
    for (std::uint32_t p = 0; p < pods; ++p)
      if (below(random, 2) == 0) rule.pods.push_back(p);
    if (below(random, 3) == 0)
      for (std::uint32_t i = 0; i < (rule.by_zone ? problem.zones : nodes); ++i)
        rule.taken.push_back(below(random, 4) == 0);
    problem.apart.push_back(rule);
  }
  return question;
}

struct Best {
  std::uint32_t accepted = 0;
  std::optional<GroupPlan> plan;
};

// Every way to place every selection of applications.
Best look_at_everything(const Question& question) {
  const GroupProblem& problem = question.problem;
  Best best;
  for (std::uint32_t selection = 0; selection < 4; ++selection) {
    std::vector<std::uint32_t> moving, node_of(problem.pods.size(), kNowhere);
    std::uint32_t accepted = 0;
    for (std::uint32_t application = 0; application < 2; ++application) {
      bool waits = false;
      for (std::uint32_t p = 0; p < problem.pods.size(); ++p) {
        node_of[p] = problem.pods[p].fixed != kNowhere ? problem.pods[p].fixed : node_of[p];
        if (question.application[p] != application || problem.pods[p].fixed != kNowhere) continue;
        waits = true;
        if (selection >> application & 1U) moving.push_back(p);
      }
      if (waits && (selection >> application & 1U)) ++accepted;
    }
    std::uint64_t ways = 1;
    for (std::size_t i = 0; i < moving.size(); ++i) ways *= problem.nodes.size();
    for (std::uint64_t way = 0; way < ways; ++way) {
      std::uint64_t rest = way;
      for (const std::uint32_t pod : moving) {
        node_of[pod] = static_cast<std::uint32_t>(rest % problem.nodes.size());
        rest /= problem.nodes.size();
      }
      if (!broken_rule(problem, node_of).empty()) continue;
      const GroupPlan plan = plan_of(problem, node_of);
      const bool better = !best.plan || accepted > best.accepted ||
                          (accepted == best.accepted && plan.objective() < best.plan->objective());
      if (better) best = {accepted, plan};
    }
  }
  return best;
}

TEST(PlacementOptimum, IsTheBestOfAllPlacementsOnSmallProblems) {
  NEED_HIGHS(highs);
  int placed = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    const Question question = small_question(seed);
    const Best best = look_at_everything(question);
    const Result<PlacementOptimum> found =
        find_optimum(question.problem, question.application, highs->solver());
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_TRUE(found->proven);
    ASSERT_TRUE(best.plan);
    ASSERT_EQ(found->accepted, best.accepted);
    ASSERT_NEAR(found->plan.objective(), best.plan->objective(), 1e-6);
    EXPECT_NEAR(found->bound, best.plan->objective(), 1e-6);
    placed += found->accepted > 0;
  }
  EXPECT_GT(placed, 100) << "most of them should have something to decide";
}

TEST(PlacementOptimum, PlansMadeElsewhereAreItsColumnsToTheLast) {
  NEED_HIGHS(highs);
  // Nothing but the start in no time: what comes back is the plan, whatever its nodes are called.
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    const Question question = small_question(seed);
    const Best best = look_at_everything(question);
    const Result<PlacementModel> model = PlacementModel::build(question.problem, question.application);
    ASSERT_TRUE(model);
    const std::vector<double> columns = model->columns_of(best.plan->node_of);
    const MixedProgram program = model->least_latency(best.accepted);
    ASSERT_EQ(columns.size(), program.columns());
    double objective = program.offset;
    for (std::uint32_t i = 0; i < program.columns(); ++i) objective += program.cost[i] * columns[i];
    EXPECT_NEAR(objective, best.plan->objective(), 1e-6);
    for (std::uint32_t row = 0; row < program.rows(); ++row) {
      double sum = 0;
      const auto end = row + 1 < program.rows() ? static_cast<std::size_t>(program.row_start[row + 1])
                                                : program.column.size();
      for (auto i = static_cast<std::size_t>(program.row_start[row]); i < end; ++i)
        sum += program.factor[i] * columns[static_cast<std::size_t>(program.column[i])];
      EXPECT_GE(sum, program.row_lower[row] - 1e-6) << "row " << row;
      EXPECT_LE(sum, program.row_upper[row] + 1e-6) << "row " << row;
    }
  }
}

// Two zones of two nodes, room for two pods on each; 1 within a zone, 5 across; two pods that talk.
GroupProblem two_zones() {
  GroupProblem problem;
  problem.zones = 2;
  problem.regions = 1;
  problem.region = {0, 0};
  problem.cost = {1, 5, 5, 1};
  for (const std::uint32_t zone : {0U, 0U, 1U, 1U}) problem.nodes.push_back({zone, {2}});
  for (int i = 0; i < 2; ++i) problem.pods.push_back({.request = {1}, .allowed = {}, .bias = {}});
  problem.edges.push_back({.from = 0, .to = 1});
  return problem;
}

// What the problem's optimum costs; nothing where no placement keeps the rules.
std::optional<double> least(const GroupProblem& problem, const solver::Highs& highs) {
  const Result<PlacementOptimum> found = find_optimum(problem, {}, highs.solver());
  EXPECT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->proven);
  if (!found || found->accepted == 0) return std::nullopt;
  return found->plan.objective();
}

TEST(PlacementOptimum, KeepsEveryRule) {
  NEED_HIGHS(highs);
  EXPECT_EQ(least(two_zones(), *highs), 0) << "on one node";

  GroupProblem full = two_zones();
  for (auto& node : full.nodes) node.free = {1};
  EXPECT_EQ(least(full, *highs), 1) << "eq. 3";
  full.nodes[1].free = full.nodes[3].free = {-1};
  EXPECT_EQ(least(full, *highs), 5) << "what is over-committed holds nothing";

  GroupProblem apart = two_zones();
  apart.apart.push_back({.pods = {0, 1}, .by_zone = false, .taken = {}});
  EXPECT_EQ(least(apart, *highs), 1) << "eq. 9";
  apart.apart[0].by_zone = true;
  EXPECT_EQ(least(apart, *highs), 5) << "eq. 10";
  apart.apart[0].taken = {1, 0};
  EXPECT_EQ(least(apart, *highs), std::nullopt) << "a zone that is taken";

  GroupProblem chosen = two_zones();
  chosen.pods[0].allowed = {1, 0, 0, 0};
  chosen.pods[1].allowed = {0, 1, 0, 1};
  EXPECT_EQ(least(chosen, *highs), 1) << "filters";
  chosen.pods[1].bias = {0, 7, 0, 0};
  EXPECT_EQ(least(chosen, *highs), 5) << "what else speaks against a node";
  chosen.edges[0].max_cost = 4;
  EXPECT_EQ(least(chosen, *highs), 8) << "maxNetworkCost";
  chosen.edges[0].max_cost = 0;
  EXPECT_EQ(least(chosen, *highs), std::nullopt);

  GroupProblem fixed = two_zones();
  fixed.pods[0].fixed = 3;
  fixed.nodes[3].free = {0};
  EXPECT_EQ(least(fixed, *highs), 1) << "pods that are there already stay there";
}

TEST(PlacementOptimum, BooksNoLinkTwice) {
  NEED_HIGHS(highs);
  GroupProblem problem = two_zones();
  problem.edges[0].bandwidth = 20;
  problem.apart.push_back({.pods = {0, 1}, .by_zone = true, .taken = {}});
  problem.zone_room = {0, 20, 0, 0};
  EXPECT_EQ(least(problem, *highs), 5) << "there is room in one direction";
  problem.zone_room = {0, 19, 19, 0};
  EXPECT_EQ(least(problem, *highs), std::nullopt);
  problem.regions = 2;
  problem.region = {0, 1};
  EXPECT_EQ(least(problem, *highs), 5) << "not a link of zones any more";
  problem.region_room = {0, 19, 20, 0};
  EXPECT_EQ(least(problem, *highs), 5);
  problem.region_room = {0, 19, 19, 0};
  EXPECT_EQ(least(problem, *highs), std::nullopt);
  problem.region_room.clear();
  for (auto& node : problem.nodes) node.egress = 19;
  EXPECT_EQ(least(problem, *highs), std::nullopt) << "what leaves a node";
  problem.nodes[2].egress = 20;
  EXPECT_EQ(least(problem, *highs), 5);
}

TEST(PlacementOptimum, PlacesAsManyApplicationsAsFitBeforeItLooksAtLatency) {
  NEED_HIGHS(highs);
  // One of three pods and two of two, room for four: the large one would be cheaper alone.
  GroupProblem problem = two_zones();
  problem.pods.assign(7, {.request = {1}, .allowed = {}, .bias = {}});
  for (auto& node : problem.nodes) node.free = {1};
  problem.edges = {{.from = 3, .to = 4, .weight = 100}, {.from = 5, .to = 6, .weight = 100}};
  const std::vector<std::uint32_t> application{0, 0, 0, 1, 1, 2, 2};
  const Result<PlacementOptimum> found = find_optimum(problem, application, highs->solver());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->applications, 3U);
  EXPECT_EQ(found->accepted, 2U);
  EXPECT_EQ(found->plan.latency, 200) << "each in a zone of its own";
  EXPECT_EQ(found->plan.node_of[0], kNowhere);
  EXPECT_TRUE(found->proven);
}

TEST(PlacementOptimum, ProvesThePapersSmallerInstances) {
  NEED_HIGHS(highs);
  for (const Terrain terrain : {Terrain::cluster, Terrain::data_centre, Terrain::multi_region})
    for (const NetworkApplication& application :
         {basic_application(2), basic_application(4), redis_cluster(1)}) {
      SCOPED_TRACE(application.name + " " + std::to_string(application.pods()));
      const GroupProblem problem = network_instance(network_site(terrain), application, {}, Random(1));
      const GroupPlan start = scheduling::plan_group(problem);
      const Result<PlacementOptimum> found = find_optimum(
          problem, {}, highs->solver(), {.seconds = 600, .start = start.node_of, .progress = {}});
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_TRUE(found->proven);
      EXPECT_LE(found->plan.objective(), start.objective());
    }
}

TEST(PlacementOptimum, WithoutTimeItIsThePlanItWasGivenWithABound) {
  NEED_HIGHS(highs);
  const GroupProblem problem =
      network_instance(network_site(Terrain::cluster), online_boutique(2), {}, Random(1));
  const GroupPlan start = scheduling::plan_group(problem);
  const Result<PlacementOptimum> found =
      find_optimum(problem, {}, highs->solver(), {.seconds = 0, .start = start.node_of, .progress = {}});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(found->started);
  EXPECT_FALSE(found->proven);
  EXPECT_EQ(found->accepted, 1U);
  EXPECT_LE(found->plan.objective(), start.objective());
  EXPECT_LE(found->bound, found->plan.objective());
  EXPECT_GE(found->gap(), 0);
}

TEST(PlacementOptimum, StopsWhenItsTimeIsUp) {
  NEED_HIGHS(highs);
  const GroupProblem problem =
      network_instance(network_site(Terrain::data_centre), online_boutique(2), {}, Random(1));
  const Result<PlacementOptimum> found =
      find_optimum(problem, {}, highs->solver(), {.seconds = 0.3, .start = {}, .progress = {}});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_LT(found->seconds, 30) << "steps of the solver are short, also on a slow machine";
}

TEST(PlacementOptimum, APlanThatBreaksARuleIsNoStart) {
  NEED_HIGHS(highs);
  GroupProblem problem = two_zones();
  problem.nodes[0].free = {1};
  const Result<PlacementOptimum> found =
      find_optimum(problem, {}, highs->solver(), {.seconds = 60, .start = {0, 0}, .progress = {}});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->started);
  EXPECT_EQ(found->plan.latency, 0);
}

TEST(PlacementOptimum, BelievesNoSolver) {
  const GroupProblem problem = [] {
    GroupProblem tight = two_zones();
    for (auto& node : tight.nodes) node.free = {1};
    tight.pods[0].allowed = tight.pods[1].allowed = {1, 0, 0, 0};
    return tight;
  }();
  const MixedSolver liar = [](const MixedProgram& program, const MixedLimits&) -> Result<MixedAnswer> {
    return MixedAnswer{.verdict = MixedAnswer::Verdict::optimal,
                       .values = std::vector<double>(program.columns(), 1)};
  };
  const Result<PlacementOptimum> found = find_optimum(problem, {}, liar);
  // Both pods where there is room for one: what it says is nothing.
  ASSERT_TRUE(!found || found->accepted == 0);
  const MixedSolver none = [](const MixedProgram&, const MixedLimits&) -> Result<MixedAnswer> {
    return unavailable("no solver");
  };
  const Result<PlacementOptimum> failed = find_optimum(problem, {}, none);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no solver");
}

TEST(PlacementOptimum, RefusesWhatHasNoMeaning) {
  const auto refused = [](const GroupProblem& problem, std::vector<std::uint32_t> application) {
    const Result<PlacementModel> model = PlacementModel::build(problem, application);
    return model ? std::string() : model.error().message;
  };
  EXPECT_EQ(refused(two_zones(), {0, 0}), "");
  EXPECT_NE(refused(two_zones(), {0, 1}).find("different applications"), std::string::npos);
  EXPECT_NE(refused(two_zones(), {0}).find("for each pod"), std::string::npos);
  GroupProblem problem = two_zones();
  problem.edges[0].weight = -1;
  EXPECT_NE(refused(problem, {}).find("no number of 0 or more"), std::string::npos);
  problem = two_zones();
  problem.cost[1] = GroupProblem::kUnlimited;
  EXPECT_NE(refused(problem, {}).find("no number of 0 or more"), std::string::npos);
  problem = two_zones();
  problem.same_node = 2;
  EXPECT_NE(refused(problem, {}).find("dearer"), std::string::npos);
  problem = two_zones();
  problem.nodes.clear();
  EXPECT_NE(refused(problem, {}).find("no node"), std::string::npos);
}

TEST(PodClasses, AreReplicasAndWhoeverElseCanBeExchanged) {
  const GroupProblem redis =
      network_instance(network_site(Terrain::cluster), redis_cluster(4), {}, Random(1));
  EXPECT_EQ(classify(redis, {}).classes.size(), 4U) << "the masters, and the replicas of each";
  GroupProblem directed = redis;
  directed.cost[1] = 17;
  EXPECT_EQ(classify(directed, {}).classes.size(), 6U) << "who sends matters where one way is dearer";
}

}  // namespace
}  // namespace evenkeel::optimum

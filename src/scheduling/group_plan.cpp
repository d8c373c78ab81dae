#include "scheduling/group_plan.h"

#include <algorithm>

#include "scheduling/group_search.h"

namespace evenkeel::scheduling {
namespace {

struct Start {
  std::vector<std::uint32_t> places;
  std::uint32_t placed = 0;
  double objective = 0;
  bool operator<(const Start& other) const {
    return placed != other.placed ? placed > other.placed : objective < other.objective;
  }
};

Start start_of(const GroupSearch& search) {
  return {search.layout().places(), search.layout().placed(), search.layout().objective()};
}

// Until a share of the budget is spent, and no more than help.
std::vector<Start> grow_starts(GroupSearch& search, std::uint64_t budget) {
  constexpr std::size_t kMost = 24;
  std::vector<Start> starts;
  do {
    search.start_over();
    search.grow(!starts.empty());
    search.descend(budget / 4);
    starts.push_back(start_of(search));
  } while (search.looks() < budget && starts.size() < kMost);
  return starts;
}

// Of temperatures. A start is melted where a typical change is nothing unusual; what is best so far is only
// warmed: small changes come and go, its shape stays. Both cool until hardly a small change for the worse is
// made. (Where zones are far apart, as regions are, what is left to gain in the end is small beside a typical
// change.)
constexpr double kMelted = 1.0 / 3, kWarmed = 2, kCold = 0.2;

// So few ways that all of them can be tried.
bool is_tiny(const GroupProblem& problem) {
  constexpr double kMostWays = 2000;
  double ways = 1;
  for (const GroupProblem::Pod& pod : problem.pods)
    if (pod.fixed == GroupProblem::kNowhere) ways *= static_cast<double>(problem.nodes.size()) + 1;
  return ways <= kMostWays;
}

// The best of all ways; of equals that which was found.
GroupPlan tried(const GroupProblem& problem, GroupPlan best) {
  std::vector<std::uint32_t> places, free;
  for (std::uint32_t pod = 0; pod < problem.pods.size(); ++pod) {
    places.push_back(problem.pods[pod].fixed);
    if (places.back() == GroupProblem::kNowhere) free.push_back(pod);
  }
  const auto nodes = static_cast<std::uint32_t>(problem.nodes.size());
  const auto next = [&] {  // counts through all places of all free pods, nowhere last
    for (const std::uint32_t pod : free) {
      std::uint32_t& at = places[pod];
      at = at == GroupProblem::kNowhere ? 0 : at + 1 < nodes ? at + 1 : GroupProblem::kNowhere;
      if (at != GroupProblem::kNowhere) return true;
    }
    return false;
  };
  while (next()) {
    GroupPlan plan = plan_of(problem, places);
    const bool better =
        plan.placed != best.placed ? plan.placed > best.placed : plan.objective() < best.objective() - 1e-9;
    if (better && broken_rule(problem, places).empty()) best = std::move(plan);
  }
  return best;
}

GroupPlan searched(GroupSearch& search, std::vector<Start> starts, const GroupPlanOptions& options) {
  // Small problems are annealed more often, large ones more slowly.
  const GroupProblem& problem = search.layout().problem();
  const std::uint64_t rounds = std::clamp<std::uint64_t>(
      options.budget / (200 * problem.pods.size() * problem.nodes.size() + 1), 3, 12);
  std::sort(starts.begin(), starts.end());
  const std::uint64_t budget = options.budget > search.looks() ? options.budget - search.looks() : 0;
  search.restore(starts.front().places);
  const GroupSearch::Changes changes = search.sample_changes();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    // From the best there is, and every other time from another start: two that are equally good seldom are
    // alike.
    const bool other = round % 2 == 1 && round / 2 + 1 < starts.size() && round + 1 < rounds;
    search.restore(other ? starts[round / 2 + 1].places : search.best());
    const double melted = changes.typical * kMelted, warmed = std::min(melted, changes.small * kWarmed);
    search.anneal(budget / rounds, other || round == 0 ? melted : warmed, changes.small * kCold);
    search.descend(budget / 64);
  }
  GroupPlan found = plan_of(problem, search.best());
  return is_tiny(problem) ? tried(problem, std::move(found)) : found;
}

}  // namespace

GroupPlan plan_group(const GroupProblem& problem, const GroupPlanOptions& options) {
  GroupSearch search(problem, Random(options.seed));
  if (search.nothing_to_do()) return plan_of(problem, search.layout().places());
  return searched(search, grow_starts(search, options.budget / 8), options);
}

GroupPlan replan_group(const GroupProblem& problem, const std::vector<std::uint32_t>& start,
                       const GroupPlanOptions& options) {
  GroupSearch search(problem, Random(options.seed));
  if (search.nothing_to_do()) return plan_of(problem, search.layout().places());
  search.restore(start);
  search.grow(false);
  search.descend(options.budget / 16);
  std::vector<Start> starts{start_of(search)};
  for (Start& grown : grow_starts(search, options.budget / 8)) starts.push_back(std::move(grown));
  return searched(search, std::move(starts), options);
}

}  // namespace evenkeel::scheduling

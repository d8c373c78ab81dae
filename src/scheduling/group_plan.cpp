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

GroupPlan searched(GroupSearch& search, std::vector<Start> starts, const GroupPlanOptions& options) {
  constexpr std::uint64_t kRounds = 4;
  std::sort(starts.begin(), starts.end());
  const std::uint64_t budget = options.budget > search.looks() ? options.budget - search.looks() : 0;
  search.restore(starts.front().places);
  const double typical = search.typical_change();
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    // From the best there is, and once from the next best start: two that are equally good seldom are alike.
    const bool other = round == 1 && starts.size() > 1;
    search.restore(other ? starts[1].places : search.best());
    search.anneal(budget / kRounds, typical * (round + 1 == kRounds ? 0.25 : 0.6), typical * 0.02);
    search.descend(budget / 64);
  }
  return plan_of(search.layout().problem(), search.best());
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

#include "optimum/annealed_plan.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "optimum/mean_utilization.h"
#include "optimum/request_ledger.h"
#include "optimum/shared_processors.h"
#include "optimum/utilization_field.h"

namespace evenkeel::optimum {
namespace {

constexpr double kNowherePenalty = 1e6;        // whoever can be planned is
constexpr std::size_t kRefreshEvery = 4096;    // changes: rounding stays far below what matters
constexpr std::size_t kMostCells = 8'000'000;  // nodes times slots, 32 bytes each

class Annealer {
 public:
  Annealer(const PlanProblem& problem, Objective objective, Random random, const AnnealingOptions& options)
      : problem_(problem), options_(options), ledger_(problem), random_(random) {
    const std::size_t slots =
        std::max<std::size_t>(1, std::min(options.most_slots, kMostCells / (problem.nodes.size() + 1)));
    switch (objective) {
      case Objective::imbalance:
        costs_.push_back(std::make_unique<UtilizationField>(problem, FieldWeights{}, slots));
        break;
      case Objective::imbalance_of_means:
        costs_.push_back(std::make_unique<MeanUtilization>(problem));
        costs_.push_back(std::make_unique<UtilizationField>(problem, FieldWeights{0, 1}, slots));
        break;
      case Objective::mean_response:
        costs_.push_back(std::make_unique<SharedProcessors>(problem));
        break;
    }
    at_.assign(problem.pods.size(), kNowhere);
    find_reach();
  }

  Assignment run() {
    place_greedily();
    best_ = at_;
    const std::size_t tries = count_tries();
    const double hottest = typical_difference();
    for (std::size_t i = 0; i < tries; ++i) {
      const double left = 1 - static_cast<double>(i) / static_cast<double>(tries);
      const Change change = propose();
      if (change.from == change.to || !ledger_.fits(change)) continue;
      const double difference = difference_of(change);
      // Uphill with probability exp(-difference / temperature), without asking libm for it.
      if (difference > 0 && difference >= hottest * left * left * left * random_.exponential(1)) continue;
      make(change, difference);
    }
    return best_;
  }

 private:
  std::size_t nowhere() const { return problem_.nodes.size(); }
  std::size_t node_of(std::size_t pod) const { return at_[pod] == kNowhere ? nowhere() : at_[pod]; }

  // How far apart in the order of starts two pods may be and still meet, on average: worthwhile swaps.
  void find_reach() {
    double meetings = 0;
    for (auto pod = problem_.pods.begin(); pod != problem_.pods.end(); ++pod)
      meetings += static_cast<double>(
          std::lower_bound(pod + 1, problem_.pods.end(), pod->end_s,
                           [](const PlanPod& later, double end_s) { return later.start_s < end_s; }) -
          (pod + 1));
    reach_ = 1 + static_cast<std::size_t>(meetings / static_cast<double>(problem_.pods.size()));
  }

  std::size_t count_tries() const {
    std::size_t effort = 0;
    for (std::size_t pod = 0; pod < problem_.pods.size(); ++pod)
      for (const auto& cost : costs_) effort += cost->effort(pod);
    const std::size_t each = 1 + effort / problem_.pods.size();
    return std::min(options_.tries_per_pod * problem_.pods.size(), options_.effort / each);
  }

  void place_greedily() {
    for (std::size_t pod = 0; pod < problem_.pods.size(); ++pod) {
      Change best{pod, nowhere(), nowhere()};
      double least = kForever;
      for (std::size_t node = 0; node < problem_.nodes.size(); ++node) {
        const Change change{pod, nowhere(), node};
        if (!ledger_.fits(change)) continue;
        const double difference = difference_of(change);
        if (difference >= least) continue;
        least = difference;
        best = change;
      }
      if (best.to != nowhere()) make(best, 0);
    }
    cost_ = least_ = 0;
  }

  // The middling size of what a change does: hot enough to wander, not so hot as to forget the start.
  double typical_difference() {
    std::vector<double> sizes;
    for (int i = 0; i < 500; ++i) {
      const Change change = propose();
      if (change.from == change.to || change.from == nowhere() || !ledger_.fits(change)) continue;
      sizes.push_back(std::abs(difference_of(change)));
    }
    if (sizes.empty()) return 0;
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    return *middle * kHeat;
  }

  // from == to where there is nothing to be had.
  Change propose() {
    const std::size_t pod = random_.below(problem_.pods.size());
    const std::size_t from = node_of(pod);
    if (from == nowhere() || random_.chance(0.5)) return {pod, from, random_.below(problem_.nodes.size())};
    const std::size_t other = pod + 1 + random_.below(reach_);
    if (other >= problem_.pods.size() || at_[other] == kNowhere) return {};
    return {pod, from, node_of(other), other};
  }

  double difference_of(const Change& change) {
    double total = change.from == nowhere() ? -kNowherePenalty : 0;
    for (const auto& cost : costs_) total += cost->difference(change);
    return total;
  }

  void make(const Change& change, double difference) {
    ledger_.make(change);
    for (const auto& cost : costs_) cost->make(change);
    at_[change.pod] = static_cast<std::uint32_t>(change.to);
    if (change.other != kNobody) at_[change.other] = static_cast<std::uint32_t>(change.from);
    if (++changes_ % kRefreshEvery == 0)
      for (const auto& cost : costs_) cost->refresh(at_);
    cost_ += difference;
    if (cost_ >= least_) return;
    least_ = cost_;
    best_ = at_;
  }

  static constexpr double kHeat = 0.5;

  const PlanProblem& problem_;
  const AnnealingOptions& options_;
  RequestLedger ledger_;
  Random random_;
  std::vector<std::unique_ptr<PlanCost>> costs_;
  Assignment at_, best_;
  double cost_ = 0, least_ = 0;  // against the greedy start
  std::size_t reach_ = 1, changes_ = 0;
};

}  // namespace

Assignment annealed_plan(const PlanProblem& problem, Objective objective, Random random,
                         const AnnealingOptions& options) {
  if (problem.pods.empty() || problem.nodes.empty()) return Assignment(problem.pods.size(), kNowhere);
  return Annealer(problem, objective, random, options).run();
}

}  // namespace evenkeel::optimum

#include "optimum/placement_optimum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "optimum/placement_model.h"
#include "scheduling/group_plan.h"

namespace evenkeel::optimum {
namespace {

using scheduling::GroupPlan;
using scheduling::GroupProblem;
using Verdict = MixedAnswer::Verdict;

// What of a plan can be begun with: applications that it places whole, if they break no rule.
class Start {
 public:
  Start(const GroupProblem& problem, std::span<const std::uint32_t> application,
        std::vector<std::uint32_t> node_of)
      : node_of_(std::move(node_of)) {
    if (node_of_.size() != problem.pods.size()) node_of_.assign(problem.pods.size(), GroupProblem::kNowhere);
    const auto of = [&](std::size_t pod) { return application.empty() ? 0 : application[pod]; };
    std::vector<std::uint32_t> waiting, missing;
    for (std::size_t pod = 0; pod < node_of_.size(); ++pod) {
      if (of(pod) >= missing.size()) waiting.resize(of(pod) + 1), missing.resize(of(pod) + 1);
      const bool fixed = problem.pods[pod].fixed != GroupProblem::kNowhere;
      if (fixed) node_of_[pod] = problem.pods[pod].fixed;
      waiting[of(pod)] += fixed ? 0 : 1;
      missing[of(pod)] += node_of_[pod] == GroupProblem::kNowhere ? 1 : 0;
    }
    for (std::size_t pod = 0; pod < node_of_.size(); ++pod)
      if (missing[of(pod)] > 0 && problem.pods[pod].fixed == GroupProblem::kNowhere)
        node_of_[pod] = GroupProblem::kNowhere;
    for (std::size_t each = 0; each < waiting.size(); ++each)
      if (waiting[each] > 0 && missing[each] == 0) ++accepted_;
    usable_ = scheduling::broken_rule(problem, node_of_).empty();
    if (!usable_) accepted_ = 0;
  }
  bool usable() const { return usable_; }
  std::uint32_t accepted() const { return accepted_; }
  const std::vector<std::uint32_t>& node_of() const { return node_of_; }

 private:
  std::vector<std::uint32_t> node_of_;
  std::uint32_t accepted_ = 0;
  bool usable_ = false;
};

}  // namespace

double PlacementOptimum::gap() const {
  if (proven) return 0;
  const double reached = plan.objective();
  if (!std::isfinite(bound)) return std::numeric_limits<double>::infinity();
  return reached <= bound ? 0 : (reached - bound) / std::max(std::abs(reached), 1e-9);
}

Result<PlacementOptimum> find_optimum(const GroupProblem& problem, std::span<const std::uint32_t> application,
                                      const MixedSolver& solve, const OptimumOptions& options) {
  const Result<PlacementModel> model = PlacementModel::build(problem, application);
  if (!model) return model.error();
  PlacementOptimum result;
  result.applications = result.most_accepted = model->applications();
  Start start(problem, application, options.start);
  result.started = !options.start.empty() && start.usable();
  const auto ask = [&](const MixedProgram& program) -> Result<MixedAnswer> {
    MixedLimits limits{.seconds = std::max(0.0, options.seconds - result.seconds),
                       .start = {},
                       .progress = options.progress};
    if (start.usable()) {
      limits.start = model->columns_of(start.node_of());
      limits.start.resize(program.columns(), 0);
    }
    Result<MixedAnswer> answer = solve(program, limits);
    if (answer) {
      result.seconds += answer->seconds;
      result.branches += answer->branches;
    }
    return answer;
  };

  // Eq. 11. Nothing to prove where the plan that was given places them all.
  if (start.accepted() < model->applications()) {
    const Result<MixedAnswer> answer = ask(model->most_applications());
    if (!answer) return answer.error();
    if (answer->verdict == Verdict::infeasible)
      return invalid("pods that are placed already contradict each other: not even nothing can be placed");
    if (!answer->values.empty()) start = Start(problem, application, model->node_of(answer->values));
    const double left_out = std::max(0.0, std::ceil(answer->bound - 1e-6));
    result.most_accepted = answer->verdict == Verdict::optimal ? start.accepted()
                           : std::isfinite(left_out)
                               ? model->applications() - static_cast<std::uint32_t>(left_out)
                               : model->applications();
  }
  result.accepted = start.accepted();

  // Eq. 12, with eq. 13.
  const MixedProgram program = model->least_latency(result.accepted);
  result.columns = program.columns();
  result.rows = program.rows();
  const Result<MixedAnswer> answer = ask(program);
  if (!answer) return answer.error();
  if (answer->verdict == Verdict::infeasible)
    return unavailable("the solver finds no placement where there is one: its numerics failed");
  result.plan =
      scheduling::plan_of(problem, answer->values.empty() ? start.node_of() : model->node_of(answer->values));
  if (const std::string broken = scheduling::broken_rule(problem, result.plan.node_of); !broken.empty())
    return unavailable("the solver's answer is none: " + broken);
  result.proven = answer->verdict == Verdict::optimal && result.accepted == result.most_accepted;
  result.bound = answer->verdict == Verdict::optimal ? result.plan.objective() : answer->bound;
  return result;
}

}  // namespace evenkeel::optimum

#pragma once
#include "optimum/plan_problem.h"

namespace evenkeel::optimum {

// The mean response of finite tasks that start together and share what the base load leaves of their node's
// CPU in proportion to demand (PPO-LRT's peak; with one core each, processor sharing). On a node everybody
// runs at the same speed, so tasks end in the order of their work and a node's sum is a walk along it.
class SharedProcessors final : public PlanCost {
 public:
  explicit SharedProcessors(const PlanProblem& problem);

  double difference(const Change& change) override;
  void make(const Change& change) override;
  void refresh(const Assignment& assignment) override;
  std::size_t effort(std::size_t) const override { return effort_; }
  double value() const;

 private:
  struct Task {
    double work_s = 0, cores = 0;
    std::uint32_t rank = 0;  // by work, then by number
  };
  double response_sum(std::size_t node, std::size_t without, std::size_t with) const;

  std::vector<Task> tasks_;                     // by pod
  std::vector<double> free_;                    // cores, by node
  std::vector<std::vector<std::uint32_t>> on_;  // pods by rank; nowhere at the end
  std::vector<double> sums_;                    // of responses, by node; nowhere costs nothing
  std::size_t effort_ = 1;
};

}  // namespace evenkeel::optimum

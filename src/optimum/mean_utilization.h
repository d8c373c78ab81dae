#pragma once
#include "optimum/plan_problem.h"

namespace evenkeel::optimum {

// DRS eq. 13 of utilisations averaged over time first: a node may be idle now if it is busy later.
// Demand above capacity is not seen here; give UtilizationField's overload along.
class MeanUtilization final : public PlanCost {
 public:
  explicit MeanUtilization(const PlanProblem& problem);

  double difference(const Change& change) override;
  void make(const Change& change) override;
  void refresh(const Assignment& assignment) override;
  std::size_t effort(std::size_t) const override { return 1; }
  double value() const;

 private:
  Usage added_to(const Change& change, std::size_t node) const;

  const PlanProblem& problem_;
  std::vector<Usage> pods_;   // mean demand while it counts
  std::vector<Usage> nodes_;  // mean utilisation; nowhere at the end
  std::vector<Usage> per_unit_;
};

}  // namespace evenkeel::optimum

#pragma once
#include "optimum/plan_problem.h"

namespace evenkeel::optimum {

// Do requests fit at every moment? Nodes are fullest just before a pod ends, so only moments at which an end
// follows a start are looked at: one for pods that all come and stay, whatever their number.
class RequestLedger {
 public:
  explicit RequestLedger(const PlanProblem& problem);

  bool fits(const Change& change);
  void make(const Change& change);

 private:
  struct Span {
    std::size_t first = 0, last = 0;  // moments
  };
  bool has_room(std::size_t pod, std::size_t node) const;
  void count(std::size_t pod, std::size_t node, double sign);

  const PlanProblem& problem_;
  std::size_t kinds_ = 0, moments_ = 0;
  std::vector<Span> spans_;   // by pod
  std::vector<double> left_;  // [node][moment][kind]
};

}  // namespace evenkeel::optimum

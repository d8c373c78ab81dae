#include "autoscaling/policies/hpa.h"

#include <utility>

namespace evenkeel::autoscaling {

Recommendation Hpa::recommend(const ScalingRequest& request, Random&) {
  ReplicaProposal proposal =
      propose_replicas(request.spec, request.report, request.wanted, request.now, options_);
  if (!proposal.replicas) return {.unable = std::move(proposal.problem)};
  Recommendation answer{.replicas = *proposal.replicas};
  answer.reasons.push_back({"policy", answer.replicas, std::move(proposal.text)});
  if (!proposal.problem.empty())
    answer.reasons.push_back({"policy", answer.replicas, std::move(proposal.problem)});
  return answer;
}

}  // namespace evenkeel::autoscaling

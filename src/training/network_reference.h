#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "training/network_world.h"

namespace evenkeel::training {

// What a solver can say of a problem within a time: the best it found and what nothing can be below.
struct ProvenPlan {
  std::vector<std::uint32_t> node_of;
  double bound = 0;  // of the latency, in units of cost
  bool proven = false;
  double seconds = 0;
};
// From a plan that is known already. Nothing: it cannot tell.
using ProvePlan = std::function<std::optional<ProvenPlan>(
    const scheduling::GroupProblem& problem, const std::vector<std::uint32_t>& start, Duration limit)>;

// The best there is for a world, or the best that is known: as many applications as can be (eq. 11), then the
// least latency (eq. 12).
struct NetworkReference {
  std::vector<std::uint32_t> node_of;
  NetworkJudgement judgement;
  bool most_applications = false;  // no placement has more of them
  bool least_latency = false;      // and none of so many a lower latency
  double bound_ms = 0;             // of the latency of these applications
  double solver_s = 0;
};

// By the planner with a budget far beyond what a scheduler takes, from many seeds.
NetworkReference best_known(const NetworkWorld& world);
// That, and what `prove` makes of it.
NetworkReference proven(const NetworkWorld& world, const ProvePlan& prove, Duration limit);

// (latency - least) / least; where the least is nothing, each millisecond counts as 100 %.
double gap(double latency_ms, double least_ms);

// One reference for each world that differs from those before: seeds often only draw another order of pods.
// May be asked from several threads.
class NetworkReferences {
 public:
  // `prove`: none, and the best known has to do.
  NetworkReferences(ProvePlan prove, Duration limit) : prove_(std::move(prove)), limit_(limit) {}
  NetworkReference of(const NetworkWorld& world, const simulator::WorldPlan& plan);

 private:
  ProvePlan prove_;
  Duration limit_;
  std::mutex mutex_;
  std::map<std::string, NetworkReference> known_;  // by the world's numbers, its pods in order of their names
};

}  // namespace evenkeel::training

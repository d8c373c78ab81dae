#include "training/network_reference.h"

#include <algorithm>
#include <numeric>

#include "scheduling/group_plan.h"

namespace evenkeel::training {
namespace {

using scheduling::GroupPlan;
using scheduling::GroupProblem;

constexpr std::uint32_t kNowhere = GroupProblem::kNowhere;
constexpr std::uint64_t kStarts = 4;

// The problem of some of the groups alone.
struct Part {
  NetworkWorld world;
  std::vector<std::uint32_t> pods;  // of the part: its number in the whole
};

Part part_of(const NetworkWorld& whole, const std::vector<std::uint8_t>& wanted) {
  Part part{whole, {}};
  GroupProblem& problem = part.world.problem;
  problem.pods.clear();
  std::vector<std::uint32_t> number(whole.problem.pods.size(), kNowhere);
  for (std::uint32_t p = 0; p < number.size(); ++p) {
    if (!wanted[whole.group[p]]) continue;
    number[p] = static_cast<std::uint32_t>(part.pods.size());
    part.pods.push_back(p);
    problem.pods.push_back(whole.problem.pods[p]);
  }
  std::erase_if(problem.edges, [&](const GroupProblem::Edge& edge) { return number[edge.from] == kNowhere; });
  for (GroupProblem::Edge& edge : problem.edges) {
    edge.from = number[edge.from];
    edge.to = number[edge.to];
  }
  std::erase_if(problem.apart,
                [&](const GroupProblem::Apart& apart) { return number[apart.pods.front()] == kNowhere; });
  for (GroupProblem::Apart& apart : problem.apart)
    for (std::uint32_t& pod : apart.pods) pod = number[pod];
  return part;
}

GroupPlan long_search(const GroupProblem& problem, std::uint64_t starts) {
  GroupPlan best;
  for (std::uint64_t seed = 1; seed <= starts; ++seed) {
    const GroupPlan plan =
        scheduling::plan_group(problem, {scheduling::GroupPlanOptions::kHundredMilliseconds, seed});
    const bool better =
        plan.placed > best.placed || (plan.placed == best.placed && plan.latency < best.latency);
    if (seed == 1 || better) best = plan;
  }
  return best;
}

// What each application asks for, as shares of all that the nodes have free: by resource.
std::vector<std::vector<double>> shares_of(const NetworkWorld& world) {
  const GroupProblem& problem = world.problem;
  std::vector<double> all(problem.pods.empty() ? 0 : problem.pods.front().request.size());
  for (const GroupProblem::Node& node : problem.nodes)
    for (std::size_t r = 0; r < all.size(); ++r) all[r] += std::max(0.0, node.free[r]);
  std::vector<std::vector<double>> shares(world.groups, std::vector<double>(all.size()));
  for (std::size_t p = 0; p < problem.pods.size(); ++p)
    for (std::size_t r = 0; r < all.size(); ++r)
      if (all[r] > 0) shares[world.group[p]][r] += problem.pods[p].request[r] / all[r];
  return shares;
}

// No placement has more applications than would fit if pods were water.
std::size_t most_by_volume(const std::vector<std::vector<double>>& shares) {
  std::size_t most = shares.size();
  for (std::size_t r = 0; !shares.empty() && r < shares.front().size(); ++r) {
    std::vector<double> sizes;
    for (const std::vector<double>& share : shares) sizes.push_back(share[r]);
    std::sort(sizes.begin(), sizes.end());
    std::size_t count = 0;
    for (double sum = 0; count < sizes.size(); ++count)
      if ((sum += sizes[count]) > 1 + 1e-9) break;
    most = std::min(most, count);
  }
  return most;
}

// Which applications: all where they fit, else the smallest ones, as many as the planner finds room for. Says
// whether no more can be.
std::vector<std::uint8_t> most_applications(const NetworkWorld& world, bool& proven) {
  const std::vector<std::vector<double>> shares = shares_of(world);
  const auto size = [&](std::uint32_t group) {
    return shares[group].empty() ? 0 : *std::max_element(shares[group].begin(), shares[group].end());
  };
  std::vector<std::uint32_t> order(world.groups);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return size(a) != size(b) ? size(a) < size(b) : a < b; });
  const std::size_t bound = most_by_volume(shares);
  std::size_t count = bound;
  std::vector<std::uint8_t> wanted(world.groups);
  for (;; --count) {
    std::fill(wanted.begin(), wanted.end(), 0);
    for (std::size_t i = 0; i < count; ++i) wanted[order[i]] = 1;
    const Part part = part_of(world, wanted);
    if (count == 0 || long_search(part.world.problem, 1).placed == part.pods.size()) break;
  }
  proven = count == bound;
  return wanted;
}

NetworkReference reference_of(const NetworkWorld& world, const Part& part,
                              const std::vector<std::uint32_t>& plan) {
  NetworkReference reference;
  reference.node_of.assign(world.problem.pods.size(), kNowhere);
  for (std::size_t i = 0; i < part.pods.size(); ++i) reference.node_of[part.pods[i]] = plan[i];
  reference.judgement = judge(world, reference.node_of);
  return reference;
}

// The world's numbers as bytes; pods by the names of their plans, since seeds shuffle them.
std::string key_of(const NetworkWorld& world, const simulator::WorldPlan& plan) {
  std::string key;
  const auto put = [&](double value) { key.append(reinterpret_cast<const char*>(&value), sizeof value); };
  for (const GroupProblem::Node& node : world.problem.nodes) {
    put(node.zone);
    for (const double free : node.free) put(free);
    put(node.egress);
  }
  for (const double cost : world.problem.cost) put(cost);
  std::vector<std::string> names;
  for (const std::uint32_t i : world.plans) names.push_back(plan.pods[i].name);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) key += name + '\n';
  return key;
}

}  // namespace

double gap(double latency_ms, double least_ms) {
  if (latency_ms <= least_ms) return 0;
  return least_ms > 0 ? latency_ms / least_ms - 1 : latency_ms;
}

NetworkReference best_known(const NetworkWorld& world) { return proven(world, nullptr, {}); }

NetworkReference proven(const NetworkWorld& world, const ProvePlan& prove, Duration limit) {
  bool most = false;
  const Part part = part_of(world, most_applications(world, most));
  const GroupPlan plan = long_search(part.world.problem, kStarts);
  NetworkReference reference = reference_of(world, part, plan.node_of);
  std::optional<ProvenPlan> proof;
  if (prove) proof = prove(part.world.problem, plan.node_of, limit);
  double bound = 0;
  if (proof) {
    const NetworkReference better = reference_of(world, part, proof->node_of);
    if (better.judgement.applications >= reference.judgement.applications &&
        better.judgement.latency_ms < reference.judgement.latency_ms)
      reference = better;
    bound = proof->bound;
    reference.solver_s = proof->seconds;
  }
  reference.most_applications = most;
  reference.bound_ms = bound * world.unit_ms;
  reference.least_latency =
      most && ((proof && proof->proven) || reference.judgement.latency_ms <= reference.bound_ms + 1e-6);
  return reference;
}

NetworkReference NetworkReferences::of(const NetworkWorld& world, const simulator::WorldPlan& plan) {
  // By name: pods of the world in the order of `by_name` are the pods of the key.
  std::vector<std::uint32_t> by_name(world.plans.size());
  std::iota(by_name.begin(), by_name.end(), 0U);
  std::sort(by_name.begin(), by_name.end(), [&](std::uint32_t a, std::uint32_t b) {
    return plan.pods[world.plans[a]].name < plan.pods[world.plans[b]].name;
  });
  const std::string key = key_of(world, plan);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(key); found != known_.end()) {
      NetworkReference reference = found->second;
      for (std::size_t i = 0; i < by_name.size(); ++i)
        reference.node_of[by_name[i]] = found->second.node_of[i];
      return reference;
    }
  }
  NetworkReference reference = proven(world, prove_, limit_);
  NetworkReference kept = reference;
  for (std::size_t i = 0; i < by_name.size(); ++i) kept.node_of[i] = reference.node_of[by_name[i]];
  const std::lock_guard lock(mutex_);
  known_.emplace(key, std::move(kept));
  return reference;
}

}  // namespace evenkeel::training

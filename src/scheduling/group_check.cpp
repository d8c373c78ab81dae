// What a plan comes to and what it breaks, from the problem alone: nothing here is shared with the search.
#include <map>
#include <set>

#include "scheduling/group_plan.h"

namespace evenkeel::scheduling {
namespace {

constexpr std::uint32_t kNowhere = GroupProblem::kNowhere;
constexpr double kSlack = 1e-6;  // of what is there

bool exceeds(double used, double room) {
  return used > 0 && used > room + kSlack * (room < 0 ? -room : room);
}

std::string pod_name(std::uint32_t pod) { return "pod " + std::to_string(pod); }

class Check {
 public:
  Check(const GroupProblem& problem, const std::vector<std::uint32_t>& node_of)
      : problem_(problem), node_of_(node_of) {}

  std::string resources() const {
    std::map<std::uint32_t, std::vector<double>> asked;
    for (std::uint32_t p = 0; p < node_of_.size(); ++p) {
      const std::uint32_t node = node_of_[p];
      const GroupProblem::Pod& pod = problem_.pods[p];
      if (pod.fixed != kNowhere && node != pod.fixed) return pod_name(p) + " was moved";
      if (node == kNowhere || pod.fixed != kNowhere) continue;
      if (!pod.allowed.empty() && !pod.allowed[node]) return pod_name(p) + " may not be there";
      auto& sum = asked[node];
      sum.resize(std::max(sum.size(), pod.request.size()), 0);
      for (std::size_t r = 0; r < pod.request.size(); ++r) sum[r] += pod.request[r];
    }
    for (const auto& [node, sum] : asked)
      for (std::size_t r = 0; r < sum.size(); ++r)
        if (exceeds(sum[r], problem_.nodes[node].free[r]))
          return "node " + std::to_string(node) + " is over-committed";
    return "";
  }

  std::string apart() const {
    for (const GroupProblem::Apart& rule : problem_.apart) {
      std::set<std::uint32_t> taken;
      for (std::uint32_t at = 0; at < rule.taken.size(); ++at)
        if (rule.taken[at]) taken.insert(at);
      const auto place = [&](std::uint32_t pod) {
        return rule.by_zone ? problem_.nodes[node_of_[pod]].zone : node_of_[pod];
      };
      for (const std::uint32_t pod : rule.pods)
        if (problem_.pods[pod].fixed != kNowhere) taken.insert(place(pod));
      for (const std::uint32_t pod : rule.pods)
        if (problem_.pods[pod].fixed == kNowhere && node_of_[pod] != kNowhere &&
            !taken.insert(place(pod)).second)
          return pod_name(pod) + " is not apart";
    }
    return "";
  }

  std::string network() const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> zones, regions;
    std::map<std::uint32_t, double> nodes;
    for (const GroupProblem::Edge& edge : problem_.edges) {
      const std::uint32_t from = node_of_[edge.from], to = node_of_[edge.to];
      const bool settled =
          problem_.pods[edge.from].fixed != kNowhere && problem_.pods[edge.to].fixed != kNowhere;
      if (from == kNowhere || to == kNowhere || settled) continue;
      if (problem_.distance(from, to) > edge.max_cost || problem_.distance(to, from) > edge.max_cost)
        return pod_name(edge.from) + " is too far from " + pod_name(edge.to);
      if (from == to) continue;
      const std::uint32_t a = problem_.nodes[from].zone, b = problem_.nodes[to].zone;
      nodes[from] += edge.bandwidth;
      if (a == b) continue;
      const std::uint32_t here = problem_.region[a], there = problem_.region[b];
      here == there ? zones[{a, b}] += edge.bandwidth : regions[{here, there}] += edge.bandwidth;
    }
    for (const auto& [node, used] : nodes)
      if (exceeds(used, problem_.nodes[node].egress))
        return "node " + std::to_string(node) + " sends too much";
    for (const auto& [link, used] : zones)
      if (!problem_.zone_room.empty() &&
          exceeds(used, problem_.zone_room[link.first * problem_.zones + link.second]))
        return "too much between two zones";
    for (const auto& [link, used] : regions)
      if (!problem_.region_room.empty() &&
          exceeds(used, problem_.region_room[link.first * problem_.regions + link.second]))
        return "too much between two regions";
    return "";
  }

 private:
  const GroupProblem& problem_;
  const std::vector<std::uint32_t>& node_of_;
};

}  // namespace

std::string broken_rule(const GroupProblem& problem, const std::vector<std::uint32_t>& node_of) {
  const Check check(problem, node_of);
  if (std::string broken = check.resources(); !broken.empty()) return broken;
  if (std::string broken = check.apart(); !broken.empty()) return broken;
  return check.network();
}

GroupPlan plan_of(const GroupProblem& problem, std::vector<std::uint32_t> node_of) {
  GroupPlan plan{.node_of = std::move(node_of)};
  for (const GroupProblem::Edge& edge : problem.edges) {
    const std::uint32_t from = plan.node_of[edge.from], to = plan.node_of[edge.to];
    if (edge.from != edge.to && from != kNowhere && to != kNowhere)
      plan.latency += edge.weight * problem.distance(from, to);
  }
  for (std::size_t p = 0; p < plan.node_of.size(); ++p) {
    if (plan.node_of[p] == kNowhere) continue;
    ++plan.placed;
    if (!problem.pods[p].bias.empty()) plan.bias += problem.pods[p].bias[plan.node_of[p]];
  }
  return plan;
}

}  // namespace evenkeel::scheduling

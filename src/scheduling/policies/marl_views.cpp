#include "scheduling/policies/marl_views.h"

#include <algorithm>

#include "scheduling/pod_network.h"

namespace evenkeel::scheduling {
namespace {

// Mean network cost from each node to whom the pod talks; empty: to nobody.
std::vector<float> mean_delays(const PlacementRequest& request) {
  if (request.pod.shape->app_group.empty()) return {};
  const NetworkArguments& arguments = request.options.profile.network;
  const PodNetwork network(request.pod, request.cluster, arguments);
  const std::size_t edges = edges_of(request.pod, request.cluster, arguments).size();
  if (!network.has_peers() || edges == 0) return {};
  std::vector<std::int64_t> costs(request.feasible.size());
  network.costs(costs);
  std::vector<float> delays(costs.size());
  for (std::size_t i = 0; i < costs.size(); ++i)
    delays[i] = static_cast<float>(static_cast<double>(costs[i]) / static_cast<double>(edges));
  return delays;
}

}  // namespace

std::span<AgentViews::View> AgentViews::look(const PlacementRequest& request, MarlEncoding encoding,
                                             std::size_t most, Random* random) {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < request.feasible.size(); ++slot)
    if (request.feasible[slot]) slots.push_back(slot);
  if (random && slots.size() > most) {
    random->shuffle(slots);
    slots.resize(most);
    std::sort(slots.begin(), slots.end());
  }
  const ClusterShares shares = cluster_shares(request.cluster);
  const PodQuestion question = pod_question(request);
  const std::vector<float> delays = mean_delays(request);
  const bool looks_ahead = encoding == MarlEncoding::shared;
  if (looks_ahead) forecasts_.refresh(request);
  views_.resize(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const NodeId node{slots[i]};
    views_[i] = {node, {own_node_now(request.cluster, node), shares, question}};
    AgentView& seen = views_[i].seen;
    if (!delays.empty()) seen.pod.delay = delays[node.slot];
    if (!looks_ahead) continue;
    seen.node.ahead_s = forecasts_.ahead_s();
    for (std::size_t k = 0; k < OwnNode::kMoments; ++k) {
      const UtilizationField field = forecasts_.at(k);
      for (std::size_t d = 0; d < kDimensions; ++d)
        seen.node.ahead[k].of[d] = static_cast<double>(field[d][node.slot]) * seen.node.capacity.of[d];
    }
  }
  return views_;
}

void AgentDiaries::settle(std::span<const AgentViews::View> asked, NodeId winner, Time now) {
  for (const AgentViews::View& view : asked) {
    if (view.node != winner && reward_.kind == MarlReward::difference) continue;
    if (diaries_.size() <= view.node.slot) diaries_.resize(view.node.slot + 1);
    std::optional<MarlDiary>& diary = diaries_[view.node.slot];
    if (!diary) diary.emplace(inputs_, reward_);
    (void)diary->settle(view.seen, view.node == winner, now);
    next_ = std::min(next_, diary->review_at());
  }
}

void AgentDiaries::forget(PodId pod) {
  const PodKey key = pod_key(pod);
  for (std::optional<MarlDiary>& diary : diaries_)
    if (diary) diary->forget(key);
}

std::vector<AgentDiaries::Completed> AgentDiaries::review(const ClusterState& cluster, Time now) {
  std::vector<Completed> completed;
  const ClusterShares shares = cluster_shares(cluster);
  next_ = Time::max();
  for (std::uint32_t slot = 0; slot < diaries_.size(); ++slot) {
    const NodeId node{slot};
    std::optional<MarlDiary>& diary = diaries_[slot];
    if (!diary) continue;
    if (!cluster.has_node(node)) {  // its pods are gone with it, and nobody is left to learn
      diary.reset();
      continue;
    }
    if (diary->review_at() <= now) {
      const auto use_of = [&](const PodKey& key) -> std::optional<Usage> {
        const PodRecord* record = cluster.pod(pod_id(key));
        if (!record || record->place == PodPlace::pending || record->node != node) return std::nullopt;
        return record->expected.mean;
      };
      const AgentView view{own_node_now(cluster, node), shares, {}};
      for (learning::Experience& experience : diary->review(now, view, use_of))
        completed.push_back({node, std::move(experience)});
    }
    next_ = std::min(next_, diary->review_at());
  }
  return completed;
}

void AgentDiaries::clear() {
  diaries_.clear();
  next_ = Time::max();
}

}  // namespace evenkeel::scheduling

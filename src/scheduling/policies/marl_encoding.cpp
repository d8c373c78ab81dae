#include "scheduling/policies/marl_encoding.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "scheduling/imbalance.h"
#include "scheduling/policies/marl_reward.h"

namespace evenkeel::scheduling {
namespace {

using learning::FeatureRange;
using learning::Real;

constexpr double kShareScale = 5;    // utilisations differ by tenths, weights begin near one
constexpr double kFarthest = 100;    // a network cost that counts as 1: upstream's dearest
constexpr double kLongLife = 120;    // seconds: a life that counts as a half
constexpr double kLargeCluster = 4;  // logarithm of so many nodes counts as 1
// Moments of OwnNode::ahead that are inputs by themselves; in what the pod would do to balance all five are.
constexpr std::array<std::size_t, 2> kShown{2, 4};

double finite(double value) { return std::isfinite(value) ? value : 0; }
double share(double part, double whole) { return whole > 0 ? finite(part / whole) : 0; }
double share_of(const Usage& part, const OwnNode& node, std::size_t d) {
  return share(part.of[d], node.capacity.of[d]);
}
constexpr auto kRead = static_cast<std::size_t>(Dimension::read);
constexpr auto kWrite = static_cast<std::size_t>(Dimension::write);
constexpr auto kCpu = static_cast<std::size_t>(Dimension::cpu);
constexpr auto kMemory = static_cast<std::size_t>(Dimension::memory);

// Priorities reach from a handful to two thousand millions: by their digits.
double priority_input(std::int32_t priority) {
  return std::copysign(std::log10(1 + std::abs(static_cast<double>(priority))) / 9, priority);
}

// Fills in inputs one after the other.
class Writer {
 public:
  explicit Writer(std::span<Real> into) : into_(into) {}
  void add(double value) { into_[at_++] = std::clamp(finite(value), -kInputLimit, kInputLimit); }
  bool full() const { return at_ == into_.size(); }

 private:
  std::span<Real> into_;
  std::size_t at_ = 0;
};

void encode_thesis(const AgentView& view, const MarlInputs& inputs, Writer& out) {
  const OwnNode& node = view.node;
  const auto used = disk_as_one(shares_used(node));
  for (const double u : used) out.add(u);
  out.add(node.healthy ? 1 : 0);
  out.add(share(node.pods, node.pod_capacity));
  for (const double u : disk_as_one(shares_used(view.cluster))) out.add(u);
  out.add(share(view.pod.cpu, node.capacity.of[kCpu]));
  out.add(share(view.pod.memory, node.capacity.of[kMemory]));
  out.add(inputs.delay ? static_cast<double>(view.pod.delay) / kFarthest : 0);
  out.add(inputs.priority ? priority_input(view.pod.priority) : 0);
}

void encode_shared(const AgentView& view, Writer& out) {
  const OwnNode& node = view.node;
  for (std::size_t d = 0; d < kDimensions; ++d) out.add(kShareScale * share_of(node.used, node, d));
  for (const std::size_t k : kShown)
    for (std::size_t d = 0; d < kDimensions; ++d) out.add(kShareScale * share_of(node.ahead[k], node, d));
  for (const float mean : view.cluster.used) out.add(kShareScale * static_cast<double>(mean));
  for (const float spread : view.cluster.spread) out.add(kShareScale * static_cast<double>(spread));
  for (std::size_t d = 0; d < kDimensions; ++d) out.add(kShareScale * share_of(view.pod.expected, node, d));
  const auto life = static_cast<double>(view.pod.life);
  out.add(life > 0 ? life / (life + kLongLife) : 0);
  out.add(life > 0 ? 0 : 1);
  out.add(kShareScale * share(view.pod.cpu, node.capacity.of[kCpu]));
  out.add(kShareScale * share(view.pod.memory, node.capacity.of[kMemory]));
  out.add(kShareScale * share(node.pods, node.pod_capacity));
  out.add(node.healthy ? 1 : 0);
  out.add(std::log(std::max(1.0, static_cast<double>(view.cluster.nodes))) / kLargeCluster);
  out.add(static_cast<double>(view.pod.delay) / kFarthest);
  out.add(priority_input(view.pod.priority));
  for (const double change : expected_differences(view)) out.add(kDifferenceScale * change);
}

}  // namespace

std::string_view encoding_name(MarlEncoding encoding) {
  return encoding == MarlEncoding::thesis ? "marl" : "marl-shared";
}

std::vector<FeatureRange> marl_normalisation(MarlEncoding encoding) {
  std::vector<FeatureRange> ranges;
  const auto add = [&](const std::string& feature, double high) { ranges.push_back({feature, 0, high}); };
  if (encoding == MarlEncoding::thesis) {
    for (const char* name : {"node.cpu", "node.memory", "node.disk", "node.healthy", "node.pods",
                             "cluster.cpu", "cluster.memory", "cluster.disk", "pod.cpu", "pod.memory"})
      add(name, 1);
    add("pod.delay", kFarthest);
    add("pod.priority_digits", 9);
    return ranges;
  }
  const auto add_all = [&](const std::string& of, const std::string& when) {
    for (const std::string_view d : kDimensionNames) add(of + std::string(d) + when, 1 / kShareScale);
  };
  add_all("node.", "");
  for (const std::size_t k : kShown) add_all("node.", "_" + std::to_string(k));
  add_all("mean.", "");
  add_all("spread.", "");
  add_all("pod.", "");
  add("pod.life", 1);
  add("pod.life_unknown", 1);
  for (const char* name : {"pod.cpu_asked", "pod.memory_asked", "node.pods"}) add(name, 1 / kShareScale);
  add("node.healthy", 1);
  add("cluster.nodes", kLargeCluster);
  add("pod.delay", kFarthest);
  add("pod.priority_digits", 9);
  for (std::size_t k = 0; k < OwnNode::kMoments; ++k)
    add("difference_" + std::to_string(k), 1 / kDifferenceScale);
  return ranges;
}

std::size_t input_count(MarlEncoding encoding) {
  constexpr std::size_t kThesis = 12, kShared = (4 + kShown.size()) * kDimensions + 9 + OwnNode::kMoments;
  return encoding == MarlEncoding::thesis ? kThesis : kShared;
}

void encode(const AgentView& view, const MarlInputs& inputs, std::span<Real> into) {
  EVENKEEL_CHECK(into.size() == input_count(inputs.encoding));
  Writer out(into);
  if (inputs.encoding == MarlEncoding::thesis)
    encode_thesis(view, inputs, out);
  else
    encode_shared(view, out);
  EVENKEEL_CHECK(out.full());
}

std::vector<Real> encode(const AgentView& view, const MarlInputs& inputs) {
  std::vector<Real> state(input_count(inputs.encoding));
  encode(view, inputs, state);
  return state;
}

OwnNode own_node_now(const ClusterState& cluster, NodeId id) {
  const Node& known = cluster.node(id);
  OwnNode own;
  own.capacity = known.capacity;
  own.used = cluster.load(id).mean;
  own.base = cluster.base_load(id);
  own.healthy = known.conditions.ready == ConditionStatus::yes;
  own.pods = static_cast<double>(cluster.pods_on(id).size());
  own.pod_capacity = static_cast<double>(known.max_pods);
  own.ahead.fill(own.used);
  return own;
}

OwnNode own_node(const ClusterState& cluster, const prediction::WorkloadHistory& history, NodeId id, Time now,
                 Duration horizon) {
  OwnNode own = own_node_now(cluster, id);
  own.ahead_s = NodeForecasts::moments_s(horizon);
  own.ahead.fill(own.base);
  for (const PodId pod : cluster.pods_on(id)) {
    const PodRecord& record = *cluster.pod(pod);
    const prediction::Lifetime life = history.lifetime(record.pod);
    const double age = record.started ? to_seconds(now - record.since) : 0;
    std::array<double, OwnNode::kMoments> alive;
    life.survival(age, own.ahead_s, alive);
    const Usage plan = NodeForecasts::planned(record.expected);
    for (std::size_t k = 0; k < OwnNode::kMoments; ++k) own.ahead[k] += plan * alive[k];
  }
  return own;
}

ClusterShares cluster_shares(const ClusterState& cluster) {
  const NodeColumns& columns = cluster.columns();
  UtilizationField field;
  for (std::size_t d = 0; d < kDimensions; ++d) field[d] = columns.utilization[d];
  ClusterShares shares;
  if (cluster.node_count() == 0) return shares;
  const Imbalance imbalance = imbalance_of(field, cluster.node_count());
  for (std::size_t d = 0; d < kDimensions; ++d) {
    shares.used[d] = static_cast<float>(imbalance.mean[d]);
    shares.spread[d] = static_cast<float>(std::sqrt(imbalance.variance[d]));
  }
  double cpu = 0, memory = 0, cpu_of = 0, memory_of = 0;
  for (std::size_t slot = 0; slot < columns.size(); ++slot) {
    if (!columns.present[slot]) continue;
    cpu += columns.requested_cpu[slot];
    memory += columns.requested_memory[slot];
    cpu_of += columns.allocatable_cpu[slot];
    memory_of += columns.allocatable_memory[slot];
  }
  shares.cpu_requested = static_cast<float>(share(cpu, cpu_of));
  shares.memory_requested = static_cast<float>(share(memory, memory_of));
  shares.nodes = static_cast<std::uint32_t>(cluster.node_count());
  shares.pods = static_cast<std::uint32_t>(cluster.pod_count());
  return shares;
}

PodQuestion pod_question(const PlacementRequest& request) {
  PodQuestion question;
  question.pod = pod_key(request.pod.id);
  question.priority = request.pod.spec().priority;
  question.cpu = static_cast<double>(request.pod.shape->request.cpu.count) / 1000;
  question.memory = static_cast<double>(request.pod.shape->request.memory.count);
  question.expected = NodeForecasts::planned(request.demand);
  const prediction::Lifetime life = request.history.lifetime(request.pod);
  question.life = life.endless ? 0 : static_cast<float>(life.median_s());
  return question;
}

PodKey pod_key(PodId pod) {
  PodKey key;
  for (std::size_t i = 0; i < 4; ++i) {
    key.bytes[i] = static_cast<std::uint8_t>(pod.slot >> (8 * i));
    key.bytes[4 + i] = static_cast<std::uint8_t>(pod.generation >> (8 * i));
  }
  return key;
}

PodId pod_id(const PodKey& key) {
  PodId pod;
  for (std::size_t i = 0; i < 4; ++i) {
    pod.slot |= static_cast<std::uint32_t>(key.bytes[i]) << (8 * i);
    pod.generation |= static_cast<std::uint32_t>(key.bytes[4 + i]) << (8 * i);
  }
  return pod;
}

std::array<double, kDimensions> shares_used(const OwnNode& node) {
  std::array<double, kDimensions> shares;
  for (std::size_t d = 0; d < kDimensions; ++d) shares[d] = share_of(node.used, node, d);
  return shares;
}

std::array<double, kDimensions> shares_used(const ClusterShares& cluster) {
  std::array<double, kDimensions> shares;
  for (std::size_t d = 0; d < kDimensions; ++d) shares[d] = static_cast<double>(cluster.used[d]);
  return shares;
}

std::array<double, 3> disk_as_one(const std::array<double, kDimensions>& shares) {
  return {shares[kCpu], shares[kMemory], std::max(shares[kRead], shares[kWrite])};
}

}  // namespace evenkeel::scheduling

#include "cluster/cluster_state.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace evenkeel {
namespace {

constexpr Duration kRecent = std::chrono::minutes{15};
constexpr Duration kWindow = std::chrono::seconds{1};  // of samples averaged for measured_use

bool beyond_columns(const Resources& r) { return r.ephemeral_storage.count != 0 || !r.extended.empty(); }

bool is_odd(const Node& node) {
  const auto even = [](std::int64_t whole) { return whole > 0 && static_cast<double>(whole) <= kEvenWhole; };
  return !even(node.allocatable.cpu.count) || !even(node.allocatable.memory.count);
}

// How much of what was known counts beside a sample that comes so much later: one step of an exponential
// average, to first order: a sample a minute needs no more.
double kept_after(Duration passed) {
  return to_seconds(kRecent) / (to_seconds(kRecent) + std::max(0.0, to_seconds(passed)));
}

float per_unit(double capacity) { return capacity > 0 ? static_cast<float>(1.0 / capacity) : 0.0F; }

}  // namespace

double percent_per(double whole) {
  const double infinity = std::numeric_limits<double>::infinity();
  return std::nextafter(std::nextafter(100.0 / whole, infinity), infinity);
}

void ClusterState::grow(std::size_t nodes) {
  if (nodes <= nodes_.size()) return;
  ++node_shapes_;
  nodes_.resize(nodes);
  versions_.resize(nodes);
  NodeColumns& c = columns_;
  for (auto* column : {&c.present, &c.tainted, &c.cordoned}) column->resize(nodes);
  for (auto* column :
       {&c.allocatable_cpu, &c.allocatable_memory, &c.requested_cpu, &c.requested_memory, &c.free_cpu,
        &c.free_memory, &c.room_cpu, &c.room_memory, &c.percent_per_cpu, &c.percent_per_memory})
    column->resize(nodes);
  for (auto* column : {&c.pods, &c.free_pods, &c.cpu_share, &c.memory_share, &c.per_cpu_near,
                       &c.per_memory_near, &c.balance})
    column->resize(nodes);
  c.zone.resize(nodes);
  for (std::size_t d = 0; d < kDimensions; ++d)
    for (auto* column : {&c.utilization[d], &c.per_unit[d], &c.variance[d]}) column->resize(nodes);
}

void ClusterState::set_node(const Node& node) {
  grow(node.id.slot + std::size_t{1});
  ++nodes_version_;
  NodeEntry& entry = nodes_[node.id.slot];
  if (!columns_.present[node.id.slot]) ++node_count_;
  const std::size_t i = node.id.slot;
  count_kinds(entry.node, i, -1);
  const bool same_images = columns_.present[i] && entry.node.images == node.images;
  if (!same_images && columns_.present[i]) count_images(entry.node.images, node.id.slot, false);
  if (!same_images) count_images(node.images, node.id.slot, true);
  if (entry.node.name != node.name || !columns_.present[i]) node_names_[node.name] = node.id;
  const bool same_labels = columns_.present[i] && entry.node.labels == node.labels;
  const bool same_name = entry.node.name == node.name;
  if (!same_labels || entry.node.allocatable.extended != node.allocatable.extended) ++node_shapes_;
  entry.node = node;
  columns_.present[i] = 1;
  count_kinds(entry.node, i, 1);
  columns_.tainted[i] = !node.taints.empty();
  columns_.cordoned[i] = node.unschedulable;
  columns_.zone[i] = zone_number(node.labels);
  if (!same_labels)
    for (auto& [key, topology] : topologies_) topology.set(i, node.labels.find(key));
  if (!same_labels || !same_name) node_matches_.node_set(i, node);
  const auto cpu = static_cast<double>(node.allocatable.cpu.count);
  const auto memory = static_cast<double>(node.allocatable.memory.count);
  columns_.room_cpu[i] += cpu - columns_.allocatable_cpu[i];
  columns_.room_memory[i] += memory - columns_.allocatable_memory[i];
  columns_.allocatable_cpu[i] = cpu;
  columns_.allocatable_memory[i] = memory;
  const bool both = cpu > 0 && memory > 0, odd = is_odd(node);
  columns_.per_cpu_near[i] = both ? static_cast<float>(1 / cpu) : 0.0F;
  columns_.per_memory_near[i] = both ? static_cast<float>(1 / memory) : 0.0F;
  columns_.percent_per_cpu[i] = odd ? 0 : percent_per(cpu);
  columns_.percent_per_memory[i] = odd ? 0 : percent_per(memory);
  refresh_shares(i);
  columns_.free_pods[i] = static_cast<float>(node.max_pods) - columns_.pods[i];
  for (std::size_t d = 0; d < kDimensions; ++d) columns_.per_unit[d][i] = per_unit(node.capacity.of[d]);
  refresh_load(entry);
}

void ClusterState::remove_node(NodeId node) {
  if (!has_node(node)) return;
  ++nodes_version_;
  NodeEntry& entry = nodes_[node.slot];
  count_kinds(entry.node, node.slot, -1);
  count_images(entry.node.images, node.slot, false);
  node_names_.erase(entry.node.name);
  columns_.present[node.slot] = 0;
  --node_count_;
  ++node_shapes_;
  entry.load.mean -= entry.base;
  entry.base = entry.usual_base = {};
  entry.measured = Time::min();
  entry.sampled = false;
  entry.samples = 0;
  refresh_load(entry);
}

// Only nodes that are present are counted.
void ClusterState::count_kinds(const Node& node, std::size_t i, int sign) {
  if (!columns_.present[i]) return;
  const auto by = static_cast<std::size_t>(sign);  // wraps around and back
  if (!node.taints.empty()) columns_.tainted_nodes += by;
  if (node.unschedulable) columns_.cordoned_nodes += by;
  if (is_odd(node)) columns_.odd_nodes += by;
}

void ClusterState::refresh_shares(std::size_t i) {
  NodeColumns& c = columns_;
  c.free_cpu[i] = c.allocatable_cpu[i] - c.requested_cpu[i];
  c.free_memory[i] = c.allocatable_memory[i] - c.requested_memory[i];
  const bool both = c.allocatable_cpu[i] > 0 && c.allocatable_memory[i] > 0;
  const double cpu = both ? c.requested_cpu[i] / c.allocatable_cpu[i] : 0;
  const double memory = both ? c.requested_memory[i] / c.allocatable_memory[i] : 0;
  c.cpu_share[i] = static_cast<float>(cpu);
  c.memory_share[i] = static_cast<float>(memory);
  const double apart = std::fabs((std::min(1.0, cpu) - std::min(1.0, memory)) / 2);
  c.balance[i] = static_cast<float>(std::floor((1 - apart) * 100));
}

void ClusterState::add_pending(Pod pod) {
  if (find(pod.id)) return;  // delivered twice
  const std::size_t slot = pod.id.slot;
  if (slot >= pods_.size()) {
    pods_.resize(slot + 1);
    in_use_.resize(slot + 1);
  }
  if (in_use_[slot]) remove_pod(pods_[slot].pod.id);  // its end was never reported, yet the slot is reused
  in_use_[slot] = 1;
  ++pod_count_;
  PodRecord& record = pods_[slot];
  record.place = PodPlace::pending;
  record.started = false;
  record.samples = 0;
  record.sampled = {};
  record.expected = {};
  record.pod = std::move(pod);
  groups_.add(record.pod);
}

void ClusterState::found(Pod pod, NodeId node, const Demand& expected, Time now) {
  const PodId id = pod.id;
  add_pending(std::move(pod));
  PodRecord& record = pods_[id.slot];
  take(record);
  put(record, node, expected, now);
  record.place = PodPlace::bound;
}

void ClusterState::assume(PodId pod, NodeId node, const Demand& expected, Time now) {
  PodRecord* record = find(pod);
  EVENKEEL_CHECK(record && record->place == PodPlace::pending && has_node(node));
  put(*record, node, expected, now);
  record->place = PodPlace::assumed;
}

bool ClusterState::confirm(PodId pod, NodeId node, Time now) {
  PodRecord* record = find(pod);
  if (!record) return false;
  if (record->place == PodPlace::pending || record->node != node) {
    const Demand expected = record->expected;
    take(*record);
    put(*record, node, expected, now);
  }
  record->place = PodPlace::bound;
  return true;
}

bool ClusterState::unassume(PodId pod) {
  PodRecord* record = find(pod);
  if (!record || record->place != PodPlace::assumed) return false;
  take(*record);
  return true;
}

void ClusterState::remove_pod(PodId pod) {
  PodRecord* record = find(pod);
  if (!record) return;
  take(*record);
  groups_.remove(record->pod);
  record->pod.shape.reset();
  in_use_[pod.slot] = 0;
  --pod_count_;
}

void ClusterState::update_pod(const Pod& pod) {
  PodRecord* record = find(pod.id);
  if (!record) return;
  const PodRecord before = *record;
  take(*record);
  groups_.remove(record->pod);
  record->pod = pod;
  groups_.add(record->pod);
  if (before.place == PodPlace::pending) return;
  put(*record, before.node, before.expected, before.since);
  record->place = before.place;
  record->started = before.started;
  record->samples = before.samples;
  record->sampled = before.sampled;
}

void ClusterState::put(PodRecord& record, NodeId node, const Demand& expected, Time now) {
  grow(node.slot + std::size_t{1});  // a pod may be reported before its node
  NodeEntry& entry = nodes_[node.slot];
  record.node = node;
  record.since = now;
  record.expected = expected;
  record.position = static_cast<std::uint32_t>(entry.pods.size());
  entry.pods.push_back(record.pod.id);
  placement_log_.note(record.pod, node, true);
  count(node, *record.pod.shape, expected, 1);
  count_replica(node, *record.pod.shape, true);
  if (record.pod.shape->rule_hash != 0) rules_.count(record.pod.shape, node.slot, true);
  count_wishes(*record.pod.shape, true);
  if (!census_taken_) return;
  record.kind = census_.kind_of(record.pod);
  census_.count(record.kind, node.slot, true);
}

void ClusterState::take(PodRecord& record) {
  if (record.place == PodPlace::pending) return;
  NodeEntry& entry = nodes_[record.node.slot];
  const PodId last = entry.pods.back();
  entry.pods[record.position] = last;
  pods_[last.slot].position = record.position;
  entry.pods.pop_back();
  placement_log_.note(record.pod, record.node, false);
  count(record.node, *record.pod.shape, record.expected, -1);
  count_replica(record.node, *record.pod.shape, false);
  if (record.pod.shape->rule_hash != 0) rules_.count(record.pod.shape, record.node.slot, false);
  count_wishes(*record.pod.shape, false);
  if (census_taken_) {
    census_.count(record.kind, record.node.slot, false);
    census_.release(record.kind);
  }
  record.place = PodPlace::pending;
  record.started = false;
  record.samples = 0;
  record.sampled = {};
}

void ClusterState::count(NodeId node, const PodTemplate& shape, const Demand& expected, int sign) {
  NodeEntry& entry = nodes_[node.slot];
  const std::size_t i = node.slot;
  count_requests(node, shape, sign);
  entry.load.mean += expected.mean * sign;
  entry.load.variance += expected.variance * sign;
  // Nothing is left, so nothing may be left over: rounding ends here.
  if (columns_.pods[i] == 0) entry.load = {entry.base, {}, {}};
  refresh_load(entry);
}

void ClusterState::count_requests(NodeId node, const PodTemplate& shape, int sign) {
  NodeEntry& entry = nodes_[node.slot];
  const std::size_t i = node.slot;
  columns_.requested_cpu[i] += sign * static_cast<double>(shape.request.cpu.count);
  columns_.requested_memory[i] += sign * static_cast<double>(shape.request.memory.count);
  columns_.room_cpu[i] -= sign * static_cast<double>(shape.non_zero.cpu.count);
  columns_.room_memory[i] -= sign * static_cast<double>(shape.non_zero.memory.count);
  columns_.pods[i] += static_cast<float>(sign);
  columns_.free_pods[i] -= static_cast<float>(sign);
  refresh_shares(i);
  if (beyond_columns(shape.request))
    sign > 0 ? entry.requested += shape.request : entry.requested -= shape.request;
}

void ClusterState::count_wishes(const PodTemplate& shape, bool added) {
  const auto adjust = [&](auto& counts, const auto& key) {
    const auto at = counts.try_emplace(key).first;
    added ? ++at->second : --at->second;
    if (at->second == 0) counts.erase(at);
  };
  adjust(by_priority_, shape.spec.priority);
  for (const PodVolume& volume : shape.spec.volumes)
    if (volume.kind == VolumeKind::claim) adjust(claims_used_, shape.name_space + "/" + volume.source);
}

std::uint32_t ClusterState::pods_using_claim(const std::string& name_space, const std::string& claim) const {
  const auto at = claims_used_.find(name_space + "/" + claim);
  return at == claims_used_.end() ? 0 : at->second;
}

std::optional<NodeId> ClusterState::node_named(std::string_view name) const {
  const auto at = node_names_.find(name);
  if (at == node_names_.end() || !has_node(at->second)) return std::nullopt;
  return at->second;
}

void ClusterState::hide(PodId pod) {
  PodRecord* record = find(pod);
  EVENKEEL_CHECK(record && record->place != PodPlace::pending && !record->hidden);
  record->hidden = true;
  count_requests(record->node, *record->pod.shape, -1);
}

void ClusterState::show(PodId pod) {
  PodRecord* record = find(pod);
  EVENKEEL_CHECK(record && record->hidden);
  record->hidden = false;
  count_requests(record->node, *record->pod.shape, 1);
}

void ClusterState::imagine(PodId pod, NodeId node) {
  const PodRecord* record = find(pod);
  EVENKEEL_CHECK(record && record->place == PodPlace::pending && has_node(node));
  nodes_[node.slot].pods.push_back(pod);
  count_requests(node, *record->pod.shape, 1);
  pods_[pod.slot].node = node;
}

void ClusterState::forget(PodId pod) {
  const PodRecord* record = find(pod);
  EVENKEEL_CHECK(record && nodes_[record->node.slot].pods.back() == pod);
  nodes_[record->node.slot].pods.pop_back();
  count_requests(record->node, *record->pod.shape, -1);
}

void ClusterState::take_census() const {
  census_taken_ = true;
  auto& pods = const_cast<ClusterState*>(this)->pods_;  // the kind is part of the census
  for (std::size_t slot = 0; slot < pods.size(); ++slot) {
    if (!in_use_[slot] || pods[slot].place == PodPlace::pending) continue;
    pods[slot].kind = census_.kind_of(pods[slot].pod);
    census_.count(pods[slot].kind, pods[slot].node.slot, true);
  }
}

std::span<const std::uint32_t> ClusterState::pods_meant(const PodQuery& query) const {
  if (!census_taken_) take_census();
  return census_.counts(query, nodes_.size());
}

std::span<const std::uint8_t> ClusterState::nodes_meant(const NodeQuery& query) const {
  return node_matches_.of(query, nodes_.size(),
                          [&](std::size_t slot) -> const Node& { return nodes_[slot].node; });
}

const Topology& ClusterState::topology(const std::string& key) const {
  const auto [at, is_new] = topologies_.try_emplace(key);
  if (is_new)
    for (std::size_t slot = 0; slot < nodes_.size(); ++slot)
      at->second.set(slot, nodes_[slot].node.labels.find(key));
  return at->second;
}

std::span<const ClusterState::ImageOnNode> ClusterState::image(const std::string& name) const {
  const auto at = images_.find(name);
  return at == images_.end() ? std::span<const ImageOnNode>{} : at->second;
}

void ClusterState::count_images(const std::vector<NodeImage>& images, std::uint32_t slot, bool added) {
  for (const NodeImage& image : images) {
    auto& holders = images_[image.name];
    std::erase_if(holders, [&](const ImageOnNode& on) { return on.node == slot; });
    if (added) holders.push_back({slot, image.size});
    if (holders.empty()) images_.erase(image.name);
  }
}

void ClusterState::count_replica(NodeId node, const PodTemplate& shape, bool added) {
  if (shape.workload.slot >= replicas_.size()) replicas_.resize(shape.workload.slot + std::size_t{1});
  auto& on = replicas_[shape.workload.slot];
  const auto at = std::lower_bound(on.begin(), on.end(), node.slot,
                                   [](const Replicas& r, std::uint32_t slot) { return r.node < slot; });
  const bool here = at != on.end() && at->node == node.slot;
  if (added && here) {
    ++at->count;
  } else if (added) {
    on.insert(at, {node.slot, 1});
  } else if (--at->count == 0) {
    on.erase(at);
  }
}

std::span<const ClusterState::Replicas> ClusterState::replicas(WorkloadId workload) const {
  if (workload.slot >= replicas_.size()) return {};
  return replicas_[workload.slot];
}

void ClusterState::reserve(NodeId node, const PodTemplate& shape, const Demand& expected) {
  count(node, shape, expected, 1);
}

void ClusterState::release(NodeId node, const PodTemplate& shape, const Demand& expected) {
  count(node, shape, expected, -1);
}

std::uint32_t ClusterState::zone_number(const Labels& labels) {
  const std::string* zone = labels.find("topology.kubernetes.io/zone");
  if (!zone) return 0;
  const auto at = std::find(zones_.begin(), zones_.end(), *zone);
  if (at == zones_.end()) zones_.push_back(*zone);
  return static_cast<std::uint32_t>(std::find(zones_.begin(), zones_.end(), *zone) - zones_.begin()) + 1;
}

void ClusterState::set_expected(PodId pod, const Demand& expected) {
  PodRecord* record = find(pod);
  if (!record) return;
  if (record->place != PodPlace::pending) {
    NodeEntry& entry = nodes_[record->node.slot];
    entry.load.mean += expected.mean - record->expected.mean;
    entry.load.variance += expected.variance - record->expected.variance;
    refresh_load(entry);
  }
  record->expected = expected;
}

void ClusterState::mark_started(PodId pod, Time now) {
  PodRecord* record = find(pod);
  if (!record || record->place == PodPlace::pending) return;
  record->started = true;
  record->since = now;
}

PodRecord* ClusterState::add_sample(PodId pod, const Usage& usage, Time measured) {
  PodRecord* record = find(pod);
  if (!record || record->place == PodPlace::pending) return nullptr;
  const double keep = record->samples == 0 ? 0 : kept_after(measured - record->sampled_at);
  record->recent = record->recent * keep + usage * (1 - keep);
  record->sampled_at = measured;
  record->sampled += usage;
  ++record->samples;
  return record;
}

void ClusterState::set_base_load(NodeId node, const Usage& base, Time measured) {
  if (!has_node(node)) return;
  NodeEntry& entry = nodes_[node.slot];
  entry.load.mean += base - entry.base;
  entry.base = base;
  const double keep = entry.measured == Time::min() ? 0 : kept_after(measured - entry.measured);
  entry.usual_base = entry.usual_base * keep + base * (1 - keep);
  entry.sampled = true;
  // Time may go back where a clock was set: what was measured "later" must not count for ever.
  const bool went_back = measured < entry.measured;
  entry.measured = measured;
  last_measured_ = std::max(last_measured_, measured);
  if (went_back) {
    last_measured_ = measured;
    for (const NodeEntry& other : nodes_) last_measured_ = std::max(last_measured_, other.measured);
  }
  refresh_load(entry);
}

// Whether the node's sample holds what the pod does: it ran all the time that is averaged over.
bool ClusterState::shows(const PodRecord& record, const UsageReported& report) const {
  return record.started && record.node == report.node && record.since <= report.measured - report.over;
}

Usage ClusterState::fill_in(Usage usage, const KnownDimensions& known, const Usage& expected) {
  for (std::size_t d = 0; d < kDimensions; ++d)
    if (!known[d]) usage.of[d] = expected.of[d];
  return usage;
}

void ClusterState::expect(NodeEntry& entry, PodRecord& record, const Demand& expected) {
  entry.load.mean += expected.mean - record.expected.mean;
  entry.load.variance += expected.variance - record.expected.variance;
  record.expected = expected;
}

void ClusterState::share_out(NodeEntry& entry, const UsageReported& report, std::span<const Undivided> pods,
                             Usage& base) {
  Usage factor;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    factor.of[d] = 1;
    if (!report.known[d] || report.pods_known[d]) continue;
    double together = 0;
    for (const Undivided& pod : pods) together += pod.profile.mean.of[d];
    if (together > report.total.of[d]) factor.of[d] = report.total.of[d] / together;
    base.of[d] = report.total.of[d] - together * factor.of[d];
  }
  for (const Undivided& pod : pods) {
    Demand expected = pod.record->expected;
    for (std::size_t d = 0; d < kDimensions; ++d) {
      if (!report.known[d] || report.pods_known[d]) continue;
      expected.mean.of[d] = pod.profile.mean.of[d] * factor.of[d];
      expected.variance.of[d] = pod.profile.variance.of[d] * factor.of[d] * factor.of[d];
      expected.peak.of[d] = pod.profile.peak.of[d];
    }
    expect(entry, *pod.record, expected);
  }
}

void ClusterState::remember_total(NodeEntry& entry, const Usage& total, Time measured) {
  entry.window[entry.next_sample] = {total, measured};
  entry.next_sample = static_cast<std::uint8_t>((entry.next_sample + 1) % kWindowSamples);
  entry.samples = static_cast<std::uint8_t>(std::min<std::size_t>(entry.samples + 1U, kWindowSamples));
}

std::optional<Usage> ClusterState::measured_use(NodeId node) const {
  const NodeEntry& entry = nodes_[node.slot];
  if (entry.samples == 0) return std::nullopt;
  constexpr std::array<std::size_t, kDimensions> kOver = {5, 3, 5, 5, 3, 3};
  const auto back = [&](std::size_t i) -> const TotalSample& {
    return entry.window[(entry.next_sample + 2 * kWindowSamples - 1 - i) % kWindowSamples];
  };
  std::size_t recent = 1;
  while (recent < entry.samples && back(0).measured - back(recent).measured <= kWindow) ++recent;
  Usage mean;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const std::size_t count = std::min(recent, kOver[d]);
    for (std::size_t i = 0; i < count; ++i) mean.of[d] += back(i).total.of[d];
    mean.of[d] /= static_cast<double>(count);
  }
  return mean;
}

void ClusterState::refresh_load(NodeEntry& entry) {
  const auto i = static_cast<std::size_t>(&entry - nodes_.data());
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const float scale = columns_.present[i] ? columns_.per_unit[d][i] : 0.0F;
    columns_.utilization[d][i] = static_cast<float>(std::max(0.0, entry.load.mean.of[d])) * scale;
    columns_.variance[d][i] = static_cast<float>(std::max(0.0, entry.load.variance.of[d])) * scale * scale;
  }
  ++versions_[i];
}

}  // namespace evenkeel

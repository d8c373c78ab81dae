#include "kubernetes/pod_templates.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

namespace evenkeel::kubernetes {
namespace {

class Hash {
 public:
  void add(std::string_view text) { mix(std::hash<std::string_view>{}(text)); }
  void add(std::int64_t number) { mix(static_cast<std::size_t>(number)); }
  void add(const Labels& labels) {
    for (const Label& label : labels.all()) {
      add(label.key);
      add(label.value);
    }
  }
  void add(const std::vector<Container>& containers) {
    for (const Container& container : containers) {
      add(container.name);
      add(container.image);
      add(container.requests.cpu.count);
      add(container.requests.memory.count);
    }
  }
  std::size_t value() const { return value_; }

 private:
  void mix(std::size_t more) { value_ ^= more + 0x9e3779b97f4a7c15u + (value_ << 6) + (value_ >> 2); }
  std::size_t value_ = 0;
};

// Not of everything: what it leaves out is compared.
std::size_t hash_of(const PodObject& pod) {
  Hash hash;
  hash.add(pod.name_space);
  hash.add(pod.labels);
  for (const OwnerReference& owner : pod.owners) hash.add(owner.uid);
  hash.add(pod.spec.containers);
  hash.add(pod.spec.init_containers);
  hash.add(pod.spec.scheduler_name);
  hash.add(pod.spec.priority);
  hash.add(pod.spec.node_selector);
  return hash.value();
}

bool is_of(const PodTemplate& known, const PodObject& pod) {
  return known.name_space == pod.name_space && known.labels == pod.labels && known.owners == pod.owners &&
         known.spec == pod.spec;
}

// A CronJob's runs are called after the minute they were due.
std::string_view without_number(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  return end == std::string_view::npos || name[end] != '-' ? name : name.substr(0, end);
}

}  // namespace

// Pods of one controller behave alike; of those that have none, the ones that look alike.
WorkloadId PodTemplates::workload_of(const PodObject& pod) {
  std::string key = pod.name_space;
  const auto controller = std::ranges::find_if(pod.owners, &OwnerReference::controller);
  if (controller != pod.owners.end()) {
    key += "\n" + controller->kind + "\n";
    key += controller->kind == "Job" ? without_number(controller->name) : std::string_view(controller->name);
  } else {
    for (const Label& label : pod.labels.all()) key += "\n" + label.key + "=" + label.value;
    for (const Container& container : pod.spec.containers) key += "\n" + container.image;
  }
  const auto next = static_cast<std::uint32_t>(workloads_.size());
  return workloads_.try_emplace(std::move(key), WorkloadId{next}).first->second;
}

std::shared_ptr<const PodTemplate> PodTemplates::share(PodObject& pod) {
  pod.spec.node_name.clear();
  std::erase_if(pod.spec.volumes, [](const PodVolume& volume) { return volume.kind == VolumeKind::other; });
  const std::size_t hash = hash_of(pod);
  const auto [first, last] = templates_.equal_range(hash);
  for (auto known = first; known != last; ++known)
    if (auto shape = known->second.lock(); shape && is_of(*shape, pod)) return shape;
  const WorkloadId workload = workload_of(pod);
  auto shape = std::make_shared<const PodTemplate>(pod.name_space, std::move(pod.labels),
                                                   std::move(pod.owners), workload, std::move(pod.spec));
  if (templates_.size() >= drop_at_) drop_unused();
  templates_.emplace(hash, shape);
  return shape;
}

void PodTemplates::drop_unused() {
  std::erase_if(templates_, [](const auto& entry) { return entry.second.expired(); });
  drop_at_ = std::max<std::size_t>(1024, 2 * templates_.size());
}

}  // namespace evenkeel::kubernetes

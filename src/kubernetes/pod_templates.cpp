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

// What generateName put behind a name: five of the letters and digits that spell no words.
std::string_view without_suffix(std::string_view name) {
  constexpr std::size_t kLength = 5;
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  if (name.size() <= kLength + 1 || name[name.size() - kLength - 1] != '-') return without_number(name);
  const bool is_made = name.substr(name.size() - kLength).find_first_not_of(kLetters) == name.npos;
  return is_made ? name.substr(0, name.size() - kLength - 1) : without_number(name);
}

// A Deployment's ReplicaSets come and go, each called after the hash of its template.
std::string owner_name(const OwnerReference& owner, const Labels& labels) {
  if (owner.kind == "ReplicaSet") {
    const std::string* hash = labels.find("pod-template-hash");
    if (hash && owner.name.ends_with("-" + *hash))
      return "Deployment/" + owner.name.substr(0, owner.name.size() - hash->size() - 1);
  }
  if (owner.kind == "Job") return "Job/" + std::string(without_number(owner.name));
  return owner.kind + "/" + owner.name;
}

}  // namespace

// Pods of one controller behave alike as long as they run the same images; of those that have none, the ones
// that look alike, or are called alike where they carry no labels.
std::string PodTemplates::workload_name_of(const PodObject& pod) {
  std::string name = pod.name_space + "/";
  const auto controller = std::ranges::find_if(pod.owners, &OwnerReference::controller);
  if (controller != pod.owners.end()) {
    name += owner_name(*controller, pod.labels);
  } else if (pod.labels.all().empty()) {
    name += "Pod/" + std::string(without_suffix(pod.name));
  } else {
    name += "Pod";
    for (const Label& label : pod.labels.all()) name += " " + label.key + "=" + label.value;
  }
  for (const Container& container : pod.spec.containers) name += " " + container.image;
  return name;
}

WorkloadId PodTemplates::workload_named(const std::string& name) {
  const WorkloadId next{static_cast<std::uint32_t>(names_.size())};
  const auto [at, is_new] = workloads_.try_emplace(name, next);
  if (is_new) names_.push_back(&at->first);
  return at->second;
}

std::shared_ptr<const PodTemplate> PodTemplates::share(PodObject& pod) {
  pod.spec.node_name.clear();
  std::erase_if(pod.spec.volumes, [](const PodVolume& volume) { return volume.kind == VolumeKind::other; });
  const std::size_t hash = hash_of(pod);
  const auto [first, last] = templates_.equal_range(hash);
  for (auto known = first; known != last; ++known)
    if (auto shape = known->second.lock(); shape && is_of(*shape, pod)) return shape;
  const WorkloadId workload = workload_named(workload_name_of(pod));
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

#include "scheduling/policies/task_topology.h"

#include <algorithm>
#include <limits>

#include "base/sort_stably.h"

namespace evenkeel::scheduling {
namespace {

constexpr double kMebi = 1048576;
constexpr std::size_t kNoBucket = std::numeric_limits<std::size_t>::max();

const std::string& workload_of(const PlacementRequest& request, PodId pod) {
  return request.cluster.pod(pod)->pod.shape->app_workload;
}

// 1 MiB weighs as much as 1m of CPU.
double weight_of(const Resources& request) {
  return static_cast<double>(request.cpu.count) + static_cast<double>(request.memory.count) / kMebi;
}

// What is left to fit beside the pod when 0, 1, 2, … of the others that wait are taken out.
struct Remainders {
  std::vector<double> cpu, memory;

  Remainders(const PlacementRequest& request, std::span<const PodId> waiting) {
    double cpu_sum = 0, memory_sum = 0;
    for (const PodId pod : waiting) {
      const Resources& asked = request.cluster.pod(pod)->pod.shape->request;
      cpu_sum += static_cast<double>(asked.cpu.count);
      memory_sum += static_cast<double>(asked.memory.count);
    }
    cpu.push_back(cpu_sum);
    memory.push_back(memory_sum);
    for (const PodId pod : waiting) {
      if (pod == request.pod.id) continue;
      const Resources& asked = request.cluster.pod(pod)->pod.shape->request;
      cpu.push_back(cpu_sum -= static_cast<double>(asked.cpu.count));
      memory.push_back(memory_sum -= static_cast<double>(asked.memory.count));
    }
  }
  // How many of the bucket fit; the pod itself does.
  std::size_t fitting(double free_cpu, double free_memory) const {
    std::size_t out = 0;
    while (out + 1 < cpu.size() && (cpu[out] > free_cpu || memory[out] > free_memory)) ++out;
    return cpu.size() - out;
  }
};

}  // namespace

bool TaskTopology::Affinities::like(std::string_view a, std::string_view b) const {
  const auto found = likes.find(a);
  return found != likes.end() && std::binary_search(found->second.begin(), found->second.end(), b);
}

bool TaskTopology::Affinities::dislike(std::string_view a, std::string_view b) const {
  return a == b && std::binary_search(solitary.begin(), solitary.end(), a);
}

TaskTopology::Affinities TaskTopology::affinities_of(const AppGroup& group, const PlacementRequest& request,
                                                     std::span<const PodId> members) {
  Affinities affinities;
  for (const AppWorkload& workload : group.workloads)
    for (const AppDependency& dependency : workload.dependencies) {
      const std::string &a = workload.workload.selector, &b = dependency.workload.selector;
      if (a == b) continue;
      affinities.likes[a].push_back(b);
      affinities.likes[b].push_back(a);
    }
  for (auto& [workload, liked] : affinities.likes) std::sort(liked.begin(), liked.end());
  for (const PodId member : members) {
    const PodTemplate& shape = *request.cluster.pod(member)->pod.shape;
    const auto& rules = shape.spec.pod_anti_affinity.required;
    if (std::any_of(rules.begin(), rules.end(), [&](const PodAffinityTerm& rule) {
          return rule.selector && matches(*rule.selector, shape.labels);
        }))
      affinities.solitary.push_back(shape.app_workload);
  }
  std::sort(affinities.solitary.begin(), affinities.solitary.end());
  return affinities;
}

void TaskTopology::fill_buckets(Group& group, const PlacementRequest& request,
                                std::span<const PodId> members) {
  struct Task {
    PodId pod;
    const PodRecord* record;
    bool solitary;
  };
  std::vector<Task> tasks;
  for (const PodId member : members) {
    const PodRecord* record = request.cluster.pod(member);
    const std::string& workload = record->pod.shape->app_workload;
    const bool solitary = group.affinities.dislike(workload, workload);
    if (solitary || group.affinities.likes.contains(workload))
      tasks.push_back({member, record, solitary});
    else
      group.bucket_of[member] = kNoBucket;
  }
  // Those that are placed first, then those that must be alone, then by name.
  sort_stably(tasks, [](const Task& a, const Task& b) {
    const bool waits_a = a.record->place == PodPlace::pending, waits_b = b.record->place == PodPlace::pending;
    if (waits_a != waits_b) return waits_b;
    if (a.solitary != b.solitary) return a.solitary;
    return a.record->pod.name < b.record->pod.name;
  });
  std::map<std::uint32_t, std::size_t> bucket_at;  // by node, of those that are placed
  for (const Task& task : tasks) {
    const std::string& workload = task.record->pod.shape->app_workload;
    const bool waits = task.record->place == PodPlace::pending;
    std::size_t chosen = group.buckets.size();
    if (!waits) {
      chosen = bucket_at.try_emplace(task.record->node.slot, group.buckets.size()).first->second;
    } else {
      int most = 0;  // below that it had better have one of its own
      for (std::size_t b = 0; b < group.buckets.size(); ++b) {
        int affinity = 0;
        for (const auto& [other, count] : group.buckets[b].workloads) {
          if (group.affinities.like(workload, other)) affinity += count;
          if (group.affinities.dislike(workload, other)) affinity -= count;
        }
        const bool none_yet = chosen == group.buckets.size();
        if (affinity > most ||
            (affinity == most && (none_yet || group.buckets[b].request < group.buckets[chosen].request))) {
          most = affinity;
          chosen = b;
        }
      }
    }
    if (chosen == group.buckets.size()) group.buckets.emplace_back();
    Bucket& bucket = group.buckets[chosen];
    bucket.pods.push_back(task.pod);
    ++bucket.workloads[workload];
    if (waits) bucket.request += weight_of(task.record->pod.shape->request);
    group.bucket_of[task.pod] = chosen;
    group.largest = std::max(group.largest, bucket.pods.size());
  }
}

const TaskTopology::Group* TaskTopology::group_of(const PlacementRequest& request) {
  const PodTemplate& shape = *request.pod.shape;
  if (shape.app_group.empty()) return nullptr;
  const AppGroup* spec = request.cluster.objects().app_group(shape.name_space, shape.app_group);
  if (!spec) return nullptr;
  // Groups come and go; those that are gone are not kept for ever.
  if (groups_.size() > 2 * request.cluster.objects().app_groups().size() + 8) groups_.clear();
  Group& group = groups_[shape.name_space + "/" + shape.app_group];
  const std::uint64_t version = request.cluster.objects().network_version();
  if (group.version == version && group.bucket_of.contains(request.pod.id)) return &group;
  const std::span<const PodId> members = request.cluster.groups().of(shape.name_space, shape.app_group);
  group = {};
  group.version = version;
  group.affinities = affinities_of(*spec, request, members);
  fill_buckets(group, request, members);
  return &group;
}

std::span<const float> TaskTopology::scores(const PlacementRequest& request) {
  const NodeColumns& columns = request.cluster.columns();
  scores_.assign(columns.size(), 0);
  const Group* group = group_of(request);
  if (!group) return scores_;
  const auto found = group->bucket_of.find(request.pod.id);
  if (found == group->bucket_of.end() || found->second == kNoBucket) return scores_;
  const Bucket& bucket = group->buckets[found->second];
  const std::string& workload = request.pod.shape->app_workload;

  std::vector<PodId> waiting;
  for (const PodId pod : bucket.pods) {
    const PodRecord* record = request.cluster.pod(pod);
    if (!record) continue;  // gone meanwhile
    if (record->place == PodPlace::pending)
      waiting.push_back(pod);
    else
      scores_[record->node.slot] += 1;
  }
  // Those of its kind that it does not like to meet, wherever they are.
  for (const PodId pod :
       request.cluster.groups().of(request.pod.shape->name_space, request.pod.shape->app_group)) {
    const PodRecord* record = request.cluster.pod(pod);
    if (record && record->place != PodPlace::pending &&
        group->affinities.dislike(workload, workload_of(request, pod)))
      scores_[record->node.slot] -= 1;
  }
  const Remainders remainders(request, waiting);
  const float scale = 100.0F / static_cast<float>(std::max<std::size_t>(1, group->largest));
  for (std::size_t n = 0; n < scores_.size(); ++n) {
    if (!request.feasible[n]) continue;
    scores_[n] += static_cast<float>(remainders.fitting(columns.free_cpu[n], columns.free_memory[n]));
    scores_[n] *= scale;
  }
  return scores_;
}

std::optional<NodeId> TaskTopology::choose(const PlacementRequest& request, Random& random) {
  return pick_highest(scores(request), request.feasible, random);
}

ScoreSheet TaskTopology::explain(const PlacementRequest& request) {
  ScoreSheet sheet;
  sheet.terms = {"TaskTopology"};
  const std::span<const float> rated = scores(request);
  for (std::uint32_t slot = 0; slot < rated.size(); ++slot)
    if (request.feasible[slot])
      sheet.rows.push_back({{slot}, {static_cast<double>(rated[slot])}, static_cast<double>(rated[slot])});
  sheet.put_best_first();
  return sheet;
}

}  // namespace evenkeel::scheduling

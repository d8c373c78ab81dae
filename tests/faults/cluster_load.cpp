#include "cluster_load.h"

#include <algorithm>
#include <utility>

#include "cluster_facts.h"

namespace evenkeel::faults {

using namespace std::chrono_literals;
namespace types = kubernetes::types;

ClusterLoad::Traits ClusterLoad::Traits::drawn(Random& random) {
  return {random.chance(0.4), random.chance(0.7), 0};
}

ClusterLoad::ClusterLoad(SimulatedCluster& cluster, SimulatedApiServer& server, Random random, Traits traits,
                         std::string scheduler_name)
    : cluster_(cluster),
      server_(server),
      random_(random),
      traits_(traits),
      scheduler_name_(std::move(scheduler_name)) {}

json ClusterLoad::node(const Machine& machine) const {
  json made = {
      {"metadata",
       {{"name", machine.name},
        {"labels",
         {{"kubernetes.io/hostname", machine.name}, {"topology.kubernetes.io/zone", machine.zone}}}}},
      {"spec", json::object()},
      {"status",
       {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}},
        {"allocatable",
         {{"cpu", std::to_string(machine.cpu)},
          {"memory", std::to_string(machine.memory) + "Gi"},
          {"pods", std::to_string(machine.pods)}}}}}};
  made["status"]["capacity"] = made["status"]["allocatable"];
  if (machine.is_cordoned) made["spec"]["unschedulable"] = true;
  if (machine.is_tainted) made["spec"]["taints"] = {{{"key", "maintenance"}, {"effect", "NoSchedule"}}};
  return made;
}

void ClusterLoad::set_up() {
  ApiStorage& storage = server_.storage();
  const Time now = server_.clock().now();
  for (const char* name : {"default", "kube-system"})
    storage.create(server_.kind(types::namespaces()), {{"metadata", {{"name", name}}}}, now);
  storage.create(server_.kind(types::storage_classes()),
                 {{"metadata", {{"name", "late"}}},
                  {"provisioner", "disk.example"},
                  {"volumeBindingMode", "WaitForFirstConsumer"}},
                 now);
  const std::size_t drawn = 2 + random_.below(5), machines = traits_.machines > 0 ? traits_.machines : drawn;
  for (std::size_t i = 0; i < machines; ++i) {
    machines_.push_back({"node-" + std::to_string(i),
                         std::string(1, static_cast<char>('a' + random_.below(3))),
                         2 + static_cast<int>(random_.below(6)), 4 + static_cast<int>(random_.below(12)),
                         3 + static_cast<int>(random_.below(9))});
    cluster_.set_node(node(machines_.back()));
  }
  for (std::size_t i = 1 + random_.below(5); i > 0; --i)
    cluster_.add_app(app("app" + std::to_string(++apps_)));
  if (random_.chance(0.4)) {
    storage.create(
        server_.kind(types::pod_disruption_budgets()),
        {{"metadata", {{"namespace", "default"}, {"name", "budget"}}},
         {"spec",
          {{"minAvailable", 1 + random_.below(2)}, {"selector", {{"matchLabels", {{"app", "app1"}}}}}}},
         {"status", {{"disruptionsAllowed", 0}}}},
        now);
  }
}

SimulatedCluster::App ClusterLoad::app(const std::string& name) {
  SimulatedCluster::App made;
  made.name = name;
  made.replicas = 1 + static_cast<int>(random_.below(6));
  made.is_stateful = random_.chance(0.3);
  made.is_job = !made.is_stateful && random_.chance(0.2);
  if (made.is_stateful && random_.chance(0.5)) made.claim_class = "late";
  json container = {{"name", "main"}, {"image", "registry.example/" + name + ":1"}};
  if (random_.chance(0.85)) {
    container["resources"]["requests"] = {{"cpu", std::to_string(100 + 50 * random_.below(30)) + "m"},
                                          {"memory", std::to_string(64 + random_.below(3000)) + "Mi"}};
  }
  if (random_.chance(0.15)) container["ports"] = {{{"containerPort", 80}, {"hostPort", 8080}}};
  json spec = {{"containers", {container}},
               {"schedulerName", scheduler_name_},
               {"priority", 100 * random_.below(3)},
               {"terminationGracePeriodSeconds", 1 + random_.below(10)}};
  if (traits_.has_other_scheduler && random_.chance(0.4))
    spec["schedulerName"] = SimulatedCluster::kOtherScheduler;
  if (random_.chance(0.15)) spec["schedulingGates"] = {{{"name", "example.com/wait"}}};
  if (random_.chance(0.2)) spec["tolerations"] = {{{"key", "maintenance"}, {"operator", "Exists"}}};
  if (random_.chance(0.2)) {
    const char* const key = random_.chance(0.7) ? "kubernetes.io/hostname" : "topology.kubernetes.io/zone";
    spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = {
        {{"labelSelector", {{"matchLabels", {{"app", name}}}}}, {"topologyKey", key}}};
  }
  if (random_.chance(0.2)) {
    spec["topologySpreadConstraints"] = {
        {{"maxSkew", 1 + random_.below(2)},
         {"topologyKey", "kubernetes.io/hostname"},
         {"whenUnsatisfiable", random_.chance(0.5) ? "DoNotSchedule" : "ScheduleAnyway"},
         {"labelSelector", {{"matchLabels", {{"app", name}}}}}}};
  }
  made.pod = {{"metadata", {{"labels", json::object()}}}, {"spec", std::move(spec)}};
  if (!has_settled_apps_) return made;
  switch (random_.below(6)) {
    case 0:
      made.pod["metadata"]["annotations"]["evenkeel.io/move"] = "never";
      break;
    case 1:
      made.pod["metadata"]["annotations"]["cluster-autoscaler.kubernetes.io/safe-to-evict"] = "false";
      break;
    case 2:
      if (made.claim_class.empty())
        made.pod["spec"]["volumes"] = {{{"name", "scratch"}, {"emptyDir", json::object()}}};
      break;
    default:
      break;
  }
  return made;
}

void ClusterLoad::go_on_until(Time end) {
  const Time next = server_.clock().now() + from_seconds(random_.exponential(3));
  if (next >= end) return;
  server_.clock().at(next, [this, end] {
    disturb();
    go_on_until(end);
  });
}

void ClusterLoad::disturb() {
  const double dice = random_.uniform();
  if (dice < 0.2 && apps_ < 12) return cluster_.add_app(app("app" + std::to_string(++apps_)));
  if (dice < 0.4 && apps_ > 0) {
    const auto names = cluster_.app_names();
    return cluster_.scale(names[random_.below(names.size())], static_cast<int>(random_.below(7)));
  }
  if (dice < 0.5) return open_gates();
  if (dice < 0.75) return disturb_pod();
  if (traits_.nodes_change) disturb_node();
}

void ClusterLoad::disturb_pod() {
  Kind& pods = server_.kind(types::pods());
  if (pods.objects.empty()) return;
  auto chosen = pods.objects.begin();
  std::advance(chosen, static_cast<std::ptrdiff_t>(random_.below(pods.objects.size())));
  const std::string key = chosen->first;
  if (random_.chance(0.3)) {
    cluster_.change_pod(
        key, [&](json& pod) { pod["metadata"]["labels"]["seen"] = std::to_string(random_.below(9)); });
  } else {
    // Gone at once, and a StatefulSet's name is back before anybody looked: another pod under an old name.
    cluster_.delete_pod(key, random_.chance(0.3) ? 0s : 3s);
  }
}

void ClusterLoad::disturb_node() {
  Machine& machine = machines_[random_.below(machines_.size())];
  const double dice = random_.uniform();
  if (!machine.is_there || dice < 0.3) {
    machine.is_there = !machine.is_there;
    if (!machine.is_there) return cluster_.remove_node(machine.name);
  } else if (dice < 0.5) {
    machine.is_cordoned = !machine.is_cordoned;
  } else if (dice < 0.7) {
    machine.is_tainted = !machine.is_tainted;
  } else {
    machine.cpu = 2 + static_cast<int>(random_.below(6));
    machine.pods = 3 + static_cast<int>(random_.below(9));
  }
  cluster_.set_node(node(machine));
}

void ClusterLoad::open_gates() {
  Kind& pods = server_.kind(types::pods());
  std::vector<std::string> gated;
  for (const auto& [key, pod] : pods.objects)
    if (is_gated(*pod)) gated.push_back(key);
  for (const std::string& key : gated)
    cluster_.change_pod(key, [](json& pod) { pod["spec"].erase("schedulingGates"); });
}

void ClusterLoad::settle() {
  for (Machine& machine : machines_) {
    const bool was_usual = machine.is_there && !machine.is_cordoned && !machine.is_tainted;
    machine.is_there = true;
    machine.is_cordoned = machine.is_tainted = false;
    if (!was_usual) cluster_.set_node(node(machine));
  }
}

}  // namespace evenkeel::faults

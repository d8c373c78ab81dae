#include "simulated_cluster.h"

#include <algorithm>
#include <utility>

#include "cluster_facts.h"

namespace evenkeel::faults {

using namespace std::chrono_literals;
namespace types = kubernetes::types;

SimulatedCluster::SimulatedCluster(SimulatedApiServer& server, Random random)
    : server_(server),
      random_(random),
      pods_(server.kind(types::pods())),
      nodes_(server.kind(types::nodes())),
      claims_(server.kind(types::persistent_volume_claims())),
      volumes_(server.kind(types::persistent_volumes())),
      budgets_(server.kind(types::pod_disruption_budgets())) {
  server_.storage().changed = [this, before = server_.storage().changed](Kind& kind, const Change& change) {
    before(kind, change);
    if (&kind == &pods_) pod_changed(change);
    if (&kind == &nodes_) node_changed(change);
    if (&kind == &claims_) claim_changed(change);
  };
}

void SimulatedCluster::later(double low, double high, std::function<void()> work) {
  server_.clock().after(from_seconds(random_.between(low, high)), [this, work = std::move(work)] {
    if (!is_frozen_) work();
  });
}

bool SimulatedCluster::is_there(const Kind& kind, const std::string& key, const std::string& uid) const {
  const auto found = kind.objects.find(key);
  return found != kind.objects.end() && found->second->uid == uid;
}

void SimulatedCluster::calm_down() {
  is_calm_ = true;
  for (const auto& [key, claim] : claims_.objects)
    later(0.1, 1, [this, key = key, uid = claim->uid] { provision(key, uid); });
}

void SimulatedCluster::change_pod(const std::string& key, const std::function<void(json&)>& change) {
  const auto found = pods_.objects.find(key);
  if (found == pods_.objects.end()) return;
  json object = found->second->object;
  change(object);
  server_.storage().replace(pods_, found->second, std::move(object));
}

void SimulatedCluster::delete_pod(const std::string& key, Duration grace) {
  const auto found = pods_.objects.find(key);
  if (found != pods_.objects.end()) server_.delete_pod(StoredPtr(found->second), grace);
}

void SimulatedCluster::set_node(const json& node) {
  const auto found = nodes_.objects.find(text_at(node, {"metadata", "name"}));
  if (found == nodes_.objects.end()) {
    server_.storage().create(nodes_, node, server_.clock().now());
    return;
  }
  json object = node;
  for (const char* kept : {"uid", "creationTimestamp"})
    object["metadata"][kept] = found->second->object["metadata"][kept];
  server_.storage().replace(nodes_, found->second, std::move(object));
}

void SimulatedCluster::remove_node(const std::string& name) {
  const auto found = nodes_.objects.find(name);
  if (found != nodes_.objects.end()) server_.storage().remove(nodes_, found->second);
}

void SimulatedCluster::node_changed(const Change& change) {
  if (change.after) return;
  for (const auto& [key, pod] : pods_.objects) {
    if (text_at(pod->object, {"spec", "nodeName"}) != change.before->key) continue;
    later(2, 15, [this, key = key, uid = pod->uid] { collect(key, uid); });
  }
}

void SimulatedCluster::pod_changed(const Change& change) {
  const StoredPtr& pod = change.after ? change.after : change.before;
  const std::string app = text_at(pod->object, {"metadata", "labels", "app"});
  if (apps_.contains(app) && (!change.after || !change.before || is_ending(*pod)) &&
      !std::exchange(due_[app], true))
    later(0.05, 2, [this, app] { reconcile(app); });
  if (!budgets_.objects.empty() && !std::exchange(due_[""], true))
    later(0.05, 1, [this] { refresh_budgets(); });
  if (!change.after) return;
  const std::string& key = pod->key;
  const std::string& uid = pod->uid;
  const bool was_ending = change.before && is_ending(*change.before);
  if (is_ending(*pod) && !was_ending) {
    const json& grace = part(pod->object, {"metadata", "deletionGracePeriodSeconds"});
    const double seconds = grace.is_number() ? grace.get<double>() : 1;
    return later(0.1, 0.2 + seconds, [this, key, uid] { remove_if_ending(key, uid); });
  }
  const std::string node = text_at(pod->object, {"spec", "nodeName"});
  const bool was_bound = change.before && !text_at(change.before->object, {"spec", "nodeName"}).empty();
  if (!node.empty() && !was_bound) {
    if (!nodes_.objects.contains(node)) return later(2, 15, [this, key, uid] { collect(key, uid); });
    return later(0.1, 3, [this, key, uid] { start(key, uid); });
  }
  if (node.empty() && !change.before && text_at(pod->object, {"spec", "schedulerName"}) == kOtherScheduler)
    later(0.1, 6, [this, key, uid] { bind_for_other(key, uid); });
}

void SimulatedCluster::start(const std::string& key, const std::string& uid) {
  if (!is_there(pods_, key, uid) || text_at(pods_.objects.at(key)->object, {"status", "phase"}) != "Pending")
    return;
  const bool is_job = part(pods_.objects.at(key)->object, {"metadata", "labels"}).contains("job");
  change_pod(key, [this](json& pod) {
    pod["status"]["phase"] = "Running";
    pod["status"]["startTime"] = time_text(server_.clock().now());
  });
  if (is_job) later(5, 60, [this, key, uid] { finish(key, uid); });
}

void SimulatedCluster::finish(const std::string& key, const std::string& uid) {
  if (is_calm_ || !is_there(pods_, key, uid) || is_ending(*pods_.objects.at(key))) return;
  const char* const phase = random_.chance(0.8) ? "Succeeded" : "Failed";
  change_pod(key, [phase](json& pod) { pod["status"]["phase"] = phase; });
  later(5, 60, [this, key, uid] {
    if (is_there(pods_, key, uid)) delete_pod(key, 0s);
  });
}

void SimulatedCluster::remove_if_ending(const std::string& key, const std::string& uid) {
  if (is_there(pods_, key, uid)) server_.storage().remove(pods_, pods_.objects.at(key));
}

void SimulatedCluster::collect(const std::string& key, const std::string& uid) {
  if (!is_there(pods_, key, uid)) return;
  if (nodes_.objects.contains(text_at(pods_.objects.at(key)->object, {"spec", "nodeName"}))) {
    return later(0.1, 3, [this, key, uid] { start(key, uid); });
  }
  server_.storage().remove(pods_, pods_.objects.at(key));
}

void SimulatedCluster::add_app(App app) {
  const std::string name = app.name;
  apps_[name] = std::move(app);
  reconcile(name);
}

void SimulatedCluster::scale(const std::string& app, int replicas) {
  apps_.at(app).replicas = replicas;
  reconcile(app);
}

std::vector<std::string> SimulatedCluster::app_names() const {
  std::vector<std::string> names;
  for (const auto& [name, app] : apps_) names.push_back(name);
  return names;
}

void SimulatedCluster::reconcile(const std::string& name) {
  due_[name] = false;
  App& app = apps_.at(name);
  std::vector<std::string> live;
  for (const auto& [key, pod] : pods_.objects) {
    if (text_at(pod->object, {"metadata", "labels", "app"}) != name) continue;
    if (!is_ending(*pod)) live.push_back(key);
  }
  if (app.is_job) {
    for (; app.replicas > 0; --app.replicas) make_pod(app, 0);
    return;
  }
  // A StatefulSet waits until the old pod of a name is gone.
  for (int index = 0; app.is_stateful && index < app.replicas; ++index)
    if (!pods_.objects.contains("default/" + name + "-" + std::to_string(index))) make_pod(app, index);
  if (app.is_stateful) return;
  for (auto missing = app.replicas - static_cast<int>(live.size()); missing > 0; --missing) make_pod(app, 0);
  for (auto extra = static_cast<int>(live.size()) - app.replicas; extra > 0; --extra) {
    delete_pod(live.back(), 1s);
    live.pop_back();
  }
}

void SimulatedCluster::make_pod(App& app, int index) {
  json pod = app.pod;
  const std::string name =
      app.name + "-" + std::to_string(app.is_stateful ? index : static_cast<int>(++names_ + 1000));
  pod["metadata"]["namespace"] = "default";
  pod["metadata"]["name"] = name;
  pod["metadata"]["labels"]["app"] = app.name;
  if (app.is_job) pod["metadata"]["labels"]["job"] = "yes";
  pod["metadata"]["ownerReferences"] = {{{"apiVersion", "apps/v1"},
                                         {"kind", app.is_stateful ? "StatefulSet" : "ReplicaSet"},
                                         {"name", app.name},
                                         {"uid", "uid-of-" + app.name},
                                         {"controller", true}}};
  pod["status"]["phase"] = "Pending";
  if (!app.claim_class.empty()) {
    make_claim(app, name);
    pod["spec"]["volumes"] = {{{"name", "data"}, {"persistentVolumeClaim", {{"claimName", name}}}}};
  }
  server_.storage().create(pods_, std::move(pod), server_.clock().now());
}

void SimulatedCluster::make_claim(const App& app, const std::string& name) {
  if (claims_.objects.contains("default/" + name)) return;
  server_.storage().create(claims_,
                           {{"metadata", {{"namespace", "default"}, {"name", name}}},
                            {"spec",
                             {{"accessModes", {"ReadWriteOnce"}},
                              {"storageClassName", app.claim_class},
                              {"resources", {{"requests", {{"storage", "1Gi"}}}}}}},
                            {"status", {{"phase", "Pending"}}}},
                           server_.clock().now());
}

void SimulatedCluster::claim_changed(const Change& change) {
  if (!change.after) return;
  // Sometimes it takes long, and sometimes it is forgotten until the calm.
  if (!is_calm_ && random_.chance(0.1)) return;
  const bool is_slow = !is_calm_ && random_.chance(0.2);
  later(0.1, is_slow ? 40 : 2,
        [this, key = change.after->key, uid = change.after->uid] { provision(key, uid); });
}

void SimulatedCluster::provision(const std::string& key, const std::string& uid) {
  if (!is_there(claims_, key, uid)) return;
  const StoredPtr claim = claims_.objects.at(key);
  const std::string node =
      text_at(claim->object, {"metadata", "annotations", "volume.kubernetes.io/selected-node"});
  if (node.empty() || !text_at(claim->object, {"spec", "volumeName"}).empty()) return;
  json object = claim->object;
  if (!nodes_.objects.contains(node) || (!is_calm_ && random_.chance(0.1))) {
    // The provisioner gives up: the scheduler is to choose again.
    object["metadata"]["annotations"].erase("volume.kubernetes.io/selected-node");
    server_.storage().replace(claims_, claim, std::move(object));
    return;
  }
  const std::string volume = "pv-" + claim->uid;
  if (!volumes_.objects.contains(volume)) {
    server_.storage().create(
        volumes_,
        {{"metadata", {{"name", volume}}},
         {"spec",
          {{"capacity", {{"storage", "1Gi"}}},
           {"accessModes", {"ReadWriteOnce"}},
           {"storageClassName", object["spec"]["storageClassName"]},
           {"csi", {{"driver", "disk.example"}, {"volumeHandle", volume}}},
           {"claimRef",
            {{"namespace", "default"}, {"name", object["metadata"]["name"]}, {"uid", claim->uid}}}}},
         {"status", {{"phase", "Bound"}}}},
        server_.clock().now());
  }
  object["spec"]["volumeName"] = volume;
  object["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] = "yes";
  object["status"]["phase"] = "Bound";
  server_.storage().replace(claims_, claim, std::move(object));
}

void SimulatedCluster::bind_for_other(const std::string& key, const std::string& uid) {
  if (!is_there(pods_, key, uid) || is_calm_) return;
  const StoredPtr pod = pods_.objects.at(key);
  std::vector<std::string> fitting;
  for (const auto& [name, node] : nodes_.objects)
    if (misfit(*pod, *node, pods_on(pods_.objects, name)).empty()) fitting.push_back(name);
  if (fitting.empty()) return later(1, 10, [this, key, uid] { bind_for_other(key, uid); });
  change_pod(key, [&](json& object) { object["spec"]["nodeName"] = fitting[random_.below(fitting.size())]; });
}

void SimulatedCluster::refresh_budgets() {
  due_[""] = false;
  for (const auto& [key, budget] : std::map(budgets_.objects)) {
    int healthy = 0;
    for (const auto& [name, pod] : pods_.objects) {
      const bool is_meant =
          selects(part(budget->object, {"spec", "selector"}), part(pod->object, {"metadata", "labels"}));
      if (is_meant && text_at(pod->object, {"status", "phase"}) == "Running" && !is_ending(*pod)) ++healthy;
    }
    json object = budget->object;
    object["status"]["currentHealthy"] = healthy;
    object["status"]["disruptionsAllowed"] = std::max(0, healthy - object["spec"].value("minAvailable", 0));
    if (object != budget->object) server_.storage().replace(budgets_, budget, std::move(object));
  }
}

}  // namespace evenkeel::faults

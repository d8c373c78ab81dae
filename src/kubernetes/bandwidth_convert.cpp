#include "kubernetes/bandwidth_convert.h"

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/yaml_file.h"
#include "cluster/app_group.h"
#include "kubernetes/json_field.h"
#include "kubernetes/read_network.h"
#include "kubernetes/yaml_to_json.h"

namespace evenkeel::kubernetes {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kIngress = "kubernetes.io/ingress-bandwidth";
constexpr const char* kEgress = "kubernetes.io/egress-bandwidth";
constexpr std::int64_t kLeast = 1000, kMost = 1'000'000'000'000'000;  // what kubelets let pass

std::string text_at(const Json& json, const char* pointer) {
  const Json::json_pointer at(pointer);
  return json.contains(at) && json.at(at).is_string() ? json.at(at).get<std::string>() : "";
}

// Where an object keeps what its pods are made of: the pod itself, or a template. Nothing: it has no pods.
const char* place_of_pods(const std::string& kind) {
  if (kind == "Pod") return "";
  if (kind == "Deployment" || kind == "StatefulSet" || kind == "ReplicaSet" || kind == "DaemonSet" ||
      kind == "Job" || kind == "ReplicationController")
    return "/spec/template";
  return kind == "CronJob" ? "/spec/jobTemplate/spec/template" : nullptr;
}

struct Part {
  std::string group, selector;  // group: namespace/name
  bool operator<(const Part& other) const {
    return std::tie(group, selector) < std::tie(other.group, other.selector);
  }
};

struct Shape {
  std::int64_t ingress = 0, egress = 0;
};

class Manifests {
 public:
  Status add(const std::string& name, const std::string& text) {
    const auto documents = YamlFile::parse_documents(text, name);
    if (!documents) return documents.error();
    for (const YamlFile& one : *documents) {
      const std::string where = name + ":" + std::to_string(one.root().line);
      Json json = Json::parse(yaml_to_json(one.root()), nullptr, false);
      if (json.is_discarded()) return invalid(where + ": cannot be read");
      if (auto added = add(std::move(json), where); !added) return added;
    }
    return {};
  }

  Result<ShapedManifests> shaped() {
    if (groups_.empty()) return invalid("no AppGroup found: nothing says who needs which bandwidth");
    for (const AppGroup& group : groups_) add_edges(group);
    ShapedManifests made;
    for (auto& [object, place, part] : objects_) {
      if (const auto shape = shapes_.find(part); shape != shapes_.end())
        made.annotated += annotate(object, place, shape->second) ? 1 : 0;
      made.text += (made.text.empty() ? "" : "---\n") + object.dump(2) + "\n";
    }
    made.remarks = std::move(remarks_);
    return made;
  }

 private:
  struct WithPods {
    Json object;
    std::string place;
    Part part;
  };

  Status add(Json json, const std::string& where) {
    if (json.is_object() && json.contains("items") && json["items"].is_array()) {
      for (Json& item : json["items"])
        if (auto added = add(std::move(item), where); !added) return added;
      return {};
    }
    const std::string kind = text_at(json, "/kind");
    if (kind == "AppGroup") return add_group(json, where);
    const char* place = place_of_pods(kind);
    if (place == nullptr) {
      remarks_.push_back(where + ": " + (kind.empty() ? "what has no kind" : kind) +
                         " left out: it has no pods");
      return {};
    }
    add_pods(std::move(json), place);
    return {};
  }

  Status add_group(const Json& json, const std::string& where) {
    const auto document = JsonDocument::parse(json.dump(), where);
    if (!document) return document.error();
    JsonReading reading(where);
    AppGroup group = read_app_group(JsonField(reading, document->root()));
    if (reading.error()) return *reading.error();
    if (group.name_space.empty()) group.name_space = "default";
    groups_.push_back(std::move(group));
    return {};
  }

  void add_pods(Json json, const std::string& place) {
    const std::string labels = place + "/metadata/labels";
    const auto label = [&](std::string_view name) {
      const Json::json_pointer at(labels);
      return json.contains(at) ? json.at(at).value(std::string(name), "") : "";
    };
    std::string name_space = text_at(json, "/metadata/namespace");
    if (name_space.empty()) name_space = "default";
    const Part part{.group = name_space + "/" + label(kAppGroupLabel), .selector = label(kAppWorkloadLabel)};
    const Json::json_pointer replicas("/spec/replicas");
    const bool says = json.contains(replicas) && json.at(replicas).is_number_unsigned();
    if (!part.selector.empty()) {
      replicas_[part] += says ? json.at(replicas).get<std::int64_t>() : 1;
      if (text_at(json, "/kind") == "DaemonSet")
        remarks_.push_back("DaemonSet " + text_at(json, "/metadata/name") +
                           " counts as one pod: how many it has, its nodes say");
    }
    objects_.push_back({std::move(json), place, part});
  }

  std::int64_t replicas_of(const Part& part) {
    const auto found = replicas_.find(part);
    if (found != replicas_.end()) return found->second;
    if (guessed_.insert(part).second)
      remarks_.push_back("AppGroup " + part.group + ": no pods of " + part.selector +
                         " among the manifests, taken for one");
    return 1;
  }

  void add_edges(const AppGroup& group) {
    const std::string key = group.name_space + "/" + group.name;
    for (const AppWorkload& workload : group.workloads)
      for (const AppDependency& edge : workload.dependencies) {
        if (edge.min_bandwidth.count <= 0) continue;
        const Part from{.group = key, .selector = workload.workload.selector};
        const Part to{.group = key, .selector = edge.workload.selector};
        const auto times = [&](std::int64_t count) {
          std::int64_t product = 0;
          return __builtin_mul_overflow(edge.min_bandwidth.count, count, &product) ? kMost : product;
        };
        Shape &sender = shapes_[from], &receiver = shapes_[to];
        sender.egress = std::min(kMost, sender.egress + std::min(kMost, times(replicas_of(to))));
        receiver.ingress = std::min(kMost, receiver.ingress + std::min(kMost, times(replicas_of(from))));
      }
  }

  static bool annotate(Json& object, const std::string& place, const Shape& shape) {
    Json& annotations = object[Json::json_pointer(place + "/metadata/annotations")];
    if (annotations.is_null()) annotations = Json::object();
    bool has_changed = false;
    const auto set = [&](const char* key, std::int64_t bits) {
      if (bits <= 0 || annotations.contains(key)) return;
      annotations[key] = std::to_string(std::max(kLeast, bits));
      has_changed = true;
    };
    set(kIngress, shape.ingress);
    set(kEgress, shape.egress);
    return has_changed;
  }

  std::vector<AppGroup> groups_;
  std::vector<WithPods> objects_;
  std::map<Part, std::int64_t> replicas_;
  std::map<Part, Shape> shapes_;
  std::set<Part> guessed_;
  std::vector<std::string> remarks_;
};

}  // namespace

Result<ShapedManifests> shape_manifests(const std::vector<std::pair<std::string, std::string>>& manifests) {
  try {
    Manifests all;
    for (const auto& [name, text] : manifests)
      if (auto added = all.add(name, text); !added) return added.error();
    return all.shaped();
  } catch (const nlohmann::json::exception& failure) {  // a field of another type than the API has
    return invalid(std::string("a manifest that the API would refuse: ") + failure.what());
  }
}

}  // namespace evenkeel::kubernetes

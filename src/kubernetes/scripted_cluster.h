// A cluster behind a ScriptedConnection: lists are answered from what a test put there, changes go out to
// whoever watches, writes are answered with 200 unless the test says otherwise.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kubernetes/resource_type.h"
#include "kubernetes/scripted_connection.h"

namespace evenkeel::kubernetes {

class ScriptedCluster {
 public:
  using json = nlohmann::json;

  ScriptedCluster() {
    connection.answer = [this](const ApiRequest& request) { return answer(request); };
  }

  ScriptedConnection connection;
  // The first that says something about a request is heard.
  std::function<std::optional<ApiAnswer>(const ApiRequest&)> write;
  std::vector<ApiRequest> writes;

  void put(const ResourceType& type, json object) {
    const std::string name_space = object["metadata"].value("namespace", "");
    const std::string key = name_space + "/" + object["metadata"]["name"].get<std::string>();
    auto& known = objects_[type.collection()];
    const bool is_new = !known.contains(key);
    object["apiVersion"] = type.api_version;
    object["kind"] = type.kind;
    object["metadata"]["resourceVersion"] = std::to_string(++version_);
    if (!object["metadata"].contains("uid")) object["metadata"]["uid"] = "uid-" + key;
    known[key] = object;
    push(type, is_new ? "ADDED" : "MODIFIED", object);
  }
  void remove(const ResourceType& type, const std::string& name_space, const std::string& name) {
    json object = objects_[type.collection()].extract(name_space + "/" + name).mapped();
    object["metadata"]["resourceVersion"] = std::to_string(++version_);
    push(type, "DELETED", object);
  }
  void add_node(const std::string& name, const std::string& cpu = "4") {
    put(types::nodes(), {{"metadata", {{"name", name}}},
                         {"status", {{"allocatable", {{"cpu", cpu}, {"memory", "8Gi"}, {"pods", "110"}}}}}});
  }
  static json pod(const std::string& name, const std::string& cpu = "1", std::int32_t priority = 0) {
    return {{"metadata", {{"namespace", "shop"}, {"name", name}}},
            {"spec",
             {{"schedulerName", "evenkeel"},
              {"priority", priority},
              {"containers", {{{"name", "c"}, {"resources", {{"requests", {{"cpu", cpu}}}}}}}}}}};
  }
  void add_pod(const std::string& name, const std::string& cpu = "1", std::int32_t priority = 0) {
    put(types::pods(), pod(name, cpu, priority));
  }
  // Writes whose path has these words in it.
  std::vector<ApiRequest> sent(const std::string& method, const std::string& path) const {
    std::vector<ApiRequest> found;
    for (const ApiRequest& request : writes)
      if (request.method == method && request.path.find(path) != std::string::npos) found.push_back(request);
    return found;
  }

 private:
  struct Place {
    std::string collection, key;  // of an object; of a collection the key is empty
  };
  // /api/v1/namespaces/shop/pods/web is web of shop among /api/v1/pods.
  static Place place_of(std::string path) {
    path = path.substr(0, path.find('?'));
    std::string name_space;
    if (const auto at = path.find("/namespaces/"); at != std::string::npos) {
      const auto begin = at + 12, end = path.find('/', begin);
      if (end == std::string::npos) return {path.substr(0, at + 11), "/" + path.substr(begin)};
      name_space = path.substr(begin, end - begin);
      path.erase(at, end - at);
    }
    const bool is_core = path.starts_with("/api/");
    std::size_t slash = 0;
    for (int i = 0; i < (is_core ? 3 : 4); ++i) slash = path.find('/', slash + 1);
    if (slash == std::string::npos) return {path, ""};
    return {path.substr(0, slash), name_space + "/" + path.substr(slash + 1)};
  }

  std::optional<ApiAnswer> answer(const ApiRequest& request) {
    if (request.method != "GET") writes.push_back(request);
    if (write)
      if (auto given = write(request)) return given;
    const Place place = place_of(request.path);
    auto& known = objects_[place.collection];
    if (place.collection.ends_with("/leases") && request.method != "GET") return lease(request);
    if (request.method != "GET")
      return ScriptedConnection::ok(
          json{{"metadata", {{"name", "x"}, {"resourceVersion", std::to_string(++version_)}}}}.dump());
    if (!place.key.empty()) {
      const auto at = known.find(place.key);
      return at == known.end() ? ScriptedConnection::refusal(404) : ScriptedConnection::ok(at->second.dump());
    }
    json items = json::array();
    for (const auto& [key, object] : known) items.push_back(object);
    return ScriptedConnection::ok(
        json{{"metadata", {{"resourceVersion", std::to_string(version_)}}}, {"items", items}}.dump());
  }
  // Leases are kept: 409 where somebody was quicker.
  ApiAnswer lease(const ApiRequest& request) {
    json written = json::parse(request.body);
    auto& known = objects_["/apis/coordination.k8s.io/v1/leases"];
    const std::string key = written["metadata"]["namespace"].get<std::string>() + "/" +
                            written["metadata"]["name"].get<std::string>();
    const bool is_there = known.contains(key);
    if (is_there == (request.method == "POST")) return ScriptedConnection::refusal(is_there ? 409 : 404);
    if (is_there && known[key]["metadata"]["resourceVersion"] != written["metadata"]["resourceVersion"])
      return ScriptedConnection::refusal(409);
    written["metadata"]["resourceVersion"] = std::to_string(++version_);
    known[key] = written;
    return ScriptedConnection::ok(written.dump());
  }
  void push(const ResourceType& type, const std::string& what, const json& object) {
    for (auto& [number, stream] : connection.streams) {
      if (place_of(stream.first.path).collection != type.collection()) continue;
      const std::string frame = json{{"type", what}, {"object", object}}.dump() + "\n";
      connection.post([this, id = number, frame] {
        const auto at = connection.streams.find(id);
        if (at == connection.streams.end()) return;
        const auto handlers = at->second.second;
        handlers.opened(WireFormat::json);
        handlers.body(frame);
      });
    }
  }

  std::map<std::string, std::map<std::string, json>> objects_;  // by collection and name
  int version_ = 0;
};

}  // namespace evenkeel::kubernetes

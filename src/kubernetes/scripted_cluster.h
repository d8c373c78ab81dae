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
    put(types::nodes(),
        {{"metadata", {{"name", name}}},
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
  // Writes whose path and body both have these words in them.
  std::vector<ApiRequest> sent(const std::string& method, const std::string& path) const {
    std::vector<ApiRequest> found;
    for (const ApiRequest& request : writes)
      if (request.method == method && request.path.find(path) != std::string::npos) found.push_back(request);
    return found;
  }

 private:
  std::optional<ApiAnswer> answer(const ApiRequest& request) {
    if (write)
      if (auto given = write(request)) {
        if (request.method != "GET") writes.push_back(request);
        return given;
      }
    if (request.method != "GET") {
      writes.push_back(request);
      return ScriptedConnection::ok(
          json{{"metadata", {{"name", "x"}, {"resourceVersion", std::to_string(++version_)}}}}.dump());
    }
    const std::string path = request.path.substr(0, request.path.find('?'));
    json items = json::array();
    for (const auto& [key, object] : objects_[path]) items.push_back(object);
    return ScriptedConnection::ok(
        json{{"metadata", {{"resourceVersion", std::to_string(version_)}}}, {"items", items}}.dump());
  }
  void push(const ResourceType& type, const std::string& what, const json& object) {
    for (auto& [id, stream] : connection.streams) {
      if (!stream.first.path.starts_with(type.collection() + "?")) continue;
      const std::string frame = json{{"type", what}, {"object", object}}.dump() + "\n";
      connection.post([this, id = id, frame] {
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

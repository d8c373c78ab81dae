#include "kubernetes/scale_targets.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "kubernetes/json_field.h"

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
constexpr Duration kAskAgain = 30s;
constexpr std::string_view kScale = "/scale";
constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();

}  // namespace

Result<ScaleReading> read_scale(std::string_view json) {
  const auto document = JsonDocument::parse(json, "Scale");
  if (!document) return document.error();
  JsonReading reading("Scale");
  const JsonField root(reading, document->root());
  if (root.text_at("kind") != "Scale") root.fail_at("kind", "expected Scale");
  ScaleReading scale;
  scale.resource_version = root.at("metadata").text_at("resourceVersion");
  scale.wanted = static_cast<std::int32_t>(root.at("spec").at("replicas").integer(0, kMost, 0));
  scale.there = static_cast<std::int32_t>(root.at("status").at("replicas").integer(0, kMost, 0));
  scale.selector = root.at("status").text_at("selector");
  if (reading.error()) return *reading.error();
  return scale;
}

// Every cluster has these: no need to ask.
ScaleTargets::ScaleTargets(ApiConnection& connection) : connection_(connection) {
  Version& apps = versions_["apps/v1"];
  for (ResourceType type :
       {ResourceType{"apps/v1", "Deployment", "deployments"}, types::stateful_sets(), types::replica_sets()})
    apps.by_kind.emplace(type.kind, type);
}

Result<ResourceType> ScaleTargets::look_up(const Version& version, const std::string& api_version,
                                           const std::string& kind) {
  if (const auto at = version.by_kind.find(kind); at != version.by_kind.end()) return at->second;
  if (!version.trouble.empty()) return unavailable(version.trouble);
  const bool is_there = std::find(version.others.begin(), version.others.end(), kind) != version.others.end();
  return not_found(api_version + " " + kind +
                   (is_there ? " has no scale subresource" : " is not a kind this cluster has"));
}

void ScaleTargets::find(const std::string& api_version, const std::string& kind, const Done& done) {
  Version& version = versions_[api_version];
  if (version.by_kind.contains(kind)) return done(version.by_kind.at(kind));
  const bool is_recent = version.asked && connection_.now() - *version.asked < kAskAgain;
  if (is_recent && !version.is_asking) return done(look_up(version, api_version, kind));
  version.waiting.emplace_back(kind, done);
  if (!version.is_asking) ask(api_version);
}

void ScaleTargets::ask(const std::string& api_version) {
  Version& version = versions_[api_version];
  version.is_asking = true;
  ApiRequest request;
  const bool is_core = api_version.find('/') == std::string::npos;
  request.path = (is_core ? "/api/" : "/apis/") + api_version;
  request.timeout = 10s;
  connection_.call(std::move(request), [api_version, self = std::weak_ptr(alive_)](const ApiAnswer& answer) {
    if (const auto alive = self.lock()) (*alive)->answered(api_version, answer);
  });
}

void ScaleTargets::answered(const std::string& api_version, const ApiAnswer& answer) {
  Version& version = versions_[api_version];
  version.is_asking = false;
  version.asked = connection_.now();
  version.trouble.clear();
  version.others.clear();
  if (answer.code == 404) {
    version.trouble = api_version + " is not an API this cluster has";
  } else if (!answer.ok()) {
    version.trouble = answer.error().message;
  } else if (const auto document = JsonDocument::parse(answer.body, "APIResourceList"); !document) {
    version.trouble = document.error().message;
  } else {
    JsonReading reading("APIResourceList");
    std::map<std::string, ResourceType> by_plural;
    std::vector<std::string> scalable;
    for (const JsonField& item : JsonField(reading, document->root()).at("resources").items()) {
      const std::string name = item.text_at("name");
      if (name.ends_with(kScale))
        scalable.push_back(name.substr(0, name.size() - kScale.size()));
      else if (name.find('/') == std::string::npos)
        by_plural.emplace(name,
                          ResourceType{api_version, item.text_at("kind"), name, item.flag_at("namespaced")});
    }
    for (const auto& [plural, type] : by_plural) {
      if (std::find(scalable.begin(), scalable.end(), plural) != scalable.end())
        version.by_kind.insert_or_assign(type.kind, type);
      else
        version.others.push_back(type.kind);
    }
  }
  for (const auto& [kind, done] : std::exchange(version.waiting, {}))
    done(look_up(version, api_version, kind));
}

}  // namespace evenkeel::kubernetes

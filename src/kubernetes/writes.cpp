#include "kubernetes/writes.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "kubernetes/rfc3339.h"

namespace evenkeel::kubernetes {
namespace {

using nlohmann::json;

constexpr const char* kJson = "application/json";
constexpr std::size_t kMaxNote = 1024;  // the API refuses longer notes of an Event

// What we were told to say may hold any bytes: those that are no UTF-8 become U+FFFD instead of an exception.
std::string text_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

ApiRequest post(std::string path, const json& body) {
  return {"POST", std::move(path), kJson, text_of(body), WireFormat::protobuf};
}

std::string micro_time(Time time) {
  const std::int64_t micros = time.time_since_epoch().count();
  const std::int64_t within = ((micros % 1'000'000) + 1'000'000) % 1'000'000;
  const auto spelled = format_rfc3339((micros - within) / 1'000'000, within * 1000, true);
  EVENKEEL_CHECK(spelled.has_value());
  return *spelled;
}

std::string whole_time(Time time) {
  const std::int64_t micros = time.time_since_epoch().count();
  const auto spelled = format_rfc3339(micros / 1'000'000, 0, false);
  EVENKEEL_CHECK(spelled.has_value());
  return *spelled;
}

json lease_spec(const LeaseRecord& lease) {
  return {{"holderIdentity", lease.holder},
          {"leaseDurationSeconds", lease.duration_seconds},
          {"acquireTime", micro_time(lease.acquired)},
          {"renewTime", micro_time(lease.renewed)},
          {"leaseTransitions", lease.transitions}};
}

// At most `most` bytes, and never half a character.
std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

}  // namespace

ApiRequest bind_request(const PodReference& pod, std::string_view node) {
  return post(types::pods().object(pod.name_space, pod.name, "binding"),
              {{"apiVersion", "v1"},
               {"kind", "Binding"},
               {"metadata", {{"namespace", pod.name_space}, {"name", pod.name}, {"uid", pod.uid}}},
               {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}});
}

ApiRequest evict_request(const PodReference& pod) {
  ApiRequest request = post(types::pods().object(pod.name_space, pod.name, "eviction"),
                            {{"apiVersion", "policy/v1"},
                             {"kind", "Eviction"},
                             {"metadata", {{"namespace", pod.name_space}, {"name", pod.name}}},
                             {"deleteOptions", {{"preconditions", {{"uid", pod.uid}}}}}});
  request.waits_its_turn = false;
  return request;
}

ApiRequest create_request(const ResourceType& type, std::string_view name_space, std::string body) {
  return {"POST", type.collection(name_space), kJson, std::move(body), WireFormat::json};
}

ApiRequest read_request(const ResourceType& type, std::string_view name_space, std::string_view name,
                        WireFormat format) {
  return {"GET", type.object(name_space, name), "", "", format};
}

ApiRequest replace_request(const ResourceType& type, std::string_view name_space, std::string_view name,
                           std::string body) {
  return {"PUT", type.object(name_space, name), kJson, std::move(body), WireFormat::json};
}

ApiRequest delete_request(const ResourceType& type, std::string_view name_space, std::string_view name,
                          std::string_view uid) {
  json options = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!uid.empty()) options["preconditions"] = {{"uid", uid}};
  return {"DELETE", type.object(name_space, name), kJson, text_of(options), WireFormat::json};
}

ApiRequest patch_request(const ResourceType& type, std::string_view name_space, std::string_view name,
                         std::string_view subresource, PatchKind kind, std::string body) {
  const char* const content = kind == PatchKind::json    ? "application/json-patch+json"
                              : kind == PatchKind::merge ? "application/merge-patch+json"
                                                         : "application/strategic-merge-patch+json";
  return {"PATCH", type.object(name_space, name, subresource), content, std::move(body), WireFormat::json};
}

ApiRequest scale_request(const ResourceType& type, std::string_view name_space, std::string_view name,
                         std::int32_t replicas) {
  return patch_request(type, name_space, name, "scale", PatchKind::merge,
                       text_of({{"spec", {{"replicas", replicas}}}}));
}

ApiRequest pod_condition_request(const PodReference& pod, const PodCondition& condition, Time now) {
  const json patch = {{"metadata", {{"uid", pod.uid}}},
                      {"status",
                       {{"conditions",
                         {{{"type", condition.type},
                           {"status", condition.status},
                           {"reason", condition.reason},
                           {"message", condition.message},
                           {"lastTransitionTime", whole_time(now)}}}}}}};
  return patch_request(types::pods(), pod.name_space, pod.name, "status", PatchKind::strategic,
                       text_of(patch));
}

ApiRequest create_lease_request(std::string_view name_space, std::string_view name,
                                const LeaseRecord& lease) {
  return create_request(types::leases(), name_space,
                        text_of({{"apiVersion", "coordination.k8s.io/v1"},
                                 {"kind", "Lease"},
                                 {"metadata", {{"namespace", name_space}, {"name", name}}},
                                 {"spec", lease_spec(lease)}}));
}

ApiRequest replace_lease_request(std::string_view name_space, std::string_view name,
                                 std::string_view resource_version, const LeaseRecord& lease) {
  return replace_request(
      types::leases(), name_space, name,
      text_of(
          {{"apiVersion", "coordination.k8s.io/v1"},
           {"kind", "Lease"},
           {"metadata", {{"namespace", name_space}, {"name", name}, {"resourceVersion", resource_version}}},
           {"spec", lease_spec(lease)}}));
}

ApiRequest event_request(const EventRecord& event, Time now) {
  const ResourceType events{"events.k8s.io/v1", "Event", "events"};
  const std::string name_space = event.about.name_space.empty() ? "default" : event.about.name_space;
  json regarding = {{"apiVersion", event.api_version},
                    {"kind", event.kind},
                    {"name", event.about.name},
                    {"uid", event.about.uid}};
  if (!event.about.name_space.empty()) regarding["namespace"] = event.about.name_space;
  return post(events.collection(name_space),
              {{"apiVersion", "events.k8s.io/v1"},
               {"kind", "Event"},
               {"metadata", {{"namespace", name_space}, {"name", event.name}}},
               {"eventTime", micro_time(now)},
               {"reportingController", event.reporter},
               {"reportingInstance", event.instance.empty() ? event.reporter : event.instance},
               {"action", event.action},
               {"reason", event.reason},
               {"regarding", std::move(regarding)},
               {"note", shortened(event.message, kMaxNote)},
               {"type", event.is_warning ? "Warning" : "Normal"}});
}

}  // namespace evenkeel::kubernetes

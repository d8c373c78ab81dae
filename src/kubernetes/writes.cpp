#include "kubernetes/writes.h"

#include <simdjson.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "kubernetes/protobuf_writer.h"
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

ApiRequest post_protobuf(std::string path, std::string body) {
  return {"POST", std::move(path), std::string(media_type(WireFormat::protobuf)), std::move(body),
          WireFormat::protobuf};
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

ResourceType event_type() { return {"events.k8s.io/v1", "Event", "events"}; }

std::string name_space_of(const EventRecord& event) {
  return event.about.name_space.empty() ? "default" : event.about.name_space;
}

json json_reference(const std::string& kind, const std::string& api_version, const PodReference& object) {
  json reference = {{"apiVersion", api_version}, {"kind", kind}, {"name", object.name}, {"uid", object.uid}};
  if (!object.name_space.empty()) reference["namespace"] = object.name_space;
  return reference;
}

ProtobufWriter protobuf_reference(const std::string& kind, const std::string& api_version,
                                  const PodReference& object) {
  ProtobufWriter reference;
  reference.text(1, kind).text(2, object.name_space).text(3, object.name).text(4, object.uid);
  reference.text(5, api_version);
  return reference;
}

// Protobuf says nothing about texts that are no UTF-8; the server refuses them.
bool is_utf8(const std::string& text) { return simdjson::validate_utf8(text.data(), text.size()); }

// At most `most` bytes, and never half a character.
std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  constexpr std::string_view kEllipsis = " ...";  // kube-scheduler's
  std::size_t end = most - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end).append(kEllipsis);
}

}  // namespace

ApiRequest bind_request(const PodReference& pod, std::string_view node,
                        std::span<const Annotation> annotations, WireFormat body) {
  std::string path = types::pods().object(pod.name_space, pod.name, "binding");
  if (body == WireFormat::protobuf) {
    ProtobufWriter metadata, target, binding;
    metadata.text(1, pod.name).text(3, pod.name_space).text(5, pod.uid);
    for (const Annotation& annotation : annotations)
      metadata.message(12, ProtobufWriter().text(1, annotation.key).text(2, annotation.value));
    target.text(1, "Node").text(3, node).text(5, "v1");
    binding.message(1, metadata).message(2, target);
    return post_protobuf(std::move(path), binding.enveloped("v1", "Binding"));
  }
  json metadata = {{"namespace", pod.name_space}, {"name", pod.name}, {"uid", pod.uid}};
  for (const Annotation& annotation : annotations) metadata["annotations"][annotation.key] = annotation.value;
  return post(std::move(path), {{"apiVersion", "v1"},
                                {"kind", "Binding"},
                                {"metadata", std::move(metadata)},
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

ApiRequest pod_status_request(const PodReference& pod, const PodStatusChange& change, Time now) {
  json status = json::object();
  if (change.condition) {
    json condition = {{"type", change.condition->type},
                      {"status", change.condition->status},
                      {"reason", change.condition->reason},
                      {"message", change.condition->message}};
    if (change.is_transition) condition["lastTransitionTime"] = whole_time(now);
    status["conditions"] = json::array({std::move(condition)});
  }
  if (change.nominated_node)
    status["nominatedNodeName"] = change.nominated_node->empty() ? json() : json(*change.nominated_node);
  return patch_request(types::pods(), pod.name_space, pod.name, "status", PatchKind::strategic,
                       text_of({{"metadata", {{"uid", pod.uid}}}, {"status", std::move(status)}}));
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

ApiRequest event_request(const EventRecord& event, Time now, WireFormat body) {
  const std::string name_space = name_space_of(event);
  std::string path = event_type().collection(name_space);
  const std::string& instance = event.instance.empty() ? event.reporter : event.instance;
  const std::string note = shortened(event.message, kMaxNote);
  const char* const type = event.is_warning ? "Warning" : "Normal";
  if (body == WireFormat::protobuf && is_utf8(note)) {
    const std::int64_t micros = now.time_since_epoch().count();
    ProtobufWriter written;
    written.message(1, ProtobufWriter().text(1, event.name).text(3, name_space))
        .message(2, ProtobufWriter().integer(1, micros / 1'000'000).integer(2, micros % 1'000'000 * 1000))
        .text(4, event.reporter)
        .text(5, instance)
        .text(6, event.action)
        .text(7, event.reason)
        .message(8, protobuf_reference(event.kind, event.api_version, event.about));
    if (event.related) written.message(9, protobuf_reference("Pod", "v1", *event.related));
    written.text(10, note).text(11, type);
    return post_protobuf(std::move(path), written.enveloped("events.k8s.io/v1", "Event"));
  }
  json written = {{"apiVersion", "events.k8s.io/v1"},
                  {"kind", "Event"},
                  {"metadata", {{"namespace", name_space}, {"name", event.name}}},
                  {"eventTime", micro_time(now)},
                  {"reportingController", event.reporter},
                  {"reportingInstance", instance},
                  {"action", event.action},
                  {"reason", event.reason},
                  {"regarding", json_reference(event.kind, event.api_version, event.about)},
                  {"note", note},
                  {"type", type}};
  if (event.related) written["related"] = json_reference("Pod", "v1", *event.related);
  return post(std::move(path), written);
}

ApiRequest event_series_request(const EventRecord& event, std::int32_t count, Time now) {
  return patch_request(event_type(), name_space_of(event), event.name, "", PatchKind::merge,
                       text_of({{"series", {{"count", count}, {"lastObservedTime", micro_time(now)}}}}));
}

}  // namespace evenkeel::kubernetes

#include "simulated_api_server.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/check.h"

namespace evenkeel::faults {
namespace {

using kubernetes::ApiAnswer;
using kubernetes::ApiRequest;
using kubernetes::ApiStatus;
namespace types = kubernetes::types;

ApiAnswer success(int code, std::string body) {
  ApiAnswer answer;
  answer.code = code;
  answer.body = std::move(body);
  return answer;
}

std::uint64_t number(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool is_meant(const Stored& object, const SimulatedApiServer::Watch& watch) {
  const std::string& name_space = watch.name_space;
  return (name_space.empty() || object.key.starts_with(name_space + "/")) &&
         watch.selector.matches(object.object);
}

// As it was before, under the version of what took it out of the watch's sight.
StoredPtr as_it_left(const Change& change) {
  if (!change.after) return change.last;
  auto left = std::make_shared<Stored>(*change.before);
  left->version = change.version;
  left->object["metadata"]["resourceVersion"] = std::to_string(change.version);
  left->text = left->object.dump(-1, ' ', false, json::error_handler_t::replace);
  return left;
}

SimulatedApiServer::Frame frame(const char* type, StoredPtr object) {
  SimulatedApiServer::Frame made;
  made.text.reserve(object->text.size() + 40);
  made.text.append("{\"type\":\"").append(type).append("\",\"object\":").append(object->text).append("}\n");
  made.is_deletion = std::string_view(type) == "DELETED";
  made.object = std::move(object);
  return made;
}

}  // namespace

ApiAnswer refusal(int code, std::string reason, std::string message, std::int64_t retry_after) {
  ApiAnswer answer;
  answer.code = code;
  answer.status = {code, std::move(reason), std::move(message), retry_after};
  return answer;
}

std::optional<json> request_body(const ApiRequest& request) {
  if (request.body.empty()) return json::object();
  std::string text = request.body;
  if (kubernetes::format_of(request.content_type) == kubernetes::WireFormat::protobuf) {
    auto read = kubernetes::read_object(kubernetes::WireFormat::protobuf, request.body);
    if (!read) return std::nullopt;
    text = std::move(read->json);
  }
  json body = json::parse(text, nullptr, false);
  if (body.is_discarded()) return std::nullopt;
  return body;
}

SimulatedApiServer::SimulatedApiServer(VirtualTime& clock) : clock_(clock) {
  for (const auto& type :
       {types::pods(), types::nodes(), types::namespaces(), types::services(),
        types::replication_controllers(), types::persistent_volumes(), types::persistent_volume_claims(),
        types::replica_sets(), types::stateful_sets(), types::storage_classes(), types::csi_nodes(),
        types::csi_drivers(), types::csi_storage_capacities(), types::volume_attachments(),
        types::pod_disruption_budgets(), types::priority_classes(), types::leases(), types::config_maps()})
    storage_.kind(type);
}

ApiAnswer SimulatedApiServer::execute(const std::string& process, const ApiRequest& request) {
  const auto parts = parse_request_path(request.path);
  if (!parts) return refusal(404, "NotFound", "the server could not find the requested resource");
  const bool is_event = parts->plural == "events";
  Kind* const kind = storage_.find_kind(parts->api_version, parts->plural);
  if (!kind && !is_event)
    return refusal(404, "NotFound", "the server could not find the requested resource " + parts->plural);
  if (request.method == "GET") {
    if (is_event) return refusal(405, "MethodNotAllowed", "events are only counted here");
    if (parts->name.empty()) return list(*kind, *parts);
    const auto found = kind->objects.find(parts->key());
    if (found == kind->objects.end())
      return refusal(404, "NotFound", parts->plural + " \"" + parts->name + "\" not found");
    return success(200, found->second->text);
  }
  const auto body = request_body(request);
  if (!body) return refusal(400, "BadRequest", "the body could not be read");
  Write done{process, &request, &*parts, &*body, nullptr, 0};
  if (kind && !parts->name.empty()) {
    const auto found = kind->objects.find(parts->key());
    if (found != kind->objects.end()) done.before = found->second;
  }
  ApiAnswer answer = is_event ? write_event(request, *parts, *body) : write(*kind, *parts, request, *body);
  done.code = answer.code;
  wrote(done);
  return answer;
}

ApiAnswer SimulatedApiServer::write(Kind& kind, const RequestParts& parts, const ApiRequest& request,
                                    const json& body) {
  if (parts.name.empty()) {
    if (request.method != "POST") return refusal(405, "MethodNotAllowed", "not on a collection");
    return create(kind, parts, body);
  }
  const auto found = kind.objects.find(parts.key());
  if (found == kind.objects.end())
    return refusal(404, "NotFound", parts.plural + " \"" + parts.name + "\" not found");
  const StoredPtr old = found->second;
  const std::string uid = text_at(body, {"metadata", "uid"});
  if (parts.subresource == "binding") {
    const std::string why = admits_binding(body);
    return why.empty() ? bind(kind, old, body) : refusal(422, "Invalid", why);
  }
  if (parts.subresource == "eviction") return evict(old, body);
  if (!uid.empty() && uid != old->uid)
    return refusal(409, "Conflict", "the uid in the precondition (" + uid + ") is not " + old->uid);
  if (request.method == "PUT") return replace(kind, old, body);
  if (request.method == "PATCH") return patch(kind, old, request.content_type, body);
  if (request.method == "DELETE") return remove(kind, old, body);
  return refusal(405, "MethodNotAllowed", request.method);
}

ApiAnswer SimulatedApiServer::list(Kind& kind, const RequestParts& parts) {
  const std::string token = parts.asked("continue");
  const auto limit = static_cast<std::size_t>(number(parts.asked("limit")));
  std::size_t begin = 0;
  std::string snapshot = token.substr(0, token.find(':'));
  if (token.empty()) {
    const auto selector = Selector::parse(parts.asked("labelSelector"), parts.asked("fieldSelector"));
    if (!selector) return refusal(400, "BadRequest", "a selector that is not understood");
    if (const std::string field = selector->unknown_field(kind.type.kind); !field.empty())
      return refusal(400, "BadRequest", "field label not supported: " + field);
    const Watch all{&kind, *selector, parts.name_space};
    snapshot = std::to_string(++tokens_);
    Pages& pages = pages_[snapshot];
    pages.version = storage_.version();
    for (const auto& [key, object] : kind.objects)
      if (is_meant(*object, all)) pages.objects.push_back(object);
  } else {
    begin = number(token.substr(std::min(token.find(':') + 1, token.size())));
  }
  const auto pages = pages_.find(snapshot);
  if (pages == pages_.end()) return refusal(410, "Expired", "The provided continue parameter is too old");
  const auto& objects = pages->second.objects;
  const std::size_t end = limit == 0 ? objects.size() : std::min(objects.size(), begin + limit);
  std::string body = R"({"kind":")" + kind.type.kind + R"(List","apiVersion":")" + kind.type.api_version +
                     R"(","metadata":{"resourceVersion":")" + std::to_string(pages->second.version) + '"';
  if (end < objects.size()) body += R"(,"continue":")" + snapshot + ":" + std::to_string(end) + '"';
  body += "},\"items\":[";
  last_listing_ = {&kind, {}, begin == 0, end == objects.size()};
  for (std::size_t i = begin; i < end; ++i) {
    if (i > begin) body += ',';
    body += objects[i]->text;
    last_listing_.objects.push_back(objects[i]);
  }
  if (last_listing_.is_last) pages_.erase(pages);
  return success(200, body + "]}");
}

ApiAnswer SimulatedApiServer::create(Kind& kind, const RequestParts& parts, json body) {
  if (!body.is_object()) return refusal(400, "BadRequest", "not an object");
  if (kind.type.is_namespaced) body["metadata"]["namespace"] = parts.name_space;
  if (text_at(body, {"metadata", "name"}).empty())
    return refusal(422, "Invalid", "metadata.name: Required value");
  if (kind.objects.contains(key_of(body)))
    return refusal(409, "AlreadyExists", kind.type.plural + " \"" + key_of(body) + "\" already exists");
  return success(201, storage_.create(kind, std::move(body), clock_.now())->text);
}

ApiAnswer SimulatedApiServer::replace(Kind& kind, const StoredPtr& old, json body) {
  const std::string version = text_at(body, {"metadata", "resourceVersion"});
  if (!version.empty() && version != std::to_string(old->version))
    return refusal(409, "Conflict",
                   "the object has been modified; please apply your changes to the latest version");
  if (key_of(body) != old->key) return refusal(400, "BadRequest", "the name is another");
  for (const char* fixed : {"uid", "creationTimestamp"})
    body["metadata"][fixed] = old->object["metadata"][fixed];
  return success(200, storage_.replace(kind, old, std::move(body))->text);
}

ApiAnswer SimulatedApiServer::patch(Kind& kind, const StoredPtr& old, const std::string& content_type,
                                    const json& body) {
  const PatchForm form = content_type.starts_with("application/strategic") ? PatchForm::strategic
                         : content_type.starts_with("application/merge")   ? PatchForm::merge
                                                                           : PatchForm::operations;
  const std::string version = text_at(body, {"metadata", "resourceVersion"});
  if (!version.empty() && version != std::to_string(old->version))
    return refusal(409, "Conflict", "the object has been modified");
  auto made = patched(old->object, body, form);
  if (!made || key_of(*made) != old->key || text_at(*made, {"metadata", "uid"}) != old->uid)
    return refusal(422, "Invalid", "the patch cannot be applied");
  // A patch that changes nothing makes no version, and no watch hears of it.
  if (*made == old->object) return success(200, old->text);
  return success(200, storage_.replace(kind, old, *std::move(made))->text);
}

ApiAnswer SimulatedApiServer::remove(Kind& kind, const StoredPtr& old, const json& options) {
  const std::string uid = text_at(options, {"preconditions", "uid"});
  if (!uid.empty() && uid != old->uid)
    return refusal(409, "Conflict", "the uid in the precondition (" + uid + ") is not " + old->uid);
  if (&kind != &storage_.kind(types::pods())) {
    storage_.remove(kind, old);
    return success(200, "{}");
  }
  const json& asked = part(options, {"gracePeriodSeconds"});
  const json& usual = part(old->object, {"spec", "terminationGracePeriodSeconds"});
  const std::int64_t seconds = asked.is_number()   ? asked.get<std::int64_t>()
                               : usual.is_number() ? usual.get<std::int64_t>()
                                                   : 30;
  delete_pod(old, std::chrono::seconds(seconds));
  return success(200, old->text);
}

void SimulatedApiServer::delete_pod(const StoredPtr& pod, Duration grace) {
  Kind& pods = storage_.kind(types::pods());
  const std::string phase = text_at(pod->object, {"status", "phase"});
  const bool runs =
      !text_at(pod->object, {"spec", "nodeName"}).empty() && phase != "Succeeded" && phase != "Failed";
  if (!runs || grace <= Duration::zero()) return storage_.remove(pods, pod);
  if (pod->object["metadata"].contains("deletionTimestamp")) return;
  json object = pod->object;
  object["metadata"]["deletionTimestamp"] = time_text(clock_.now() + grace);
  object["metadata"]["deletionGracePeriodSeconds"] = grace.count() / 1'000'000;
  storage_.replace(pods, pod, std::move(object));
}

ApiAnswer SimulatedApiServer::bind(Kind& pods, const StoredPtr& pod, const json& binding) {
  const auto conflict = [&](const std::string& why) {
    return refusal(409, "Conflict",
                   "Operation cannot be fulfilled on pods/binding \"" + pod->key + "\": " + why);
  };
  const std::string uid = text_at(binding, {"metadata", "uid"});
  const std::string node = text_at(binding, {"target", "name"});
  if (node.empty()) return refusal(422, "Invalid", "target.name: Required value");
  if (!uid.empty() && uid != pod->uid) return conflict("the uid in the precondition is another");
  if (pod->object["metadata"].contains("deletionTimestamp")) return conflict("the pod is being deleted");
  const std::string at = text_at(pod->object, {"spec", "nodeName"});
  if (!at.empty()) return conflict("the pod is already assigned to node \"" + at + "\"");
  if (!part(pod->object, {"spec", "schedulingGates"}).empty())
    return conflict("the pod has scheduling gates");
  // Whether the node exists is not looked at: Kubernetes does not either.
  json object = pod->object;
  object["spec"]["nodeName"] = node;
  for (const auto& [name, value] : part(binding, {"metadata", "annotations"}).items())
    object["metadata"]["annotations"][name] = value;
  const json scheduled = {{"status",
                           {{"conditions",
                             {{{"type", "PodScheduled"},
                               {"status", "True"},
                               {"lastTransitionTime", time_text(clock_.now())}}}}}}};
  storage_.replace(pods, pod, *patched(object, scheduled, PatchForm::strategic));
  return success(201, R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})");
}

ApiAnswer SimulatedApiServer::evict(const StoredPtr& pod, const json& eviction) {
  const std::string uid = text_at(eviction, {"deleteOptions", "preconditions", "uid"});
  if (!uid.empty() && uid != pod->uid)
    return refusal(409, "Conflict", "the uid in the precondition is another");
  Kind& budgets = storage_.kind(types::pod_disruption_budgets());
  const std::string name_space = text_at(pod->object, {"metadata", "namespace"});
  for (const auto& [key, budget] : std::map(budgets.objects)) {
    if (!key.starts_with(name_space + "/")) continue;
    if (!selects(part(budget->object, {"spec", "selector"}), part(pod->object, {"metadata", "labels"})))
      continue;
    const json& allowed = part(budget->object, {"status", "disruptionsAllowed"});
    if (!allowed.is_number() || allowed.get<int>() <= 0)
      return refusal(429, "TooManyRequests",
                     "Cannot evict pod as it would violate the pod's disruption budget.");
    json object = budget->object;
    object["status"]["disruptionsAllowed"] = allowed.get<int>() - 1;
    storage_.replace(budgets, budget, std::move(object));
  }
  const Kind& pods = storage_.kind(types::pods());
  if (pods.objects.contains(pod->key)) delete_pod(pods.objects.at(pod->key), std::chrono::seconds(1));
  return success(201, "{}");
}

ApiAnswer SimulatedApiServer::write_event(const ApiRequest& request, const RequestParts& parts,
                                          const json& body) {
  if (request.method == "POST") {
    const std::string name = parts.name_space + "/" + text_at(body, {"metadata", "name"});
    if (!events_.try_emplace(name, true).second)
      return refusal(409, "AlreadyExists", "events \"" + name + "\" already exists");
    ++events_written_;
    return success(201, "{}");
  }
  return events_.contains(parts.key()) ? success(200, "{}") : refusal(404, "NotFound", "events not found");
}

std::pair<SimulatedApiServer::Watch, ApiStatus> SimulatedApiServer::open_watch(const ApiRequest& request) {
  const auto refuse = [](const ApiAnswer& answer) { return std::pair(Watch{}, answer.status); };
  const auto parts = parse_request_path(request.path);
  Kind* const kind = parts ? storage_.find_kind(parts->api_version, parts->plural) : nullptr;
  if (!kind) return refuse(refusal(404, "NotFound", "the server could not find the requested resource"));
  auto selector = Selector::parse(parts->asked("labelSelector"), parts->asked("fieldSelector"));
  if (!selector) return refuse(refusal(400, "BadRequest", "a selector that is not understood"));
  if (const std::string field = selector->unknown_field(kind->type.kind); !field.empty())
    return refuse(refusal(400, "BadRequest", "field label not supported: " + field));
  Watch watch{kind, *std::move(selector), parts->name_space};
  const std::string from = parts->asked("resourceVersion");
  watch.seen = number(from);
  watch.from_start = from.empty() || from == "0";
  if (!watch.from_start && watch.seen < storage_.compacted())
    return refuse(refusal(410, "Expired", "too old resource version: " + from));
  return {std::move(watch), {}};
}

std::optional<std::vector<SimulatedApiServer::Frame>> SimulatedApiServer::news(Watch& watch) {
  std::vector<Frame> frames;
  if (std::exchange(watch.from_start, false)) {
    for (const auto& [key, object] : watch.kind->objects)
      if (is_meant(*object, watch)) frames.push_back(frame("ADDED", object));
    watch.seen = storage_.version();
    return frames;
  }
  if (watch.seen < storage_.compacted()) return std::nullopt;
  const auto& history = watch.kind->history;
  auto next = std::ranges::upper_bound(history, watch.seen, {}, &Change::version);
  for (; next != history.end(); ++next) {
    const bool was = next->before && is_meant(*next->before, watch);
    const bool is = next->after && is_meant(*next->after, watch);
    if (is) frames.push_back(frame(was ? "MODIFIED" : "ADDED", next->after));
    if (was && !is) frames.push_back(frame("DELETED", as_it_left(*next)));
    watch.seen = next->version;
  }
  return frames;
}

SimulatedApiServer::Frame SimulatedApiServer::bookmark(Watch& watch) const {
  watch.seen = std::max(watch.seen, storage_.version());
  const json event = {{"type", "BOOKMARK"},
                      {"object",
                       {{"kind", watch.kind->type.kind},
                        {"apiVersion", watch.kind->type.api_version},
                        {"metadata", {{"resourceVersion", std::to_string(watch.seen)}}}}}};
  return {event.dump() + "\n", nullptr, false};
}

SimulatedApiServer::Frame SimulatedApiServer::expired() {
  return {R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure",)"
          R"("message":"too old resource version","reason":"Expired","code":410}})"
          "\n",
          nullptr, false};
}

void SimulatedApiServer::compact() {
  compacting();
  storage_.compact();
  expire_pages();
}

}  // namespace evenkeel::faults

#include "api_storage.h"

#include <utility>

#include "base/check.h"
#include "kubernetes/rfc3339.h"

namespace evenkeel::faults {

Kind* ApiStorage::find_kind(std::string_view api_version, std::string_view plural) {
  const auto found = kinds_.find(std::string(api_version) + "/" + std::string(plural));
  return found == kinds_.end() ? nullptr : &found->second;
}

Kind& ApiStorage::kind(const kubernetes::ResourceType& type) {
  Kind& kind = kinds_[type.api_version + "/" + type.plural];
  if (kind.type.kind.empty()) kind.type = type;
  return kind;
}

std::vector<Kind*> ApiStorage::kinds() {
  std::vector<Kind*> all;
  for (auto& [name, kind] : kinds_) all.push_back(&kind);
  return all;
}

StoredPtr ApiStorage::stored(json object) {
  auto made = std::make_shared<Stored>();
  json& metadata = object["metadata"];
  metadata["resourceVersion"] = std::to_string(version_);
  made->key = key_of(object);
  made->uid = metadata.value("uid", "");
  made->version = version_;
  made->object = std::move(object);
  made->text = made->object.dump(-1, ' ', false, json::error_handler_t::replace);
  return made;
}

void ApiStorage::note(Kind& kind, Change change) {
  kind.history.push_back(change);
  changed(kind, change);
}

StoredPtr ApiStorage::create(Kind& kind, json object, Time now) {
  ++version_;
  json& metadata = object["metadata"];
  if (!metadata.contains("uid")) metadata["uid"] = "uid-" + std::to_string(++uids_);
  if (!metadata.contains("creationTimestamp")) metadata["creationTimestamp"] = time_text(now);
  object["apiVersion"] = kind.type.api_version;
  object["kind"] = kind.type.kind;
  StoredPtr made = stored(std::move(object));
  const bool is_new = kind.objects.emplace(made->key, made).second;
  EVENKEEL_CHECK(is_new);
  note(kind, {version_, nullptr, made, nullptr});
  return made;
}

StoredPtr ApiStorage::replace(Kind& kind, StoredPtr old, json object) {
  ++version_;
  object["apiVersion"] = kind.type.api_version;
  object["kind"] = kind.type.kind;
  StoredPtr made = stored(std::move(object));
  EVENKEEL_CHECK(made->key == old->key && made->uid == old->uid);
  kind.objects[made->key] = made;
  note(kind, {version_, std::move(old), made, nullptr});
  return made;
}

void ApiStorage::remove(Kind& kind, StoredPtr old) {
  ++version_;
  StoredPtr last = stored(old->object);
  kind.objects.erase(old->key);
  note(kind, {version_, std::move(old), nullptr, std::move(last)});
}

void ApiStorage::compact() {
  compacted_ = version_;
  for (auto& [name, kind] : kinds_) kind.history.clear();
}

std::string key_of(const json& object) {
  const std::string name_space = text_at(object, {"metadata", "namespace"});
  const std::string name = text_at(object, {"metadata", "name"});
  return name_space.empty() ? name : name_space + "/" + name;
}

std::string time_text(Time time) {
  return kubernetes::format_rfc3339(time.time_since_epoch().count() / 1'000'000, 0, false).value_or("");
}

const json& part(const json& object, std::initializer_list<const char*> path) {
  static const json kNothing = json::object();
  const json* at = &object;
  for (const char* key : path) {
    const auto found = at->is_object() ? at->find(key) : at->end();
    if (!at->is_object() || found == at->end()) return kNothing;
    at = &*found;
  }
  return *at;
}

std::string text_at(const json& object, std::initializer_list<const char*> path) {
  const json& found = part(object, path);
  return found.is_string() ? found.get<std::string>() : "";
}

}  // namespace evenkeel::faults

#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "kubernetes/resource_type.h"

namespace evenkeel::faults {

using nlohmann::json;

// One version of one object, never changed again: lists, watches and judges share it.
struct Stored {
  std::string key;  // namespace/name
  std::string uid;
  std::uint64_t version = 0;
  json object;
  std::string text;  // the same, as it goes over the wire
};
using StoredPtr = std::shared_ptr<const Stored>;

struct Change {
  std::uint64_t version = 0;
  StoredPtr before, after;  // one of them absent: created, deleted
  StoredPtr last;           // of a deleted one its last state, under the version of its end
};

struct Kind {
  kubernetes::ResourceType type;
  std::map<std::string, StoredPtr> objects;  // by key, in the order of lists
  std::deque<Change> history;                // what watches can be told; the oldest first
};

// What etcd is to an API server: objects by kind and name, one counter of versions for all of them, and the
// history since the last compaction. Whoever calls is trusted: rules are the server's business.
class ApiStorage {
 public:
  Kind* find_kind(std::string_view api_version, std::string_view plural);
  Kind& kind(const kubernetes::ResourceType& type);
  std::vector<Kind*> kinds();

  // Uid, creation time and version are filled in. `old` by value: callers hand over what the kind itself
  // holds.
  StoredPtr create(Kind& kind, json object, Time now);
  StoredPtr replace(Kind& kind, StoredPtr old, json object);
  void remove(Kind& kind, StoredPtr old);

  std::uint64_t version() const { return version_; }
  std::uint64_t compacted() const { return compacted_; }
  // What happened up to now is forgotten; objects stay.
  void compact();

  std::function<void(Kind&, const Change&)> changed = [](Kind&, const Change&) {};

 private:
  StoredPtr stored(json object);
  void note(Kind& kind, Change change);

  std::map<std::string, Kind> kinds_;  // by api version and plural
  std::uint64_t version_ = 0, compacted_ = 0, uids_ = 0;
};

std::string key_of(const json& object);
// As the API spells times.
std::string time_text(Time time);
// metadata.labels and the like: an empty object where there is none.
const json& part(const json& object, std::initializer_list<const char*> path);
std::string text_at(const json& object, std::initializer_list<const char*> path);

}  // namespace evenkeel::faults

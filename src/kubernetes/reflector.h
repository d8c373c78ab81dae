#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "kubernetes/backoff.h"
#include "kubernetes/wire_objects.h"

namespace evenkeel::kubernetes {

struct ObjectChange {
  enum class Type { added, changed, deleted };
  Type type = Type::added;
  WireObject object;  // of a deleted one the JSON is empty where nobody told its last state
};

// Turns LIST and WATCH of one kind into a gapless stream of changes: each object is added once, changed when
// its resource version is new, deleted once, however often the connection broke, events came twice, or
// history was compacted in between. Knows no network and no clock: it is told what happened and says what to
// ask for next.
//
//   list ── pages … last page ──> watch ── events, bookmarks … the end ──> watch from the last version
//     ^                             │
//     └──── 410, as an answer or as an ERROR event ────┘   what vanished meanwhile is then reported as
//     deleted
class Reflector {
 public:
  struct Request {
    bool is_watch = false;
    std::string resource_version;  // of a watch
    std::string continue_token;    // of a list
    bool whole = false;            // a list that must not be cut into pages
    Duration pause{};              // to wait before asking
  };

  explicit Reflector(Backoff::Options backoff = {}) : backoff_(backoff) {}

  // `random` spreads retries.
  Request next(Random& random);

  std::vector<ObjectChange> page_read(ListPage page);
  std::vector<ObjectChange> event_read(WatchEvent event);
  // The server has nothing of the kind and says so: what was known is gone, and the next list has time.
  std::vector<ObjectChange> absent();
  // The server refused (HTTP status or the Status of an ERROR event), or 0 for a connection that failed.
  void refused(const ApiStatus& status);
  void watch_ended(Duration after = {});  // so long after the server had opened it
  // Whoever needs to know that nothing is older than this moment: the next request is a list.
  void list_again() { begin_listing(); }

  bool synced() const { return synced_; }            // a list was read to its end at least once
  bool is_watching() const { return is_watching_; }  // the last list was read to its end
  std::size_t known() const { return objects_.size(); }
  const std::string& resource_version() const { return resource_version_; }

 private:
  struct Known {
    std::string uid, resource_version;
    std::uint64_t listing = 0;  // the last list it stood in
  };

  void begin_listing();
  void store(WireObject object, bool from_list, std::vector<ObjectChange>& changes);
  void remove(WireObject object, std::vector<ObjectChange>& changes);
  void remove_unlisted(std::vector<ObjectChange>& changes);

  std::unordered_map<std::string, Known> objects_;  // by namespace/name
  std::string resource_version_, continue_token_;
  std::uint64_t listing_ = 1;
  bool is_watching_ = false, synced_ = false;
  bool progressed_ = false;  // since the last request: something was read
  bool must_list_ = false;   // since the watch was too old
  bool whole_ = false;       // pages expired while being read: take it in one piece
  int failures_ = 0;         // in a row
  Duration asked_pause_{};   // Retry-After
  Backoff backoff_;
};

}  // namespace evenkeel::kubernetes

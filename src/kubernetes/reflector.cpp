#include "kubernetes/reflector.h"

#include <algorithm>
#include <utility>

#include "base/numbers.h"

namespace evenkeel::kubernetes {
namespace {

constexpr int kGone = 410;
constexpr Duration kHeld = std::chrono::seconds(10), kDeafAtMost = std::chrono::seconds(5);
constexpr Duration kAbsentPause =
    std::chrono::seconds(20);  // before a kind that is not there is asked for again

// Versions of one kind are numbers that grow, as the API promises since 1.35; others are only the same or
// not.
bool is_news(const std::string& told, const std::string& known) {
  const auto a = parse_integer(told), b = parse_integer(known);
  return a && b ? *a > *b : told != known;
}

bool is_gone(const ApiStatus& status) {
  return status.code == kGone || status.reason == "Expired" || status.reason == "Gone";
}

}  // namespace

Reflector::Request Reflector::next(Random& random) {
  Request request;
  request.is_watch = is_watching_;
  request.whole = whole_;
  (is_watching_ ? request.resource_version : request.continue_token) =
      is_watching_ ? resource_version_ : continue_token_;
  if (failures_ > 0) {
    const Duration pause = backoff_.next(random);
    request.pause = std::max(must_list_ ? std::min(pause, kDeafAtMost) : pause, asked_pause_);
  }
  must_list_ = false;
  asked_pause_ = {};
  progressed_ = false;
  return request;
}

void Reflector::begin_listing() {
  is_watching_ = false;
  continue_token_.clear();
  ++listing_;
}

std::vector<ObjectChange> Reflector::page_read(ListPage page) {
  std::vector<ObjectChange> changes;
  for (WireObject& item : page.items) store(std::move(item), true, changes);
  failures_ = 0;
  continue_token_ = std::move(page.continue_token);
  if (!continue_token_.empty()) return changes;
  remove_unlisted(changes);
  resource_version_ = std::move(page.resource_version);
  is_watching_ = synced_ = true;
  whole_ = false;
  return changes;
}

std::vector<ObjectChange> Reflector::absent() {
  begin_listing();
  std::vector<ObjectChange> changes;
  remove_unlisted(changes);
  synced_ = true;
  failures_ = 1;
  asked_pause_ = kAbsentPause;
  return changes;
}

std::vector<ObjectChange> Reflector::event_read(WatchEvent event) {
  using Type = WatchEvent::Type;
  std::vector<ObjectChange> changes;
  if (event.type == Type::error) {
    refused(event.status);
    return changes;
  }
  failures_ = 0;
  backoff_.reset();
  progressed_ = true;
  if (!event.object.identity.resource_version.empty()) {
    resource_version_ = event.object.identity.resource_version;
  }
  if (event.type == Type::bookmark) return changes;
  if (event.type == Type::deleted) {
    remove(std::move(event.object), changes);
  } else {
    store(std::move(event.object), false, changes);
  }
  return changes;
}

void Reflector::refused(const ApiStatus& status) {
  ++failures_;
  asked_pause_ = std::chrono::seconds(std::clamp<std::int64_t>(status.retry_after_seconds, 0, 300));
  if (!is_gone(status)) return;
  // Pages that expired while they were read will do so again on a busy server: the next list comes whole.
  if (!is_watching_ && !continue_token_.empty()) whole_ = true;
  // A server that says so is well, whatever happened before, and until the list nothing is heard.
  must_list_ = is_watching_;
  begin_listing();
}

void Reflector::watch_ended(Duration after) {
  // Servers end watches all the time and are asked again at once; one that ends them unread is left in peace.
  // But where little happens a watch that held was a good one, though nothing was read: what went wrong
  // before it is over.
  if (after >= kHeld) {
    failures_ = 0;
    backoff_.reset();
  } else if (!progressed_) {
    ++failures_;
  }
}

void Reflector::store(WireObject object, bool from_list, std::vector<ObjectChange>& changes) {
  const ObjectIdentity& identity = object.identity;
  const auto [place, is_new] = objects_.try_emplace(identity.key());
  Known& known = place->second;
  if (!is_new && known.uid != identity.uid) {
    // The name lives on in another object: the old one's end was missed.
    ObjectIdentity old{identity.name_space, identity.name, known.uid, known.resource_version};
    changes.push_back({ObjectChange::Type::deleted, {std::move(old), {}}});
  }
  const bool is_other = is_new || known.uid != identity.uid;
  // A list is the truth even where versions went back (a restored etcd); a watch may repeat itself.
  const bool changed = from_list ? known.resource_version != identity.resource_version
                                 : is_news(identity.resource_version, known.resource_version);
  known.listing = listing_;
  if (!is_other && !changed) return;
  known.uid = identity.uid;
  known.resource_version = identity.resource_version;
  changes.push_back({is_other ? ObjectChange::Type::added : ObjectChange::Type::changed, std::move(object)});
}

void Reflector::remove(WireObject object, std::vector<ObjectChange>& changes) {
  const auto found = objects_.find(object.identity.key());
  if (found == objects_.end() || found->second.uid != object.identity.uid)
    return;  // its end was told already
  objects_.erase(found);
  changes.push_back({ObjectChange::Type::deleted, std::move(object)});
}

void Reflector::remove_unlisted(std::vector<ObjectChange>& changes) {
  std::vector<std::string> gone;
  for (const auto& [key, known] : objects_) {
    if (known.listing != listing_) gone.push_back(key);
  }
  std::ranges::sort(gone);  // the same order on every machine
  for (const std::string& key : gone) {
    const auto found = objects_.find(key);
    const auto slash = key.find('/');
    ObjectIdentity identity{slash == std::string::npos ? "" : key.substr(0, slash),
                            slash == std::string::npos ? key : key.substr(slash + 1), found->second.uid,
                            found->second.resource_version};
    changes.push_back({ObjectChange::Type::deleted, {std::move(identity), {}}});
    objects_.erase(found);
  }
}

}  // namespace evenkeel::kubernetes

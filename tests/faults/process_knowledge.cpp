#include "process_knowledge.h"

namespace evenkeel::faults {

void ProcessKnowledge::told(const Kind& kind, const SimulatedApiServer::Frame& frame) {
  if (!frame.object) return;
  auto& objects = kinds_[&kind].objects;
  const auto known = objects.find(frame.object->key);
  if (known != objects.end() && known->second->version >= frame.object->version) return;  // told twice
  if (!frame.is_deletion) {
    objects[frame.object->key] = frame.object;
  } else if (known != objects.end() && known->second->uid == frame.object->uid) {
    objects.erase(known);
  }
}

void ProcessKnowledge::told(const SimulatedApiServer::Listing& page) {
  OfKind& here = kinds_[page.kind];
  if (page.is_first) here.listing.clear();
  for (const StoredPtr& object : page.objects) {
    // A page that was long under way makes nobody forget what is newer.
    StoredPtr& known = here.objects[object->key];
    if (!known || known->version < object->version) known = object;
    here.listing[object->key] = known;
  }
  if (!page.is_last) return;
  here.objects = std::move(here.listing);
  here.listing.clear();
  here.is_complete = true;
}

const std::map<std::string, StoredPtr>& ProcessKnowledge::objects(const Kind& kind) const {
  static const std::map<std::string, StoredPtr> kNone;
  const auto found = kinds_.find(&kind);
  return found == kinds_.end() ? kNone : found->second.objects;
}

StoredPtr ProcessKnowledge::object(const Kind& kind, const std::string& key) const {
  const auto& known = objects(kind);
  const auto found = known.find(key);
  return found == known.end() ? nullptr : found->second;
}

bool ProcessKnowledge::is_complete(const Kind& kind) const {
  const auto found = kinds_.find(&kind);
  return found != kinds_.end() && found->second.is_complete;
}

}  // namespace evenkeel::faults

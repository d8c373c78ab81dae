#include "kubernetes/stage_watch.h"

#include <utility>

namespace evenkeel::kubernetes {
namespace {

// The field selector is what lets a Role with resourceNames allow list and watch.
ListWatch::Options only_ours(const std::string& name_space) {
  ListWatch::Options options;
  options.name_space = name_space;
  options.field_selector = std::string("metadata.name=") + kStageConfigMap;
  options.format = WireFormat::json;
  return options;
}

}  // namespace

StageWatch::StageWatch(ApiConnection& connection, const std::string& name_space,
                       std::function<void(const Seen&)> seen, std::function<void(const std::string&)> trouble)
    : seen_(std::move(seen)),
      watch_(connection, types::config_maps(), only_ours(name_space),
             {[this](const ObjectChange& change) { changed(change); },
              [this] {
                if (!last_.exists) seen_(last_);
              },
              std::move(trouble)}) {}

void StageWatch::changed(const ObjectChange& change) {
  if (change.object.identity.name != kStageConfigMap) return;
  last_ = {};
  last_.exists = change.type != ObjectChange::Type::deleted;
  if (last_.exists) {
    auto records =
        read_stage_map(change.object.json, std::string("ConfigMap ") + change.object.identity.key());
    if (records)
      last_.records = *std::move(records);
    else
      last_.trouble = records.error().message;
  }
  seen_(last_);
}

}  // namespace evenkeel::kubernetes

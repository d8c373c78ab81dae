#include "kubernetes/stage_record.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/numbers.h"
#include "base/yaml_file.h"
#include "kubernetes/json_field.h"
#include "kubernetes/scheduler_profile.h"
#include "kubernetes/yaml_to_json.h"

namespace evenkeel::kubernetes {
namespace {

StageEntry read_entry(const JsonField& field) {
  StageEntry entry;
  entry.stage = field.choice_at<std::string>(
      "stage", {{"shadow", "shadow"}, {"canary", "canary"}, {"full", "full"}}, "");
  if (entry.stage.empty()) field.fail_at("stage", "expected shadow, canary or full, found nothing");
  if (field.has("share")) entry.share = field.at("share").number();
  if (!(entry.share >= 0 && entry.share <= 1)) field.fail_at("share", "expected a number from 0 to 1");
  entry.namespaces = field.texts_at("namespaces");
  entry.since = field.text_at("since");
  entry.by = field.text_at("by");
  return entry;
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// A flow mapping, which is JSON but for the keys.
std::string fields_of(const StageEntry& entry, const char* between) {
  std::string text = "stage: " + entry.stage;
  if (entry.stage == "canary") {
    char buffer[32];
    text += std::string(between) + "share: " + std::string(format_number(entry.share, buffer));
    if (!entry.namespaces.empty()) {
      text += std::string(between) + "namespaces: [";
      for (std::size_t i = 0; i < entry.namespaces.size(); ++i)
        text += (i == 0 ? "" : ", ") + quoted(entry.namespaces[i]);
      text += "]";
    }
  }
  if (!entry.since.empty()) text += std::string(between) + "since: " + quoted(entry.since);
  if (!entry.by.empty()) text += std::string(between) + "by: " + quoted(entry.by);
  return text;
}

}  // namespace

void StageRecord::advance(StageEntry to) {
  if (!current.stage.empty()) history.insert(history.begin(), std::move(current));
  if (history.size() > kMostHistory) history.resize(kMostHistory);
  current = std::move(to);
}

bool StageRecord::go_back(StageEntry& now) {
  if (history.empty()) return false;
  now.stage = history.front().stage;
  now.share = history.front().share;
  now.namespaces = history.front().namespaces;
  history.erase(history.begin());
  current = now;
  return true;
}

Result<StageRecord> read_stage(std::string_view text, const std::string& name) {
  const Result<YamlFile> file = YamlFile::parse(text, name);
  if (!file) return file.error();
  const Result<JsonDocument> document = JsonDocument::parse(yaml_to_json(file->root()), name);
  if (!document) return document.error();
  JsonReading reading(name);
  const JsonField root(reading, document->root());
  if (!root.is_map()) return invalid(name + ": expected a stage and what belongs to it, found no map");
  refuse_unknown_fields(root, {"stage", "share", "namespaces", "since", "by", "history"});
  StageRecord record;
  record.current = read_entry(root);
  for (const JsonField& before : root.at("history").items()) record.history.push_back(read_entry(before));
  if (reading.error()) return *reading.error();
  return record;
}

std::string write_stage(const StageRecord& record) {
  std::string text = fields_of(record.current, "\n") + "\n";
  if (!record.history.empty()) text += "history:\n";
  for (const StageEntry& before : record.history) text += "- {" + fields_of(before, ", ") + "}\n";
  return text;
}

Result<StageRecords> read_stage_map(std::string_view object_json, const std::string& name) {
  const Result<JsonDocument> document = JsonDocument::parse(object_json, name);
  if (!document) return document.error();
  JsonReading reading(name);
  const JsonField data = JsonField(reading, document->root()).at("data");
  StageRecords records;
  for (const auto& [profile, value] : data.entries())
    records.emplace(std::string(profile), read_stage(value.text(), name + ", " + std::string(profile)));
  if (reading.error()) return *reading.error();
  return records;
}

}  // namespace evenkeel::kubernetes

#include "apps/stage_change.h"

#include <nlohmann/json.hpp>

#include "kubernetes/rfc3339.h"
#include "kubernetes/stage_watch.h"
#include "kubernetes/writes.h"
#include "scheduling/stage.h"

namespace evenkeel::apps {
namespace {

using Json = nlohmann::json;
using kubernetes::StageEntry;
using kubernetes::StageRecord;

constexpr int kNotFound = 404, kConflict = 409, kTries = 5;
constexpr double kUsualShare = 0.1;

std::string words_of(const StageEntry& entry) {
  if (entry.stage.empty()) return "";
  return describe(
      scheduling::StageSettings{*scheduling::stage_named(entry.stage), entry.share, entry.namespaces});
}

// One step up. Nobody promotes what nobody placed anywhere.
Result<std::string> next_stage(const std::string& stage, const std::string& profile) {
  if (stage.empty())
    return invalid("nothing says yet which stage " + profile +
                   " is at: say where to with --to shadow, canary or full");
  if (stage == "full") return invalid(profile + " is at full already");
  return std::string(stage == "shadow" ? "canary" : "full");
}

std::string now_text(Time now) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  return kubernetes::format_rfc3339(seconds, 0, false).value_or("");
}

struct Found {
  Json map;  // null: there is none
  StageRecord record;
};

Result<Found> find_record(kubernetes::ApiConnection& server, const StageChange& change) {
  const auto answer =
      server.call_now(kubernetes::read_request(kubernetes::types::config_maps(), change.name_space,
                                               kubernetes::kStageConfigMap, kubernetes::WireFormat::json));
  if (answer.code == kNotFound) return Found{};
  if (!answer.ok()) return answer.error();
  Found found;
  found.map = Json::parse(answer.body, nullptr, false);
  if (!found.map.is_object() || !found.map.contains("metadata"))
    return unavailable("what the server sent is no ConfigMap");
  const Json data = found.map.value("data", Json::object());
  const auto at = data.find(change.profile);
  if (at == data.end() || !at->is_string()) return found;
  const std::string name = std::string(kubernetes::kStageConfigMap) + ", " + change.profile;
  Result<StageRecord> record = kubernetes::read_stage(at->get<std::string>(), name);
  // What cannot be read can only be replaced by somebody who says what by.
  if (!record && !change.to) return Error{record.error().kind, record.error().message + "; --to replaces it"};
  if (record) found.record = *std::move(record);
  return found;
}

kubernetes::ApiRequest write_request(const Found& found, const StageChange& change, const std::string& text) {
  Json map = found.map;
  const bool is_new = map.is_null();
  if (is_new)
    map = {{"apiVersion", "v1"},
           {"kind", "ConfigMap"},
           {"metadata", {{"name", kubernetes::kStageConfigMap}, {"namespace", change.name_space}}}};
  map["data"][change.profile] = text;
  const std::string body = map.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto type = kubernetes::types::config_maps();
  return is_new ? kubernetes::create_request(type, change.name_space, body)
                : kubernetes::replace_request(type, change.name_space, kubernetes::kStageConfigMap, body);
}

}  // namespace

Result<StageRecord> changed(const StageRecord& record, const StageChange& change, const std::string& since) {
  StageRecord after = record;
  StageEntry entry;
  entry.since = since;
  entry.by = change.by;
  if (change.back && !change.to) {
    if (after.go_back(entry)) return after;
    entry.stage = "shadow";  // nothing was before: the safe end
    if (record.current.stage == "shadow") return invalid(change.profile + " is at shadow already");
  } else if (change.to) {
    entry.stage = *change.to;
  } else {
    Result<std::string> next = next_stage(record.current.stage, change.profile);
    if (!next) return next.error();
    entry.stage = *std::move(next);
  }
  if (entry.stage == "canary") {
    const bool was_canary = record.current.stage == "canary";
    entry.share = change.share.value_or(was_canary ? record.current.share : kUsualShare);
    entry.namespaces =
        !change.namespaces.empty() || !was_canary ? change.namespaces : record.current.namespaces;
  } else if (change.share || !change.namespaces.empty()) {
    return invalid("--share and --namespaces belong to canary, not to " + entry.stage);
  }
  after.advance(std::move(entry));
  return after;
}

Result<StageChanged> change_stage(kubernetes::ApiConnection& server, const StageChange& change) {
  for (int i = 0; i < kTries; ++i) {
    const Result<Found> found = find_record(server, change);
    if (!found) return found.error();
    const Result<StageRecord> after = changed(found->record, change, now_text(server.now()));
    if (!after) return after.error();
    StageChanged said{words_of(found->record.current), words_of(after->current),
                      kubernetes::write_stage(*after)};
    if (change.dry_run) return said;
    const auto answer = server.call_now(write_request(*found, change, said.text));
    if (answer.ok()) return said;
    if (answer.code != kConflict) return answer.error();
  }
  return unavailable("others keep changing the ConfigMap");
}

}  // namespace evenkeel::apps

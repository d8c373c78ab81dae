#include "apps/decided_view.h"

#include <nlohmann/json.hpp>

namespace evenkeel::apps {
namespace {

using Json = nlohmann::ordered_json;
using reporting::Align;
using reporting::TextTable;

const Json& at(const Json& value, const char* key) {
  static const Json nothing;
  if (!value.is_object()) return nothing;
  const auto found = value.find(key);
  return found == value.end() ? nothing : *found;
}

std::string text_at(const Json& value, const char* key) {
  const Json& found = at(value, key);
  if (found.is_string()) return found.get<std::string>();
  return found.is_number() ? found.dump() : "-";
}

TextTable decisions_table(const Json& decisions) {
  TextTable table;
  table.columns = {
      {"when", Align::left}, {"outcome", Align::left}, {"node", Align::left}, {"attempt"}, {"feasible"},
      {"took us"},           {"binding", Align::left}};
  for (const Json& each : decisions) {
    const std::string why = text_at(each, "binding_why");
    table.rows.push_back({{text_at(each, "time")},
                          {text_at(each, "outcome")},
                          {text_at(each, "node")},
                          {text_at(each, "attempt")},
                          {text_at(each, "feasible") + " of " + text_at(each, "evaluated")},
                          {text_at(each, "took_us")},
                          {text_at(each, "binding") + (why == "-" ? "" : ": " + why)}});
  }
  return table;
}

TextTable candidates_table(const Json& candidates) {
  TextTable table;
  table.columns.push_back({"node", Align::left});
  const Json& first = at(candidates.front(), "scores");
  for (const auto& [plugin, score] : first.items()) {
    const std::string weight = text_at(at(candidates.front(), "weights"), plugin.c_str());
    table.columns.push_back({weight == "-" || weight == "1" ? plugin : plugin + " x" + weight});
  }
  table.columns.push_back({"total"});
  for (const Json& candidate : candidates) {
    auto& cells = table.rows.emplace_back();
    cells.push_back({text_at(candidate, "node")});
    for (const auto& [plugin, score] : first.items())
      cells.push_back({text_at(at(candidate, "scores"), plugin.c_str())});
    cells.push_back({text_at(candidate, "total")});
  }
  return table;
}

TextTable reasons_table(const Json& reasons) {
  TextTable table;
  table.columns = {{"nodes"}, {"plugin", Align::left}, {"reason", Align::left}};
  for (const Json& each : reasons)
    table.rows.push_back({{text_at(each, "nodes")}, {text_at(each, "plugin")}, {text_at(each, "reason")}});
  return table;
}

}  // namespace

std::string account_of_decided(const std::string& json, reporting::TextStyle style) {
  const Json answer = Json::parse(json, nullptr, false);
  const Json& decisions = at(answer, "decisions");
  if (!decisions.is_array() || decisions.empty()) return "the scheduler remembers no decision about it\n";
  std::string out = render_text_table(decisions_table(decisions), style);
  const Json& latest = decisions.front();
  if (const Json& candidates = at(latest, "candidates"); candidates.is_array() && !candidates.empty())
    out += "\nthe best that were compared then:\n" + render_text_table(candidates_table(candidates), style);
  if (const Json& reasons = at(latest, "reasons"); reasons.is_array() && !reasons.empty())
    out += "\nwhat spoke against the nodes then:\n" + render_text_table(reasons_table(reasons), style);
  return out;
}

}  // namespace evenkeel::apps

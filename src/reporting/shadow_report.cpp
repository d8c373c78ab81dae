#include "reporting/shadow_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace evenkeel::reporting {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kOthers = "(others)";

double mean(double sum, std::uint64_t count) { return count == 0 ? 0 : sum / static_cast<double>(count); }

Json json_of(const ShadowTotals& totals) {
  const std::uint64_t n = totals.decisions;
  return {
      {"decisions", n},
      {"agreed", totals.agreed},
      {"agreement", mean(static_cast<double>(totals.agreed), n)},
      {"imbalance", {{"ours", mean(totals.our_imbalance, n)}, {"other", mean(totals.other_imbalance, n)}}},
      {"fullest", {{"ours", mean(totals.our_fullest, n)}, {"other", mean(totals.other_fullest, n)}}}};
}

Json json_of(const ShadowComparison& each) {
  return {{"pod", each.name_space + "/" + each.pod},
          {"workload", each.workload},
          {"profile", each.profile},
          {"ours", each.ours},
          {"other", each.other},
          {"imbalance", {{"ours", each.our_imbalance}, {"other", each.other_imbalance}}},
          {"fullest", {{"ours", each.our_fullest}, {"other", each.other_fullest}}}};
}

Json json_of(const ShadowReport::Section& section) {
  Json value = json_of(section.all);
  for (const auto& [key, rows] :
       {std::pair{"namespaces", &section.namespaces}, {"workloads", &section.workloads}}) {
    value[key] = Json::object();
    for (const auto& [name, totals] : *rows) value[key][name] = json_of(totals);
  }
  value["worst"] = value["best"] = Json::array();
  for (const ShadowComparison& each : section.worst) value["worst"].push_back(json_of(each));
  for (const ShadowComparison& each : section.best) value["best"].push_back(json_of(each));
  return value;
}

double costs(const ShadowComparison& each) { return each.our_imbalance - each.other_imbalance; }

// Keeps the list sorted by `value`, the most first, and short.
template <class Value>
void keep(std::vector<ShadowComparison>& list, std::size_t most, const ShadowComparison& each, Value value) {
  if (!(value(each) > 0)) return;
  const auto place = std::find_if(list.begin(), list.end(),
                                  [&](const ShadowComparison& other) { return value(other) < value(each); });
  if (static_cast<std::size_t>(place - list.begin()) >= most) return;
  list.insert(place, each);
  if (list.size() > most) list.pop_back();
}

ShadowTotals& row_of(std::map<std::string, ShadowTotals, std::less<>>& rows, const std::string& name,
                     std::size_t most) {
  const auto at = rows.find(name);
  if (at != rows.end()) return at->second;
  return rows[rows.size() < most ? name : kOthers];
}

// Of a report that somebody else sent: nothing is taken for granted.
double number_at(const Json& value, const char* key, const char* inner = nullptr) {
  if (!value.is_object() || !value.contains(key)) return 0;
  const Json& field = value[key];
  if (inner) return number_at(field, inner);
  return field.is_number() ? field.get<double>() : 0;
}
std::string text_at(const Json& value, const char* key) {
  if (!value.is_object() || !value.contains(key) || !value[key].is_string()) return "";
  return value[key].get<std::string>();
}

std::string fixed(double value, int digits) {
  char buffer[64];
  (void)std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

struct Wording {
  const char *key, *title, *ours, *other;
};
constexpr Wording kSections[] = {
    {"learned_vs_rule", "The learned choice beside the rule's", "learned", "rule"},
    {"ours_vs_actual", "Our choice beside where the pod really went", "ours", "actual"},
};

void add_row(TextTable& table, const std::string& name, const Json& totals) {
  table.rows.push_back({{name},
                        {fixed(number_at(totals, "decisions"), 0)},
                        {fixed(100 * number_at(totals, "agreement"), 1) + " %"},
                        {fixed(number_at(totals, "imbalance", "ours"), 5)},
                        {fixed(number_at(totals, "imbalance", "other"), 5)},
                        {fixed(100 * number_at(totals, "fullest", "ours"), 1) + " %"},
                        {fixed(100 * number_at(totals, "fullest", "other"), 1) + " %"}});
}

TextTable totals_table(const Json& section, const Wording& words) {
  const std::string ours = words.ours, other = words.other;
  TextTable table;
  table.columns = {{"Where", Align::left}, {"Decisions"},       {"Same node"},       {"Imbalance " + ours},
                   {"Imbalance " + other}, {"Fullest " + ours}, {"Fullest " + other}};
  add_row(table, "everywhere", section);
  for (const char* key : {"namespaces", "workloads"})
    if (section.contains(key) && section[key].is_object())
      for (const auto& [name, totals] : section[key].items()) add_row(table, name, totals);
  return table;
}

TextTable differences_table(const Json& list, const Wording& words) {
  TextTable table;
  table.columns = {{"Pod", Align::left},
                   {std::string("Node ") + words.ours, Align::left},
                   {std::string("Node ") + words.other, Align::left},
                   {std::string("Imbalance ") + words.ours},
                   {std::string("Imbalance ") + words.other}};
  for (const Json& each : list)
    table.rows.push_back({{text_at(each, "pod")},
                          {text_at(each, "ours")},
                          {text_at(each, "other")},
                          {fixed(number_at(each, "imbalance", "ours"), 5)},
                          {fixed(number_at(each, "imbalance", "other"), 5)}});
  return table;
}

}  // namespace

void ShadowTotals::add(const ShadowComparison& comparison) {
  ++decisions;
  agreed += comparison.ours == comparison.other ? 1 : 0;
  our_imbalance += comparison.our_imbalance;
  other_imbalance += comparison.other_imbalance;
  our_fullest += comparison.our_fullest;
  other_fullest += comparison.other_fullest;
}

void ShadowReport::add(Section& section, const ShadowComparison& each) const {
  section.all.add(each);
  row_of(section.namespaces, each.name_space, options_.most_namespaces).add(each);
  row_of(section.workloads, each.name_space + "/" + each.workload, options_.most_workloads).add(each);
  keep(section.worst, options_.most_differences, each, costs);
  keep(section.best, options_.most_differences, each, [](const ShadowComparison& c) { return -costs(c); });
}

std::string ShadowReport::json() const {
  Json value = {{"learned_vs_rule", json_of(learned_)}, {"ours_vs_actual", json_of(actual_)}};
  value["ours_vs_actual"]["undecided"] = undecided_;
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string shadow_text(std::string_view json, TextStyle style) {
  const Json report = Json::parse(json, nullptr, false);
  if (!report.is_object()) return "that is no shadow report\n";
  std::string text;
  for (const Wording& words : kSections) {
    if (!report.contains(words.key) || number_at(report[words.key], "decisions") == 0) continue;
    const Json& section = report[words.key];
    text += std::string(text.empty() ? "" : "\n") + words.title + "\n" +
            render_text_table(totals_table(section, words), style);
    for (const auto& [key, title] : {std::pair{"worst", "Would have been less even, the most first"},
                                     {"best", "Would have been more even, the most first"}})
      if (section.contains(key) && section[key].is_array() && !section[key].empty())
        text += std::string("\n") + title + "\n" +
                render_text_table(differences_table(section[key], words), style);
  }
  return text.empty() ? "nothing was compared yet\n" : text;
}

std::vector<std::string> shadow_summary(std::string_view json) {
  const Json report = Json::parse(json, nullptr, false);
  std::vector<std::string> lines;
  if (!report.is_object()) return lines;
  for (const Wording& words : kSections) {
    if (!report.contains(words.key) || number_at(report[words.key], "decisions") == 0) continue;
    const Json& section = report[words.key];
    lines.push_back(std::string(words.title) + ": " + fixed(number_at(section, "decisions"), 0) +
                    " decisions, " + fixed(100 * number_at(section, "agreement"), 1) +
                    " % the same node; expected imbalance " + words.ours + " " +
                    fixed(number_at(section, "imbalance", "ours"), 5) + ", " + words.other + " " +
                    fixed(number_at(section, "imbalance", "other"), 5));
  }
  return lines;
}

}  // namespace evenkeel::reporting

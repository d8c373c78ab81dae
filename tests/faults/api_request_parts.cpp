#include "api_request_parts.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace evenkeel::faults {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    int code = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, code, 16).ptr == text.data() + i + 3) {
      plain += static_cast<char>(code);
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// Lists that a strategic patch merges by a key instead of replacing them.
const char* merge_key(const std::string& list) {
  if (list == "conditions") return "type";
  if (list == "ownerReferences") return "uid";
  if (list == "schedulingGates") return "name";
  return nullptr;
}

void merge_list(json& into, const json& patch, const char* key) {
  for (const json& item : patch) {
    const auto same = std::ranges::find_if(
        into, [&](const json& other) { return other.value(key, "") == item.value(key, ""); });
    if (same == into.end()) {
      into.push_back(item);
    } else {
      same->update(item);
    }
  }
}

void merge_strategically(json& into, const json& patch) {
  for (const auto& [name, value] : patch.items()) {
    if (name.starts_with("$")) continue;  // hints about order
    if (value.is_null()) {
      into.erase(name);
    } else if (value.is_object()) {
      if (!into[name].is_object()) into[name] = json::object();
      merge_strategically(into[name], value);
    } else if (value.is_array() && merge_key(name)) {
      if (!into[name].is_array()) into[name] = json::array();
      merge_list(into[name], value, merge_key(name));
    } else {
      into[name] = value;
    }
  }
}

}  // namespace

std::optional<RequestParts> parse_request_path(std::string_view path) {
  RequestParts parts;
  const std::size_t question = std::min(path.find('?'), path.size());
  for (const std::string& pair : split(path.substr(std::min(question + 1, path.size())), '&')) {
    const std::size_t equals = std::min(pair.find('='), pair.size());
    parts.query[pair.substr(0, equals)] =
        equals < pair.size() ? decoded(std::string_view(pair).substr(equals + 1)) : "";
  }
  std::vector<std::string> steps = split(path.substr(0, question), '/');
  for (std::string& step : steps) step = decoded(step);
  std::size_t at = 0;
  if (steps.size() >= 3 && steps[0] == "api") {
    parts.api_version = steps[1];
    at = 2;
  } else if (steps.size() >= 4 && steps[0] == "apis") {
    parts.api_version = steps[1] + "/" + steps[2];
    at = 3;
  } else {
    return std::nullopt;
  }
  if (steps[at] == "namespaces" && steps.size() >= at + 3) {
    parts.name_space = steps[at + 1];
    at += 2;
  }
  parts.plural = steps[at];
  if (steps.size() > at + 1) parts.name = steps[at + 1];
  if (steps.size() > at + 2) parts.subresource = steps[at + 2];
  if (steps.size() > at + 3) return std::nullopt;
  return parts;
}

bool Selector::parse_terms(const std::string& text, std::vector<Term>& terms) {
  for (const std::string& one : split(text, ',')) {
    if (one.find('(') != std::string::npos || one.find(' ') != std::string::npos) return false;
    const std::size_t equals = one.find('=');
    if (equals == std::string::npos) {
      const bool is_absence = one.front() == '!';
      terms.push_back({one.substr(is_absence ? 1 : 0), "", !is_absence, true});
      continue;
    }
    const bool is_unequal = equals > 0 && one[equals - 1] == '!';
    const bool is_double = equals + 1 < one.size() && one[equals + 1] == '=';
    terms.push_back({one.substr(0, equals - (is_unequal ? 1 : 0)), one.substr(equals + (is_double ? 2 : 1)),
                     !is_unequal});
  }
  return true;
}

std::optional<Selector> Selector::parse(const std::string& labels, const std::string& fields) {
  Selector selector;
  if (!parse_terms(labels, selector.labels_) || !parse_terms(fields, selector.fields_)) return std::nullopt;
  return selector;
}

bool Selector::matches(const json& object) const {
  const json& labels = part(object, {"metadata", "labels"});
  const bool labels_match = std::ranges::all_of(labels_, [&](const Term& term) {
    const bool is_there = labels.contains(term.key);
    if (term.is_existence) return is_there == term.is_equal;
    return (is_there && labels[term.key] == term.value) == term.is_equal;
  });
  return labels_match && std::ranges::all_of(fields_, [&](const Term& term) {
           const json* at = &object;
           for (const std::string& step : split(term.key, '.')) at = &part(*at, {step.c_str()});
           return ((at->is_string() ? at->get<std::string>() : "") == term.value) == term.is_equal;
         });
}

std::string Selector::unknown_field(const std::string& kind) const {
  static const std::set<std::string> kEvery{"metadata.name", "metadata.namespace"};
  static const std::map<std::string, std::set<std::string>> kMore{
      {"Pod",
       {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
        "spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName"}},
      {"Node", {"spec.unschedulable"}}};
  const auto more = kMore.find(kind);
  for (const Term& term : fields_)
    if (!kEvery.contains(term.key) && (more == kMore.end() || !more->second.contains(term.key)))
      return term.key;
  return "";
}

bool Selector::is_partial() const {
  return std::ranges::any_of(
      fields_, [](const Term& term) { return term.key == "spec.nodeName" || term.key == "metadata.name"; });
}

bool selects(const json& selector, const json& labels) {
  const json& wanted = part(selector, {"matchLabels"});
  return std::ranges::all_of(wanted.items(), [&](const auto& entry) {
    return labels.contains(entry.key()) && labels[entry.key()] == entry.value();
  });
}

std::optional<json> patched(const json& object, const json& patch, PatchForm form) {
  json result = object;
  if (form == PatchForm::merge) {
    result.merge_patch(patch);
  } else if (form == PatchForm::strategic) {
    merge_strategically(result, patch);
  } else {
    // nlohmann's patch() throws, which is caught here and nowhere else.
    try {
      result = object.patch(patch);
    } catch (const json::exception&) {
      return std::nullopt;
    }
  }
  return result;
}

}  // namespace evenkeel::faults

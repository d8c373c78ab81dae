#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api_storage.h"

namespace evenkeel::faults {

// What a request's path means.
struct RequestParts {
  std::string api_version, plural, name_space, name, subresource;
  std::map<std::string, std::string> query;

  std::string key() const { return name_space.empty() ? name : name_space + "/" + name; }
  std::string asked(const std::string& parameter) const {
    const auto found = query.find(parameter);
    return found == query.end() ? "" : found->second;
  }
};
std::optional<RequestParts> parse_request_path(std::string_view path);

// labelSelector and fieldSelector, as far as schedulers use them: equality and existence.
class Selector {
 public:
  // Nothing where it says what is not understood.
  static std::optional<Selector> parse(const std::string& labels, const std::string& fields);
  bool matches(const json& object) const;
  // The first field that a server does not let this kind be selected by; empty: there is none.
  std::string unknown_field(const std::string& kind) const;
  // Leaves out objects by what they are or where: whoever was told so was not told of all.
  bool is_partial() const;

 private:
  struct Term {
    std::string key, value;
    bool is_equal = true, is_existence = false;
  };
  static bool parse_terms(const std::string& text, std::vector<Term>& terms);

  std::vector<Term> labels_, fields_;
};

// LabelSelector objects of the API: matchLabels alone.
bool selects(const json& selector, const json& labels);

enum class PatchForm { merge, strategic, operations };
// Nothing where it cannot be applied.
std::optional<json> patched(const json& object, const json& patch, PatchForm form);

}  // namespace evenkeel::faults

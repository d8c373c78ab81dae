#include "kubernetes/label_selector.h"

#include <string>
#include <vector>

namespace evenkeel::kubernetes {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// At commas, but not those within parentheses.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      parts.push_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    } else {
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    }
  }
  return parts;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_of(" ()!=,") == std::string_view::npos;
}

Result<SelectorRequirement> parse_requirement(std::string_view text) {
  const auto wrong = [&] {
    return invalid("expected key=value, key!=value, key in (a,b), key notin (a,b), key or !key, found '" +
                   std::string(text) + "'");
  };
  SelectorRequirement made;
  if (const auto open = text.find('('); open != std::string_view::npos && text.ends_with(')')) {
    const auto words = trimmed(text.substr(0, open));
    const auto blank = words.find(' ');
    const auto op = blank == std::string_view::npos ? "" : trimmed(words.substr(blank));
    if (op != "in" && op != "notin") return wrong();
    made.key = words.substr(0, blank);
    made.op = op == "in" ? SelectorOperator::in : SelectorOperator::not_in;
    for (const auto value : split(text.substr(open + 1, text.size() - open - 2)))
      made.values.emplace_back(value);
  } else if (const auto equals = text.find('='); equals != std::string_view::npos) {
    const bool is_not = equals > 0 && text[equals - 1] == '!';
    const bool is_double = text.substr(equals).starts_with("==");
    made.key = trimmed(text.substr(0, equals - (is_not ? 1 : 0)));
    made.op = is_not ? SelectorOperator::not_in : SelectorOperator::in;
    made.values.emplace_back(trimmed(text.substr(equals + (is_double ? 2 : 1))));
    if (made.values.front().find('=') != std::string::npos) return wrong();
  } else {
    const bool is_not = text.starts_with('!');
    made.key = trimmed(text.substr(is_not ? 1 : 0));
    made.op = is_not ? SelectorOperator::does_not_exist : SelectorOperator::exists;
  }
  if (!is_name(made.key)) return wrong();
  return made;
}

}  // namespace

Result<LabelSelector> parse_label_selector(std::string_view text) {
  LabelSelector selector;
  for (const auto part : split(text)) {
    auto requirement = parse_requirement(part);
    if (!requirement) return requirement.error();
    selector.requirements.push_back(*std::move(requirement));
  }
  return selector;
}

}  // namespace evenkeel::kubernetes

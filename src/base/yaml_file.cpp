#include "base/yaml_file.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <unordered_set>

#include "base/file.h"
#include "base/numbers.h"

namespace evenkeel {
namespace {

using Kind = YamlNode::Kind;

constexpr std::size_t kDeepest = 200;
// Nodes copied for anchors and aliases, a long text counting for many: a few lines could ask for billions.
constexpr std::size_t kMostAliased = 1'000'000;

std::size_t size_of(const YamlNode& node) {
  std::size_t size = 1 + node.text.size() / 64;
  for (const YamlNode& item : node.items) size += size_of(item);
  return size;
}

// Builds our own tree from yaml-cpp's events. The first error is kept and the rest of the document ignored,
// since a handler cannot stop the parser but by throwing.
class TreeBuilder final : public YAML::EventHandler {
 public:
  YamlNode root;
  std::optional<std::string> problem;
  int problem_line = 0;
  YAML::Mark last_quoted;  // where the last text in quotes begins

  YAML::Mark start;

  void OnDocumentStart(const YAML::Mark& mark) override { start = mark; }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(node_at(mark, Kind::null), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto target = anchored_.find(anchor);
    if (target == anchored_.end()) return fail(mark.line + 1, "an alias refers to a value that contains it");
    aliased_ += size_of(target->second);
    if (aliased_ > kMostAliased) return fail(mark.line + 1, "aliases expand to too many values");
    add(target->second, YAML::NullAnchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = node_at(mark, Kind::scalar);
    node.text = value;
    node.quoted = tag == "!";
    if (node.quoted) last_quoted = mark;
    add(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(node_at(mark, Kind::list), anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(node_at(mark, Kind::map), anchor);
  }
  void OnMapEnd() override { end(); }

 private:
  struct Frame {
    YamlNode node;
    YAML::anchor_t anchor = YAML::NullAnchor;
    std::optional<int> key_line;             // set between a key and its value
    std::unordered_set<std::string> seen{};  // keys, so that ten thousand of them take no minute
  };

  static YamlNode node_at(const YAML::Mark& mark, Kind kind) {
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    return node;
  }

  void fail(int line, std::string message) {
    if (problem) return;
    problem = std::move(message);
    problem_line = line;
  }

  void begin(YamlNode node, YAML::anchor_t anchor) {
    if (open_.size() >= kDeepest) fail(node.line, "values are nested too deeply");
    open_.push_back({std::move(node), anchor, std::nullopt, {}});
  }

  void end() {
    Frame frame = std::move(open_.back());
    open_.pop_back();
    add(std::move(frame.node), frame.anchor);
  }

  void add(YamlNode node, YAML::anchor_t anchor) {
    if (problem) return;
    if (anchor != YAML::NullAnchor) {
      aliased_ += size_of(node);
      if (aliased_ > kMostAliased) return fail(node.line, "anchored values are too large");
      anchored_[anchor] = node;
    }
    if (open_.empty()) {
      root = std::move(node);
      return;
    }
    Frame& parent = open_.back();
    if (parent.node.kind == Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.key_line) {
      node.line = *parent.key_line;
      parent.node.items.push_back(std::move(node));
      parent.key_line.reset();
    } else {
      add_key(parent, node);
    }
  }

  void add_key(Frame& parent, const YamlNode& key) {
    if (key.kind != Kind::scalar) return fail(key.line, "a key must be a word");
    if (!parent.seen.insert(key.text).second) {
      const YamlNode* first = parent.node.child(key.text);
      return fail(key.line, "'" + key.text + "' is given twice" +
                                (first ? ", first in line " + std::to_string(first->line) : ""));
    }
    parent.node.keys.push_back(key.text);
    parent.key_line = key.line;
  }

  std::vector<Frame> open_;
  std::map<YAML::anchor_t, YamlNode> anchored_;
  std::size_t aliased_ = 0;
};

std::string place(const std::string& name, int line) { return name + ":" + std::to_string(line) + ": "; }

// yaml-cpp 0.7 takes a quote that is never closed as closed when the file ends in a line break. Such a text
// swallows the rest of the file, so only the last one needs a look.
bool is_closed(std::string_view text, const YAML::Mark& opened) {
  const auto start = static_cast<std::size_t>(std::max(0, opened.pos));
  if (start >= text.size() || (text[start] != '"' && text[start] != '\'')) return true;
  const char quote = text[start];
  for (std::size_t at = start + 1; at < text.size(); ++at) {
    const bool escaped = quote == '"' ? text[at] == '\\' : text.substr(at, 2) == "''";
    if (escaped) {
      ++at;
    } else if (text[at] == quote) {
      return true;
    }
  }
  return false;
}

// All documents of a text; this is the one place where yaml-cpp may throw.
Result<std::vector<YamlNode>> parse_trees(std::string_view text, const std::string& name) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<YamlNode> trees;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    for (int last = -1;;) {
      TreeBuilder builder;
      if (!parser.HandleNextDocument(builder)) break;
      // At a comma, say, that belongs to no list yaml-cpp finds empty documents for ever, and never moves on.
      if (builder.start.pos <= last)
        return invalid(place(name, builder.start.line + 1) + "not valid YAML: expected a value or the end");
      last = builder.start.pos;
      if (builder.problem) return invalid(place(name, builder.problem_line) + *builder.problem);
      if (!is_closed(text, builder.last_quoted)) {
        return invalid(place(name, builder.last_quoted.line + 1) + "a quote is opened and never closed");
      }
      trees.push_back(std::move(builder.root));
    }
  } catch (const YAML::Exception& problem) {
    return invalid(place(name, std::max(0, problem.mark.line) + 1) + "not valid YAML: " + problem.msg);
  }
  return trees;
}

void mark_as_override(YamlNode& node, const std::string& path) {
  node.override_path = path;
  for (YamlNode& item : node.items) mark_as_override(item, path);
}

// What follows the = of an assignment. What is no YAML by itself, such as @file or 50%, is taken as the word
// it is.
Result<YamlNode> parse_override(std::string_view value, const std::string& path) {
  YamlNode node;
  auto trees = parse_trees(value, "--set " + path);
  const bool meant_as_structure = value.starts_with('[') || value.starts_with('{') || value.starts_with('"');
  if (!trees && meant_as_structure) {
    return invalid("--set " + path + ": expected a YAML value, found '" + std::string(value) + "'");
  }
  if (trees && trees->size() == 1) {
    node = std::move(trees->front());
  } else if (!value.empty()) {
    node.kind = Kind::scalar;
    node.text = value;
  }
  mark_as_override(node, path);
  return node;
}

Error cannot_enter(const YamlNode& node, const std::string& path, const std::string& entered,
                   const std::string& file) {
  const std::string what = node.kind == Kind::scalar ? "'" + node.text + "'" : "a list";
  const std::string expected = node.kind == Kind::list
                                   ? "an index from 0 to " + std::to_string(node.items.size())
                                   : std::string("a map");
  return invalid("--set " + path + ": expected " + expected + " at '" + entered + "', found " + what + " (" +
                 file + ":" + std::to_string(node.line) + ")");
}

// The child that a step of an override names, made where it is missing; null where the step leads nowhere.
YamlNode* step_into(YamlNode& node, const std::string& key, const std::string& path) {
  if (node.kind == Kind::list) {
    const auto index = parse_integer(key);
    if (!index || *index < 0 || static_cast<std::size_t>(*index) > node.items.size()) return nullptr;
    if (static_cast<std::size_t>(*index) == node.items.size()) node.items.emplace_back().override_path = path;
    return &node.items[static_cast<std::size_t>(*index)];
  }
  if (node.kind == Kind::scalar) return nullptr;
  node.kind = Kind::map;
  if (YamlNode* child = node.child(key)) return child;
  node.keys.push_back(key);
  node.items.emplace_back().override_path = path;
  return &node.items.back();
}

void remove(YamlNode& parent, const YamlNode* child) {
  const auto index = child - parent.items.data();
  if (parent.kind == Kind::map) parent.keys.erase(parent.keys.begin() + index);
  parent.items.erase(parent.items.begin() + index);
}

}  // namespace

const YamlNode* YamlNode::child(std::string_view key) const {
  const auto found = std::find(keys.begin(), keys.end(), key);
  const auto index = static_cast<std::size_t>(found - keys.begin());
  // A key may stand without its value while the tree is being built.
  return index < items.size() ? &items[index] : nullptr;
}

YamlNode* YamlNode::child(std::string_view key) {
  return const_cast<YamlNode*>(static_cast<const YamlNode*>(this)->child(key));
}

std::vector<std::string> split_yaml_path(std::string_view path) {
  std::vector<std::string> keys(1);
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '\\' && i + 1 < path.size()) {
      keys.back() += path[++i];
    } else if (path[i] == '.') {
      keys.emplace_back();
    } else {
      keys.back() += path[i];
    }
  }
  return keys;
}

Result<YamlFile> YamlFile::open(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  return parse(*text, path);
}

Result<YamlFile> YamlFile::parse(std::string_view text, std::string name) {
  auto trees = parse_trees(text, name);
  if (!trees) return trees.error();
  if (trees->size() > 1)
    return invalid(place(name, (*trees)[1].line) + "expected one document, found another");
  return YamlFile(trees->empty() ? YamlNode{} : std::move(trees->front()), std::move(name));
}

Result<std::vector<YamlFile>> YamlFile::parse_documents(std::string_view text, const std::string& name) {
  auto trees = parse_trees(text, name);
  if (!trees) return trees.error();
  std::vector<YamlFile> files;
  for (YamlNode& tree : *trees) {
    if (tree.kind != Kind::null) files.push_back(YamlFile(std::move(tree), name));
  }
  return files;
}

Status YamlFile::set(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string path(assignment.substr(0, equals));
  const std::vector<std::string> keys = split_yaml_path(path);
  const bool has_empty_key = std::find(keys.begin(), keys.end(), "") != keys.end();
  if (equals == std::string_view::npos || has_empty_key) {
    return invalid("--set: expected field.name=value, found '" + std::string(assignment) + "'");
  }
  auto value = parse_override(assignment.substr(equals + 1), path);
  if (!value) return value.error();

  YamlNode* parent = nullptr;
  YamlNode* node = &root_;
  std::string entered;
  for (const std::string& key : keys) {
    YamlNode* next = step_into(*node, key, path);
    if (next == nullptr) return cannot_enter(*node, path, entered.empty() ? key : entered, name_);
    entered += (entered.empty() ? "" : ".") + key;
    parent = node;
    node = next;
  }
  if (value->kind == Kind::null) {
    remove(*parent, node);
  } else {
    *node = *std::move(value);
  }
  return {};
}

}  // namespace evenkeel

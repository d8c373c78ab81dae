#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace evenkeel {

// One value of a YAML file and where it stands. A map keeps the order of the file: keys[i] belongs to
// items[i].
struct YamlNode {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  bool quoted = false;        // a scalar in quotes is text, whatever it looks like
  int line = 0;               // counted from 1; of the key, where there is one
  std::string override_path;  // "nodes.count" where the value came from --set, else empty
  std::string text;           // of a scalar
  std::vector<std::string> keys;
  std::vector<YamlNode> items;

  const YamlNode* child(std::string_view key) const;  // of a map; null when absent
  YamlNode* child(std::string_view key);
};

// A YAML document with its name for messages, and --set overrides worked in. Read it with a YamlReader.
class YamlFile {
 public:
  static Result<YamlFile> open(const std::string& path);
  static Result<YamlFile> parse(std::string_view text, std::string name);
  // For manifests: every document of the text, empty ones left out.
  static Result<std::vector<YamlFile>> parse_documents(std::string_view text, const std::string& name);

  // `a.b.c=value`: the value is YAML (a word, a number, [1, 2], {x: 1}); null removes the field. Missing maps
  // on the way are made; a number is an index where there is a list, its length appends; `\.` is a point
  // within a key.
  Status set(std::string_view assignment);

  const std::string& name() const { return name_; }
  const YamlNode& root() const { return root_; }

 private:
  YamlFile(YamlNode root, std::string name) : root_(std::move(root)), name_(std::move(name)) {}

  YamlNode root_;
  std::string name_;
};

// `nodes.0.labels.kubernetes\.io/arch` into its four keys.
std::vector<std::string> split_yaml_path(std::string_view path);

}  // namespace evenkeel

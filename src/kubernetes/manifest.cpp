#include "kubernetes/manifest.h"

#include "base/yaml_file.h"
#include "kubernetes/read_object.h"
#include "kubernetes/yaml_to_json.h"

namespace evenkeel::kubernetes {
namespace {

Status add_object(JsonValue value, const std::string& where, std::string_view kind, std::string_view version,
                  std::vector<ApiObject>& into) {
  Result<std::optional<ApiObject>> object = read_object(value, kind, version);
  if (!object) return Error{object.error().kind, where + ": " + object.error().message};
  if (*object) into.push_back(*std::move(*object));
  return {};
}

// A typed list (NodeList) may leave out what its items are; a plain List may not.
std::string kind_of_items(const std::string& list_kind) {
  constexpr std::string_view kEnding = "List";
  if (list_kind == kEnding || !list_kind.ends_with(kEnding)) return "";
  return list_kind.substr(0, list_kind.size() - kEnding.size());
}

Status add_json(JsonValue root, const std::string& where, std::vector<ApiObject>& into) {
  JsonReading reading(where);
  const JsonField list(reading, root);
  if (!list.is_map() || !list.has("items")) return add_object(root, where, "", "", into);
  const std::string kind = kind_of_items(list.text_at("kind")), version = list.text_at("apiVersion");
  const std::vector<JsonField> items = list.at("items").items();
  if (reading.error()) return *reading.error();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string place = where + ": items[" + std::to_string(i) + "]";
    if (const Status added = add_object(items[i].value(), place, kind, kind.empty() ? "" : version, into);
        !added)
      return added;
  }
  return {};
}

Status add_yaml(const YamlNode& node, const std::string& name, std::string_view kind,
                std::string_view version, std::vector<ApiObject>& into) {
  const YamlNode* items = node.child("items");
  if (items && items->kind == YamlNode::Kind::list) {
    const YamlNode* list_kind = node.child("kind");
    const YamlNode* list_version = node.child("apiVersion");
    const std::string of_items = kind_of_items(list_kind ? list_kind->text : "");
    for (const YamlNode& item : items->items)
      if (const Status added = add_yaml(item, name, of_items,
                                        of_items.empty() || !list_version ? "" : list_version->text, into);
          !added)
        return added;
    return {};
  }
  const std::string where = name + ":" + std::to_string(node.line);
  const Result<JsonDocument> document = JsonDocument::parse(yaml_to_json(node), where);
  if (!document) return document.error();
  return add_object(document->root(), where, kind, version, into);
}

bool looks_like_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

}  // namespace

Result<std::vector<ApiObject>> read_manifest(std::string_view text, const std::string& name) {
  std::vector<ApiObject> objects;
  if (looks_like_json(text)) {
    // What is no JSON after all may still be YAML, whose messages know the line.
    if (const Result<JsonDocument> document = JsonDocument::parse(text, name)) {
      if (const Status added = add_json(document->root(), name, objects); !added) return added.error();
      return objects;
    }
  }
  const Result<std::vector<YamlFile>> documents = YamlFile::parse_documents(text, name);
  if (!documents) return documents.error();
  for (const YamlFile& document : *documents)
    if (const Status added = add_yaml(document.root(), name, "", "", objects); !added) return added.error();
  return objects;
}

}  // namespace evenkeel::kubernetes

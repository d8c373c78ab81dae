#include "kubernetes/wire_json.h"

#include <simdjson.h>

#include <optional>

namespace evenkeel::kubernetes {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

// simdjson throws nothing when asked for error codes; a missing or mistyped field reads as absent.
std::optional<std::string_view> text_of(const object& holder, std::string_view name) {
  std::string_view text;
  if (holder[name].get(text) != simdjson::SUCCESS) return std::nullopt;
  return text;
}

std::string text_or_empty(const object& holder, std::string_view name) {
  return std::string(text_of(holder, name).value_or(""));
}

std::optional<object> object_of(const object& holder, std::string_view name) {
  object found;
  if (holder[name].get(found) != simdjson::SUCCESS) return std::nullopt;
  return found;
}

std::int64_t integer_or_zero(const object& holder, std::string_view name) {
  std::int64_t value = 0;
  return holder[name].get(value) == simdjson::SUCCESS ? value : 0;
}

ObjectIdentity identity_of(const object& holder) {
  const auto metadata = object_of(holder, "metadata");
  if (!metadata) return {};
  return {text_or_empty(*metadata, "namespace"), text_or_empty(*metadata, "name"),
          text_or_empty(*metadata, "uid"), text_or_empty(*metadata, "resourceVersion")};
}

WireObject wire_object(const object& parsed) { return {identity_of(parsed), simdjson::minify(parsed)}; }

// The parser's memory grows to the largest document seen and is reused for the next.
class Document {
 public:
  static Result<object> parse(simdjson::dom::parser& parser, std::string_view text, const char* what) {
    object root;
    const auto error = parser.parse(text.data(), text.size()).get(root);
    if (error != simdjson::SUCCESS) {
      return invalid(std::string(what) + ": expected a JSON object, found " + simdjson::error_message(error));
    }
    return root;
  }
};

ApiStatus status_of(const object& root) {
  ApiStatus status;
  status.code = static_cast<int>(integer_or_zero(root, "code"));
  status.reason = text_or_empty(root, "reason");
  status.message = text_or_empty(root, "message");
  if (const auto details = object_of(root, "details")) {
    status.retry_after_seconds = integer_or_zero(*details, "retryAfterSeconds");
  }
  return status;
}

}  // namespace

Result<ListPage> read_json_list(std::string_view body) {
  simdjson::dom::parser parser;
  const auto root = Document::parse(parser, body, "list");
  if (!root) return root.error();
  const auto metadata = object_of(*root, "metadata");
  if (!metadata) return invalid("list: metadata is missing");
  ListPage page{text_or_empty(*metadata, "resourceVersion"), text_or_empty(*metadata, "continue"), {}, {}};
  const auto items = (*root)["items"];
  if (items.error() == simdjson::NO_SUCH_FIELD || items.is_null()) return page;  // Go's empty list
  simdjson::dom::array array;
  if (items.get(array) != simdjson::SUCCESS) return invalid("list: items is not a list");
  page.items.reserve(array.size());
  for (const element item : array) {
    object parsed;
    if (item.get(parsed) == simdjson::SUCCESS) {
      page.items.push_back(wire_object(parsed));
    } else {
      page.damaged.push_back("items." + std::to_string(page.items.size() + page.damaged.size()) +
                             ": not an object");
    }
  }
  return page;
}

Result<WatchEvent> read_json_watch_event(std::string_view line) {
  simdjson::dom::parser parser;
  const auto root = Document::parse(parser, line, "watch event");
  if (!root) return root.error();
  const auto type = watch_event_type(text_of(*root, "type").value_or(""));
  if (!type) return type.error();
  const auto carried = object_of(*root, "object");
  if (!carried) return invalid("watch event: object is missing");
  WatchEvent event;
  event.type = *type;
  if (event.type == WatchEvent::Type::error) {
    event.status = status_of(*carried);
  } else {
    event.object = wire_object(*carried);
  }
  return event;
}

Result<WireObject> read_json_object(std::string_view body) {
  simdjson::dom::parser parser;
  const auto root = Document::parse(parser, body, "object");
  if (!root) return root.error();
  return wire_object(*root);
}

Result<ApiStatus> read_json_status(std::string_view body) {
  simdjson::dom::parser parser;
  const auto root = Document::parse(parser, body, "status");
  if (!root) return root.error();
  return status_of(*root);
}

}  // namespace evenkeel::kubernetes

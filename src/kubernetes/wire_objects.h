#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace evenkeel::kubernetes {

// Whom an object is: what list, watch and write need of it, whatever its kind.
struct ObjectIdentity {
  std::string name_space;  // empty for what stands outside namespaces
  std::string name, uid, resource_version;

  bool operator==(const ObjectIdentity&) const = default;
  std::string key() const { return name_space.empty() ? name : name_space + "/" + name; }
};

struct WireObject {
  ObjectIdentity identity;
  std::string json;  // the object as the API spells it; for protobuf without what nobody reads
};

struct ListPage {
  std::string resource_version;
  std::string continue_token;  // empty: this was the last page
  std::vector<WireObject> items;
  std::vector<std::string> damaged;  // what could not be read and was left out, named
};

// The server's `Status`: why it refused, or in a watch why it ends.
struct ApiStatus {
  int code = 0;
  std::string reason, message;
  std::int64_t retry_after_seconds = 0;
};

struct WatchEvent {
  enum class Type { added, modified, deleted, bookmark, error };
  Type type = Type::bookmark;
  WireObject object;  // of a bookmark only the resource version counts
  ApiStatus status;   // of an error
};

// ADDED, MODIFIED, … as the wire spells them.
Result<WatchEvent::Type> watch_event_type(std::string_view name);

enum class WireFormat { json, protobuf };
// What to ask for, and what an answer calls itself.
std::string_view media_type(WireFormat format);
std::string_view watch_media_type(WireFormat format);
WireFormat format_of(std::string_view content_type);

// The answer to a LIST. `api_version` and `kind` are those of the items, which items do not repeat.
Result<ListPage> read_list(WireFormat format, std::string_view body, std::string_view api_version,
                           std::string_view kind);
// One frame of a watch.
Result<WatchEvent> read_watch_event(WireFormat format, std::string_view frame);
// The answer to a GET, or to a write that returns the object.
Result<WireObject> read_object(WireFormat format, std::string_view body);
// The body of an answer that is not 2xx; a body that is no Status (a proxy's page) becomes its message.
ApiStatus read_status(WireFormat format, std::string_view body, int http_code);

}  // namespace evenkeel::kubernetes

#include "kubernetes/wire_objects.h"

#include "kubernetes/wire_json.h"
#include "kubernetes/wire_protobuf.h"

namespace evenkeel::kubernetes {
namespace {

constexpr std::size_t kMaxQuotedBody = 200;  // of an answer that is no Status

}  // namespace

Result<WatchEvent::Type> watch_event_type(std::string_view name) {
  using Type = WatchEvent::Type;
  if (name == "ADDED") return Type::added;
  if (name == "MODIFIED") return Type::modified;
  if (name == "DELETED") return Type::deleted;
  if (name == "BOOKMARK") return Type::bookmark;
  if (name == "ERROR") return Type::error;
  return invalid("watch event: unknown type '" + std::string(name.substr(0, 40)) + "'");
}

std::string_view media_type(WireFormat format) {
  return format == WireFormat::json ? "application/json" : "application/vnd.kubernetes.protobuf";
}

std::string_view watch_media_type(WireFormat format) {
  return format == WireFormat::json ? "application/json;stream=watch"
                                    : "application/vnd.kubernetes.protobuf;stream=watch";
}

WireFormat format_of(std::string_view content_type) {
  return content_type.starts_with(media_type(WireFormat::protobuf)) ? WireFormat::protobuf : WireFormat::json;
}

Result<ListPage> read_list(WireFormat format, std::string_view body, std::string_view api_version,
                           std::string_view kind) {
  return format == WireFormat::json ? read_json_list(body) : read_protobuf_list(body, api_version, kind);
}

Result<WatchEvent> read_watch_event(WireFormat format, std::string_view frame) {
  return format == WireFormat::json ? read_json_watch_event(frame) : read_protobuf_watch_event(frame);
}

Result<WireObject> read_object(WireFormat format, std::string_view body) {
  return format == WireFormat::json ? read_json_object(body) : read_protobuf_object(body);
}

ApiStatus read_status(WireFormat format, std::string_view body, int http_code) {
  auto status = format == WireFormat::json ? read_json_status(body) : read_protobuf_status(body);
  if (!status || status->message.empty()) {
    const std::string_view quoted = body.substr(0, kMaxQuotedBody);
    return {http_code, "", format == WireFormat::json ? std::string(quoted) : std::string(), 0};
  }
  if (status->code == 0) status->code = http_code;
  return *std::move(status);
}

}  // namespace evenkeel::kubernetes

#include "kubernetes/wire_protobuf.h"

#include "kubernetes/protobuf_json.h"
#include "kubernetes/protobuf_wire.h"

namespace evenkeel::kubernetes {
namespace {

constexpr std::string_view kMagic("k8s\0", 4);

// runtime.Unknown: {typeMeta {apiVersion, kind}, raw, …}.
struct Envelope {
  std::string_view api_version, kind, raw;
};

Result<Envelope> open_envelope(std::string_view body) {
  if (!body.starts_with(kMagic)) return invalid("protobuf: expected an answer that begins with k8s\\0");
  body.remove_prefix(kMagic.size());
  Envelope envelope;
  ProtobufWalker walker(body);
  while (walker.next()) {
    if (!walker.is_bytes()) continue;
    if (walker.number() == 1) {
      envelope.api_version = protobuf_bytes(walker.bytes(), 1);
      envelope.kind = protobuf_bytes(walker.bytes(), 2);
    } else if (walker.number() == 2) {
      envelope.raw = walker.bytes();
    }
  }
  if (walker.broken()) return invalid("protobuf: the envelope is damaged");
  return envelope;
}

// ObjectMeta is field 1 of every object.
ObjectIdentity identity_of(std::string_view object) {
  ObjectIdentity identity;
  ProtobufWalker walker(protobuf_bytes(object, 1));
  while (walker.next()) {
    if (!walker.is_bytes()) continue;
    const auto take = [&](std::string& field) { field = walker.bytes(); };
    switch (walker.number()) {
      case 1:
        take(identity.name);
        break;
      case 3:
        take(identity.name_space);
        break;
      case 5:
        take(identity.uid);
        break;
      case 6:
        take(identity.resource_version);
        break;
      default:
        break;
    }
  }
  return identity;
}

Result<WireObject> wire_object(std::string_view bytes, std::string_view api_version, std::string_view kind) {
  WireObject object{identity_of(bytes), {}};
  const auto done = append_protobuf_as_json(bytes, api_version, kind, object.json);
  if (!done) return Error{done.error().kind, object.identity.key() + ": " + done.error().message};
  return object;
}

ApiStatus status_of(std::string_view bytes) {
  ApiStatus status;
  ProtobufWalker walker(bytes);
  while (walker.next()) {
    if (walker.number() == 3 && walker.is_bytes()) status.message = walker.bytes();
    if (walker.number() == 4 && walker.is_bytes()) status.reason = walker.bytes();
    if (walker.number() == 6 && walker.is_varint()) status.code = static_cast<int>(walker.integer());
    if (walker.number() != 5 || !walker.is_bytes()) continue;
    ProtobufWalker details(walker.bytes());
    while (details.next()) {
      if (details.number() == 5 && details.is_varint()) status.retry_after_seconds = details.integer();
    }
  }
  return status;
}

}  // namespace

Result<ListPage> read_protobuf_list(std::string_view body, std::string_view api_version,
                                    std::string_view kind) {
  const auto envelope = open_envelope(body);
  if (!envelope) return envelope.error();
  ListPage page;
  ProtobufWalker walker(envelope->raw);
  while (walker.next()) {
    if (!walker.is_bytes()) continue;
    if (walker.number() == 1) {
      page.resource_version = protobuf_bytes(walker.bytes(), 2);
      page.continue_token = protobuf_bytes(walker.bytes(), 3);
    } else if (walker.number() == 2) {
      auto object = wire_object(walker.bytes(), api_version, kind);
      if (object) {
        page.items.push_back(*std::move(object));
      } else {
        page.damaged.push_back(object.error().message);
      }
    }
  }
  if (walker.broken()) return invalid("protobuf: the list of " + std::string(kind) + " is damaged");
  return page;
}

Result<WatchEvent> read_protobuf_watch_event(std::string_view frame) {
  std::string_view type_name, carried;
  ProtobufWalker walker(frame);
  while (walker.next()) {
    if (walker.number() == 1 && walker.is_bytes()) type_name = walker.bytes();
    if (walker.number() == 2 && walker.is_bytes()) carried = protobuf_bytes(walker.bytes(), 1);
  }
  if (walker.broken()) return invalid("watch event: the frame is damaged");
  const auto type = watch_event_type(type_name);
  if (!type) return type.error();
  const auto envelope = open_envelope(carried);
  if (!envelope) return envelope.error();
  WatchEvent event;
  event.type = *type;
  if (event.type == WatchEvent::Type::error) {
    event.status = status_of(envelope->raw);
  } else if (event.type == WatchEvent::Type::bookmark) {
    event.object.identity = identity_of(envelope->raw);
  } else {
    auto object = wire_object(envelope->raw, envelope->api_version, envelope->kind);
    if (!object) return object.error();
    event.object = *std::move(object);
  }
  return event;
}

Result<WireObject> read_protobuf_object(std::string_view body) {
  const auto envelope = open_envelope(body);
  if (!envelope) return envelope.error();
  return wire_object(envelope->raw, envelope->api_version, envelope->kind);
}

Result<ApiStatus> read_protobuf_status(std::string_view body) {
  const auto envelope = open_envelope(body);
  if (!envelope) return envelope.error();
  if (envelope->kind != "Status")
    return invalid("protobuf: expected a Status, found a " + std::string(envelope->kind));
  return status_of(envelope->raw);
}

}  // namespace evenkeel::kubernetes

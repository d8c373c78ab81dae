// What an API server, or somebody in its place, may send: every reader of the wire, by libFuzzer. tools/fuzz
// runs it. The first byte says which reader; what is accepted must be valid JSON.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "kubernetes/http_reader.h"
#include "kubernetes/watch_frames.h"
#include "kubernetes/wire_objects.h"

namespace {

using namespace evenkeel::kubernetes;

void expect_valid(const WireObject& object) {
  if (!nlohmann::json::accept(object.json)) std::abort();
}

void try_list(WireFormat format, std::string_view bytes, std::string_view api_version,
              std::string_view kind) {
  const auto page = read_list(format, bytes, api_version, kind);
  if (!page) return;
  for (const WireObject& item : page->items) expect_valid(item);
}

void try_watch(WireFormat format, std::string_view bytes) {
  WatchFrames frames(format);
  for (std::size_t half = bytes.size() / 2;
       const std::string_view piece : {bytes.substr(0, half), bytes.substr(half)}) {
    frames.append(piece);
    while (true) {
      const auto frame = frames.next();
      if (!frame || !*frame) break;
      const auto event = read_watch_event(format, **frame);
      const bool has_object =
          event && event->type != WatchEvent::Type::error && event->type != WatchEvent::Type::bookmark;
      if (has_object) expect_valid(event->object);
    }
  }
}

void try_http(std::string_view bytes) {
  std::size_t body = 0;
  HttpReader reader([](const HttpHead&) {}, [&](std::string_view piece) { body += piece.size(); });
  const std::size_t half = bytes.size() / 2;
  if (reader.feed(bytes.substr(0, half)) && reader.feed(bytes.substr(half))) (void)reader.feed_end();
  if (body > bytes.size()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 8) {
    case 0:
      try_list(WireFormat::protobuf, bytes, "v1", "Pod");
      break;
    case 1:
      try_list(WireFormat::protobuf, bytes, "v1", "Node");
      break;
    case 2:
      try_list(WireFormat::protobuf, bytes, "storage.k8s.io/v1", "CSIStorageCapacity");
      break;
    case 3:
      try_list(WireFormat::json, bytes, "v1", "Pod");
      break;
    case 4:
      try_watch(WireFormat::protobuf, bytes);
      break;
    case 5:
      try_watch(WireFormat::json, bytes);
      break;
    case 6:
      try_http(bytes);
      break;
    default:
      (void)read_status(WireFormat::protobuf, bytes, 500);
      (void)read_status(WireFormat::json, bytes, 500);
  }
  return 0;
}

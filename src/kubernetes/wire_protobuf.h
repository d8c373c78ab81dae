#pragma once
#include <string_view>

#include "kubernetes/wire_objects.h"

namespace evenkeel::kubernetes {

// Answers begin with "k8s\0" and an envelope that names apiVersion and kind; frames of a watch are bare
// events with such an answer inside.
Result<ListPage> read_protobuf_list(std::string_view body, std::string_view api_version,
                                    std::string_view kind);
Result<WatchEvent> read_protobuf_watch_event(std::string_view frame);
Result<WireObject> read_protobuf_object(std::string_view body);
Result<ApiStatus> read_protobuf_status(std::string_view body);

}  // namespace evenkeel::kubernetes

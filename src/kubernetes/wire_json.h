#pragma once
#include <string_view>

#include "kubernetes/wire_objects.h"

namespace evenkeel::kubernetes {

Result<ListPage> read_json_list(std::string_view body);
Result<WatchEvent> read_json_watch_event(std::string_view line);
Result<WireObject> read_json_object(std::string_view body);
Result<ApiStatus> read_json_status(std::string_view body);

}  // namespace evenkeel::kubernetes

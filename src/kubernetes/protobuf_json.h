#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace evenkeel::kubernetes {

// One object in protobuf (without its envelope) as the JSON the API server would have sent, less the fields
// that nobody here reads. Both wire formats thus meet in one reader, and the server, which pays several times
// more for encoding JSON, is spared it. `kind` is that of a built-in object: "v1", "Pod".
//
// Appends to `json`; on an error what was appended is taken off again.
Status append_protobuf_as_json(std::string_view bytes, std::string_view api_version, std::string_view kind,
                               std::string& json);

// Whether protobuf can be asked for: custom resources have no protobuf form.
bool has_protobuf_form(std::string_view api_version, std::string_view kind);

// "text" with quotes and escapes. The text must be valid UTF-8.
void append_json_text(std::string_view text, std::string& json);

}  // namespace evenkeel::kubernetes

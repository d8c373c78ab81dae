#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kubernetes/api_objects.h"
#include "kubernetes/json_field.h"

namespace evenkeel::kubernetes {

// One object of the API, whatever its kind; nothing for kinds that scheduling does not look at. Errors name
// the object and the field. `kind` and `api_version` are for objects out of a typed list, which leaves them
// out.
Result<std::optional<ApiObject>> read_object(JsonValue object, std::string_view kind = "",
                                             std::string_view api_version = "");

}  // namespace evenkeel::kubernetes

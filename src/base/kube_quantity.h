#pragma once
#include <cstdint>
#include <string_view>

#include "base/quantity.h"
#include "base/result.h"

namespace evenkeel {

// Kubernetes resource quantities, as in `cpu: 500m` or `memory: 1.5Gi`:
//   number  [+-] digits, with or without a point        suffix  n u m k M G T P E | Ki Mi Gi Ti Pi Ei | e3 E3
//   e-3
// A fraction of the target unit is rounded away from zero, as apimachinery's MilliValue() and Value() do: who
// asks for a little gets something. Deviations: a quantity beyond 63 bits is an error where Kubernetes caps
// it, and at least one digit is demanded.
Result<std::int64_t> parse_quantity_milli(std::string_view text);  // "1.5" -> 1500
Result<std::int64_t> parse_quantity(std::string_view text);        // "1.5Gi" -> 1610612736

Result<MilliCpu> parse_cpu(std::string_view text);
Result<Bytes> parse_bytes(std::string_view text);

}  // namespace evenkeel

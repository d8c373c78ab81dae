#pragma once
#include <functional>

#include "base/result.h"
#include "base/time.h"
#include "messaging/descriptor.h"
#include "messaging/host_port.h"

namespace evenkeel::messaging {

// A connection to one of the host's addresses, which does not block and sends at once. Waiting is the
// caller's: `wait_to_write` says whether the socket became ready; false ends the attempt. What is not
// acknowledged within `patience` ends the connection later on.
Result<Descriptor> dial(const HostPort& to, Duration patience,
                        const std::function<bool(int socket)>& wait_to_write);

}  // namespace evenkeel::messaging

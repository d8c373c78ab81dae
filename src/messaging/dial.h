#pragma once
#include <functional>

#include "base/result.h"
#include "base/time.h"
#include "messaging/descriptor.h"
#include "messaging/host_port.h"

namespace evenkeel::messaging {

inline constexpr int kShortSendBuffer = 64 * 1024;  // what waits in the kernel grows old there

// A connection to one of the host's addresses, which does not block and sends at once. Waiting is the
// caller's: `wait_to_write` says whether the socket became ready; false ends the attempt. What is not
// acknowledged within `patience` ends the connection later on. `send_buffer` 0: as large as the kernel likes.
Result<Descriptor> dial(const HostPort& to, Duration patience,
                        const std::function<bool(int socket)>& wait_to_write,
                        int send_buffer = kShortSendBuffer);

}  // namespace evenkeel::messaging

#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "messaging/host_port.h"
#include "messaging/tls_session.h"

namespace evenkeel::messaging {

struct ProbeTarget {
  std::string node;
  HostPort to;
};

struct ProbeSize {
  int trips = 200;                                  // round trips, after a few that do not count
  Duration trips_within = std::chrono::seconds(2);  // fewer where the way is long
  std::int64_t data = 0;                            // bytes of the bandwidth test; 0: none
  Duration data_within = std::chrono::seconds(4);   // fewer bytes where the link is slow
  Duration patience = std::chrono::seconds(5);      // for a connection and for each answer
};

struct ProbeOutcome {
  bool is_busy = false;  // it was asked to come again, and measured nothing
  std::vector<double> round_trips_us{};
  double bits_per_second = 0;     // 0: not measured
  TlsSession::Traffic traffic{};  // as packets, also of what failed
  std::string trouble{};          // empty: all went well
};

// Measures the path to a peer, in the calling thread. Authenticated both ways: the peer must be the very node
// that was meant. `context` is a TlsContext of role peer.
ProbeOutcome probe_peer(const TlsContext& context, const ProbeTarget& target, const ProbeSize& size,
                        const std::atomic<bool>& stopping);

}  // namespace evenkeel::messaging

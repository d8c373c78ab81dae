#include "simulated_network.h"

#include <algorithm>

#include "simulated_connection.h"

namespace evenkeel::faults {

Weather Weather::drawn(Random& random) {
  Weather weather;
  // A world is bad in some ways and calm in others: what happens once in a while meets what happens all the
  // time.
  const auto rate = [&](double most) {
    return random.chance(0.5) ? 0.0 : most * random.uniform() * random.uniform();
  };
  weather.lost_before = rate(0.2);
  weather.lost_after = rate(0.2);
  weather.silent = random.chance(0.5) ? 0 : 0.3;
  weather.slow = rate(0.3);
  weather.busy = rate(0.2);
  weather.unavailable = rate(0.2);
  weather.error_before = rate(0.2);
  weather.error_after = rate(0.1);
  weather.expired = rate(0.3);
  weather.late = rate(0.5);
  weather.cut = rate(0.2);
  weather.stall = rate(0.05);
  weather.repeat = rate(0.3);
  return weather;
}

SimulatedNetwork::SimulatedNetwork(SimulatedApiServer& server, Random random)
    : server_(server), random_(random) {
  server_.storage().changed = [this, before = server_.storage().changed](Kind& kind, const Change& change) {
    before(kind, change);
    for (SimulatedConnection* connection : connections_) connection->wake_watches(kind);
  };
  server_.compacting = [this] {
    for (SimulatedConnection* connection : connections_) connection->catch_up();
  };
}

void SimulatedNetwork::restart(Duration down) {
  ++counts.restarts;
  is_up_ = false;
  server_.expire_pages();
  for (SimulatedConnection* connection : connections_) connection->end_streams();
  clock().after(down, [this] { is_up_ = true; });
}

SimulatedNetwork::Fate SimulatedNetwork::draw_fate() {
  ++counts.requests;
  Fate fate;
  const auto delay = [&] {
    return from_seconds(random_.chance(weather.slow) ? random_.between(0.5, 6)
                                                     : random_.between(0.0005, 0.02));
  };
  fate.there = delay();
  fate.back = delay();
  fate.lost_before = random_.chance(weather.lost_before);
  fate.lost_after = random_.chance(weather.lost_after);
  fate.silent = random_.chance(weather.silent);
  fate.error_after = random_.chance(weather.error_after);
  fate.survives_its_sender = random_.chance(0.5);
  if (random_.chance(weather.busy)) {
    fate.refused =
        refusal(429, "TooManyRequests", "too many requests", 1 + static_cast<std::int64_t>(random_.below(4)));
  } else if (random_.chance(weather.unavailable)) {
    fate.refused = refusal(503, "ServiceUnavailable", "apiserver is shutting down",
                           static_cast<std::int64_t>(random_.below(3)));
  } else if (random_.chance(weather.error_before)) {
    fate.refused = refusal(500, "InternalError", "etcdserver: no leader");
  }
  return fate;
}

}  // namespace evenkeel::faults

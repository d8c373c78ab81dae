#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "simulated_api_server.h"

namespace evenkeel::faults {

// How often what goes wrong between a process and its server; all 0 is a calm day.
struct Weather {
  // Of each request.
  double lost_before = 0;   // never reached the server
  double lost_after = 0;    // was done, and nobody heard of it
  double silent = 0;        // of the lost: noticed by the time-out alone
  double slow = 0;          // seconds each way instead of milliseconds
  double busy = 0;          // 429 with Retry-After
  double unavailable = 0;   // 503, with and without Retry-After
  double error_before = 0;  // 500, not done
  double error_after = 0;   // 500, done all the same: etcd was slow to say so
  // Of each watch that is opened.
  double expired = 0;  // 410, as an answer or as a frame
  // Of each time a watch has something to tell.
  double late = 0;    // by seconds, and so behind other kinds
  double cut = 0;     // in the middle of a frame
  double stall = 0;   // says nothing more for up to a minute, then ends
  double repeat = 0;  // tells the last frames again

  static Weather drawn(Random& random);
};

class SimulatedConnection;

// Between the processes and their one server.
class SimulatedNetwork {
 public:
  SimulatedNetwork(SimulatedApiServer& server, Random random);
  SimulatedNetwork(const SimulatedNetwork&) = delete;
  SimulatedNetwork& operator=(const SimulatedNetwork&) = delete;

  SimulatedApiServer& server() { return server_; }
  VirtualTime& clock() { return server_.clock(); }
  bool is_up() const { return is_up_; }
  // Every stream ends, nothing answers for a while; what is stored stays.
  void restart(Duration down);

  Weather weather;
  int max_tries = 8;  // of what may be repeated, as a client on the network does

  struct Fate {
    Duration there{}, back{};
    bool lost_before = false, lost_after = false, silent = false, error_after = false;
    bool survives_its_sender = false;
    kubernetes::ApiAnswer refused;  // has a code: instead of being done
  };
  Fate draw_fate();
  Random& random() { return random_; }

  // Every request as it leaves its process.
  std::function<void(SimulatedConnection&, const kubernetes::ApiRequest&)> sent =
      [](SimulatedConnection&, const kubernetes::ApiRequest&) {};
  // Every answer as its process hears it.
  std::function<void(SimulatedConnection&, const kubernetes::ApiRequest&, const kubernetes::ApiAnswer&)>
      answered = [](SimulatedConnection&, const kubernetes::ApiRequest&, const kubernetes::ApiAnswer&) {};
  struct Counts {
    std::uint64_t requests = 0, lost = 0, uncertain = 0, refused = 0, cut = 0, stalled = 0, repeated = 0,
                  expired = 0, late = 0, restarts = 0;
  };
  Counts counts;

 private:
  friend class SimulatedConnection;

  SimulatedApiServer& server_;
  Random random_;
  bool is_up_ = true;
  std::vector<SimulatedConnection*> connections_;  // in the order they were made
};

}  // namespace evenkeel::faults

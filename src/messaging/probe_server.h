#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "messaging/probe_wire.h"
#include "messaging/tls_files.h"
#include "messaging/traffic_budget.h"

namespace evenkeel::messaging {

// The end of a path that answers: TLS 1.3 with a certificate from both sides, in a thread of its own.
//
// Who may measure is known by its certificate alone: signed by the authority, its common name
// `evenkeel:netprobe:<node>`, of a node that is a member. One test at a time, no longer than `test_within`
// and no more bytes than it said beforehand, out of the same budget as our own tests; others are told that we
// are busy. A stranger gets a handshake that fails: few at a time, few of one address, few a second, and
// none that takes longer than `handshake_within`.
class ProbeServer {
 public:
  struct Options {
    std::string address;        // host:port; port 0: any free one
    TlsFiles tls;               // certificates that are not there yet are waited for
    ProbeTurn* turn = nullptr;  // outlive the server
    TrafficBudget* budget = nullptr;
    std::size_t most_connections = 64, most_strangers = 16, most_strangers_of_an_address = 2;
    double handshakes_per_second = 50;
    Duration handshake_within = std::chrono::seconds(5), test_within = std::chrono::seconds(30);
    std::function<void(const std::string&)> say{};  // from its thread
  };
  static Result<std::unique_ptr<ProbeServer>> listen(Options options);

  ~ProbeServer();
  ProbeServer(const ProbeServer&) = delete;
  ProbeServer& operator=(const ProbeServer&) = delete;

  void set_members(std::set<std::string> nodes);  // from any thread

  struct Counts {
    std::uint64_t tests = 0, busy = 0;
    std::uint64_t refused_unauthenticated = 0;    // no certificate, a foreign one, or one that names no probe
    std::uint64_t refused_no_member = 0;          // of a node that this cluster does not have
    std::uint64_t refused_malformed = 0;          // what is no request, or more than was said
    std::uint64_t refused_crowd = 0;              // beyond the limits, before any handshake
    std::uint64_t received = 0, transmitted = 0;  // bytes, as packets
  };
  Counts counts() const;
  std::string address() const;  // with the port that was given

 private:
  struct Service;
  explicit ProbeServer(std::unique_ptr<Service> service);

  std::unique_ptr<Service> service_;
};

}  // namespace evenkeel::messaging

#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cluster/node_report.h"
#include "messaging/tls_files.h"

namespace evenkeel::messaging {

// Where monitors send what their nodes use: TLS 1.3 with a certificate from both sides, in a thread of its
// own that hands values over and never waits for whoever takes them.
//
// A sender is known by its certificate alone: signed by the authority, its common name
// `evenkeel:monitor:<node>`. It may speak of that node and no other. Whoever shows no such certificate,
// speaks of another node or sends what is no report is cut off and counted; the newest connection of a node
// replaces the one before. Reports carry a sequence number: what is old or repeated is dropped and counted,
// and a monitor that was started again begins a new sequence.
class ReportReceiver {
 public:
  struct Options {
    std::string address;            // host:port; port 0: any free one
    TlsFiles tls;                   // ours, and the authority that signs monitors
    std::function<Time()> now;      // what `measured` is told in; called from the receiver's thread
    std::function<void()> arrived;  // from its thread, when the first report since take() is there
    std::size_t most_connections = 10'000, most_waiting = 20'000;
    Duration handshake_within = std::chrono::seconds(10);
    Duration idle_at_most = std::chrono::seconds(90);  // a sender that says nothing for longer is cut off
    std::function<void(const std::string&)> say{};     // from its thread: certificates that cannot be read
  };
  // invalid: the address or the certificates; unavailable: the port cannot be had.
  static Result<std::unique_ptr<ReportReceiver>> listen(Options options);

  ~ReportReceiver();
  ReportReceiver(const ReportReceiver&) = delete;
  ReportReceiver& operator=(const ReportReceiver&) = delete;

  // What came since the last call: of each node the newest report only.
  std::vector<NodeReport> take();

  struct Counts {
    std::uint64_t reports = 0;
    std::uint64_t refused_unauthenticated = 0;  // no certificate, a foreign one, or one that names no monitor
    std::uint64_t refused_wrong_node = 0;
    std::uint64_t refused_malformed = 0;
    std::uint64_t out_of_sequence = 0;
    std::uint64_t connections = 0;  // open now
  };
  Counts counts() const;

  std::string address() const;  // with the port that was given

 private:
  struct Service;
  explicit ReportReceiver(std::unique_ptr<Service> service);

  std::unique_ptr<Service> service_;
};

}  // namespace evenkeel::messaging

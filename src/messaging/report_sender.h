#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "cluster/node_report.h"
#include "messaging/tls_files.h"

namespace evenkeel::messaging {

// Sends a node's reports to a ReportReceiver over one connection, kept. A thread of its own makes it, watches
// it and sends what the kernel did not take at once; as long as all is well that is nothing, and the report
// goes out from send() without waking anybody. What was not sent yet is replaced by the newest report, so
// nothing queues up however long the other side is away. A lost connection is made again after a pause that
// grows and varies, so that a thousand monitors do not come back in step.
class ReportSender {
 public:
  struct Options {
    std::string to;           // host:port
    std::string server_name;  // what the receiver's certificate must be for; empty: the host
    TlsFiles tls;
    std::uint64_t seed = 0;  // spreads the pauses, and makes the stream's id
    Duration first_pause = std::chrono::milliseconds(500), longest_pause = std::chrono::seconds(15);
    Duration patience = std::chrono::seconds(10);   // for a connection to come about, and for bytes to go
    std::function<void(const std::string&)> say{};  // from its thread, when things change
  };
  // invalid: an address nobody can send to. Certificates that are not there yet are waited for.
  static Result<std::unique_ptr<ReportSender>> open(Options options);

  ~ReportSender();  // lets a report that is on its way go, no longer than a moment
  ReportSender(const ReportSender&) = delete;
  ReportSender& operator=(const ReportSender&) = delete;

  // Never waits; from one thread. `taken`: when the sample was, by steady_now(). Keeps its memory.
  void send(const NodeReport& report, Duration taken);

  struct Counts {
    std::uint64_t sent = 0, replaced = 0, connected = 0, failed = 0;
  };
  Counts counts() const;
  bool is_connected() const;

  static Duration steady_now();  // time since the machine started, asleep or awake

 private:
  struct Service;
  explicit ReportSender(std::unique_ptr<Service> service);

  std::unique_ptr<Service> service_;
};

}  // namespace evenkeel::messaging

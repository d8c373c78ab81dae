#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "messaging/report_receiver.h"
#include "messaging/report_wire.h"

namespace evenkeel::messaging {

// How much later than usual a frame came, by two clocks that agree on the length of a second and on nothing
// else: the quickest frame of the connection is the measure. What lay in a queue while the line was cut, or
// in a sender that was stopped, is thereby as old as it is.
class Transit {
 public:
  Duration late_by(Duration sent, Duration received);

 private:
  bool is_known_ = false;
  Duration least_{}, at_{};  // received minus sent, and when that was
};

enum class Refusal { unauthenticated, wrong_node, malformed };

// What arrived and waits to be taken, what was refused, and how far each node's sequence has come. Any
// thread.
class ReportLedger {
 public:
  explicit ReportLedger(std::size_t most_waiting) : most_waiting_(most_waiting) {}

  // Whether it is the first that waits. What is older than what came before is counted and dropped.
  bool enter(ReportFrame frame);
  void refuse(Refusal why);
  void connections(std::size_t open);

  std::vector<NodeReport> take();
  ReportReceiver::Counts counts() const;

 private:
  struct Place {
    std::uint64_t stream = 0, sequence = 0;
  };

  const std::size_t most_waiting_;
  mutable std::mutex mutex_;  // of all below
  std::unordered_map<std::string, Place> reached_;
  std::unordered_map<std::string, std::size_t> waiting_by_node_;
  std::vector<NodeReport> waiting_;
  ReportReceiver::Counts counts_;
};

}  // namespace evenkeel::messaging

#include "messaging/report_ledger.h"

#include <algorithm>
#include <utility>

namespace evenkeel::messaging {
namespace {

// Two quartz clocks part by less than this: without it, a line of a month would look later by the minute.
constexpr double kMostDrift = 200e-6;
// Other nodes' places are forgotten only where somebody with thousands of certificates fills the table.
constexpr std::size_t kPlacesPerWaiting = 4;

}  // namespace

Duration Transit::late_by(Duration sent, Duration received) {
  const Duration took = received - sent;
  if (is_known_) least_ += from_seconds(kMostDrift * to_seconds(received - at_));
  if (!is_known_ || took < least_) least_ = took;
  is_known_ = true;
  at_ = received;
  return took - least_;
}

bool ReportLedger::enter(ReportFrame frame) {
  const std::lock_guard lock(mutex_);
  if (reached_.size() >= kPlacesPerWaiting * most_waiting_ && !reached_.contains(frame.report.node))
    reached_.clear();
  const auto [place, is_first] = reached_.try_emplace(frame.report.node);
  Place& reached = place->second;
  if (!is_first && reached.stream == frame.stream && frame.sequence <= reached.sequence) {
    ++counts_.out_of_sequence;
    return false;
  }
  reached = {.stream = frame.stream, .sequence = frame.sequence};
  ++counts_.reports;
  if (const auto found = waiting_by_node_.find(frame.report.node); found != waiting_by_node_.end()) {
    waiting_[found->second] = std::move(frame.report);
    return false;
  }
  if (waiting_.size() >= most_waiting_) return false;
  waiting_by_node_.emplace(frame.report.node, waiting_.size());
  waiting_.push_back(std::move(frame.report));
  return waiting_.size() == 1;
}

void ReportLedger::refuse(Refusal why) {
  const std::lock_guard lock(mutex_);
  switch (why) {
    case Refusal::unauthenticated:
      ++counts_.refused_unauthenticated;
      break;
    case Refusal::wrong_node:
      ++counts_.refused_wrong_node;
      break;
    case Refusal::malformed:
      ++counts_.refused_malformed;
      break;
  }
}

void ReportLedger::connections(std::size_t open) {
  const std::lock_guard lock(mutex_);
  counts_.connections = open;
}

std::vector<NodeReport> ReportLedger::take() {
  const std::lock_guard lock(mutex_);
  waiting_by_node_.clear();
  return std::exchange(waiting_, {});
}

ReportReceiver::Counts ReportLedger::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace evenkeel::messaging

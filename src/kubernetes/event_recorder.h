#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

#include "kubernetes/api_connection.h"
#include "kubernetes/writes.h"

namespace evenkeel::kubernetes {

// Writes Events for people, as much as there is room for: what does not fit is dropped and counted, and
// nobody ever waits. What happens to one object again and again is one Event with a count.
class EventRecorder {
 public:
  struct Options {
    bool on = true;
    std::size_t most_waiting = 10'000;
    std::size_t most_in_flight = 32;
    std::string host{};  // who reports: reporter-host
    WireFormat bodies = WireFormat::json;
  };
  struct Counts {
    std::uint64_t written = 0, repeated = 0, dropped = 0, refused = 0;
  };

  EventRecorder(ApiConnection& connection, Options options)
      : connection_(connection), options_(std::move(options)) {}

  // Its name and instance are filled in.
  void record(EventRecord event);
  // The same, of what may come again.
  void record_repeating(EventRecord event);

  std::size_t waiting() const { return waiting_.size() + in_flight_; }
  const Counts& counts() const { return counts_; }

 private:
  struct Series {
    EventRecord event;
    std::int32_t count = 1;
    Time last{}, written{};
  };

  void send(ApiRequest request);
  void send_next();
  void name(EventRecord& event);
  void forget_old(Time now);

  ApiConnection& connection_;
  Options options_;
  Counts counts_;
  std::deque<ApiRequest> waiting_;
  std::size_t in_flight_ = 0;
  std::unordered_map<std::size_t, Series> series_;  // by a hash of whom it is about and what it says
  Time forgot_{};
  std::uint64_t number_ = 0;
  // Answers that come after the end find it expired.
  std::shared_ptr<EventRecorder*> alive_ = std::make_shared<EventRecorder*>(this);
};

}  // namespace evenkeel::kubernetes

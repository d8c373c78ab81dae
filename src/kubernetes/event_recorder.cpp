#include "kubernetes/event_recorder.h"

#include <charconv>
#include <utility>

namespace evenkeel::kubernetes {
namespace {

using namespace std::chrono_literals;
constexpr Duration kSeriesEnds = 6min;     // client-go's
constexpr Duration kSeriesWritten = 1min;  // at most this often
constexpr std::size_t kMostSeries = 20'000;
constexpr std::size_t kLongestName = 253 - 17;  // of an object, less a dot and sixteen digits

}  // namespace

// <object>.<nanoseconds in hex>, as client-go names them; ours count on where the clock stands still.
void EventRecorder::name(EventRecord& event) {
  const auto nanoseconds = static_cast<std::uint64_t>(connection_.now().time_since_epoch().count()) * 1000;
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, nanoseconds + number_++ % 1000, 16).ptr;
  event.name = event.about.name.substr(0, kLongestName) + "." + std::string(digits, end);
  event.instance = options_.host.empty() ? event.reporter : event.reporter + "-" + options_.host;
}

void EventRecorder::record(EventRecord event) {
  if (!options_.on) return;
  name(event);
  send(event_request(event, connection_.now(), options_.bodies));
}

void EventRecorder::record_repeating(EventRecord event) {
  if (!options_.on) return;
  const Time now = connection_.now();
  forget_old(now);
  // Another message is another Event: the API lets nobody change one.
  const std::string key = event.about.uid + "\n" + event.reason + "\n" + event.message;
  const auto [at, is_new] = series_.try_emplace(std::hash<std::string>{}(key));
  Series& series = at->second;
  series.last = now;
  if (is_new) {
    name(event);
    series.event = event;
    series.event.message.clear();  // written once, and long
    series.written = now - kSeriesWritten;
    return send(event_request(event, now, options_.bodies));
  }
  ++series.count;
  if (now - series.written < kSeriesWritten) return;
  series.written = now;
  ++counts_.repeated;
  send(event_series_request(series.event, series.count, now));
}

void EventRecorder::forget_old(Time now) {
  if (series_.size() >= kMostSeries) series_.clear();
  if (now - forgot_ < kSeriesEnds / 2) return;
  forgot_ = now;
  std::erase_if(series_, [&](const auto& entry) { return now - entry.second.last > kSeriesEnds; });
}

void EventRecorder::send(ApiRequest request) {
  if (waiting_.size() >= options_.most_waiting) {
    ++counts_.dropped;
    return;
  }
  waiting_.push_back(std::move(request));
  send_next();
}

void EventRecorder::send_next() {
  while (!waiting_.empty() && in_flight_ < options_.most_in_flight) {
    ++in_flight_;
    ApiRequest request = std::move(waiting_.front());
    waiting_.pop_front();
    connection_.call(std::move(request), [self = std::weak_ptr(alive_)](const ApiAnswer& answer) {
      const auto alive = self.lock();
      if (!alive) return;
      EventRecorder& here = **alive;
      --here.in_flight_;
      ++(answer.ok() ? here.counts_.written : here.counts_.refused);
      here.send_next();
    });
  }
}

}  // namespace evenkeel::kubernetes

#include "simulated_connection.h"

#include <algorithm>
#include <utility>

namespace evenkeel::faults {

using kubernetes::ApiAnswer;
using kubernetes::ApiRequest;
using kubernetes::ApiStatus;

struct SimulatedConnection::Call {
  ApiRequest request;
  Done done;
  int tries = 0;
  bool is_settled = false;
  VirtualTime::Id timeout = 0;
};

namespace {

ApiAnswer no_answer(const ApiRequest& request) {
  ApiAnswer answer;
  answer.status.message = "the connection was lost";
  answer.is_uncertain = request.method != "GET";
  return answer;
}

bool is_partial(const ApiRequest& request) {
  const auto parts = parse_request_path(request.path);
  const auto selector = Selector::parse(parts->asked("labelSelector"), parts->asked("fieldSelector"));
  return selector && selector->is_partial();
}

}  // namespace

SimulatedConnection::SimulatedConnection(SimulatedNetwork& network, std::string process)
    : network_(network), process_(std::move(process)), born_(network.clock().now()) {
  network_.connections_.push_back(this);
}

SimulatedConnection::~SimulatedConnection() {
  std::erase(network_.connections_, this);
  *alive_ = false;
}

std::function<void()> SimulatedConnection::ours(std::function<void()> work) {
  return [alive = alive_, work = std::move(work)] {
    if (*alive) work();
  };
}

void SimulatedConnection::deliver(std::function<void()> work) {
  if (is_paused_) return parked_.push_back(std::move(work));
  has_delivered_ = true;
  work();
}

void SimulatedConnection::resume() {
  is_paused_ = false;
  // In later turns of the clock, as every other handler call.
  for (auto& work : std::exchange(parked_, {})) {
    network_.clock().after({}, ours([this, work = std::move(work)] { deliver(work); }));
  }
}

kubernetes::ApiConnection::TimerId SimulatedConnection::call_after(Duration delay,
                                                                   std::function<void()> work) {
  return network_.clock().after(in_truth(delay), ours([this, work = std::move(work)] { deliver(work); }));
}

bool SimulatedConnection::run_for(Duration time, const std::function<bool()>& done) {
  const Time end = network_.clock().now() + in_truth(time);
  do {
    if (done()) return true;
  } while (network_.clock().run_next(end));
  return done();
}

void SimulatedConnection::call(ApiRequest request, Done done) {
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->done = std::move(done);
  attempt(call);
}

void SimulatedConnection::attempt(const std::shared_ptr<Call>& call) {
  const int attempt = ++call->tries;
  call->is_settled = false;
  if (call->request.is_wanted && !call->request.is_wanted()) {
    ApiAnswer answer;
    answer.status.message = "no longer wanted when its turn came";
    network_.clock().after({},
                           ours([this, call, answer] { deliver([call, answer] { call->done(answer); }); }));
    return;
  }
  network_.sent(*this, call->request);
  const SimulatedNetwork::Fate fate = network_.draw_fate();
  VirtualTime& clock = network_.clock();
  call->timeout =
      clock.after(in_truth(call->request.timeout),
                  ours([this, call, attempt] { settle(call, attempt, no_answer(call->request), {}); }));
  if (fate.lost_before || is_cut_off_) {
    ++network_.counts.lost;
    if (fate.silent || is_cut_off_) {
      unanswered_.emplace_back(call, attempt);
      return;
    }
    clock.after(fate.there,
                ours([this, call, attempt] { settle(call, attempt, no_answer(call->request), {}); }));
    return;
  }
  clock.after(fate.there,
              [this, alive = alive_, &network = network_, process = process_, call, attempt, fate] {
                if (*alive) return arrive(call, attempt, fate);
                // On its way when its sender died.
                if (network.is_up() && fate.survives_its_sender && fate.refused.code == 0)
                  network.server().execute(process, call->request);
              });
}

void SimulatedConnection::arrive(const std::shared_ptr<Call>& call, int attempt,
                                 const SimulatedNetwork::Fate& fate) {
  ApiAnswer answer;
  SimulatedApiServer::Listing listing;
  if (!network_.is_up()) {
    answer = no_answer(call->request);
  } else if (fate.refused.code != 0) {
    ++network_.counts.refused;
    answer = fate.refused;
  } else {
    answer = network_.server().execute(process_, call->request);
    const bool is_list =
        answer.ok() && call->request.method == "GET" && parse_request_path(call->request.path)->name.empty();
    // A list of some objects tells nothing about the others.
    if (is_list && !is_partial(call->request)) listing = network_.server().last_listing();
    if (fate.error_after) answer = refusal(500, "InternalError", "etcdserver: request timed out");
    if (fate.lost_after) {
      ++network_.counts.uncertain;
      if (fate.silent) {
        unanswered_.emplace_back(call, attempt);
        return;
      }
      answer = no_answer(call->request);
    }
  }
  network_.clock().after(
      fate.back, ours([this, call, attempt, answer = std::move(answer), listing = std::move(listing)] {
        if (is_cut_off_) {
          unanswered_.emplace_back(call, attempt);
        } else {
          settle(call, attempt, answer, listing);
        }
      }));
}

void SimulatedConnection::settle(const std::shared_ptr<Call>& call, int attempt, ApiAnswer answer,
                                 SimulatedApiServer::Listing listing) {
  if (call->is_settled || call->tries != attempt) return;
  call->is_settled = true;
  network_.clock().cancel(call->timeout);
  const bool was_turned_away =
      call->request.waits_its_turn &&
      (answer.code == 429 || (answer.code == 503 && answer.status.retry_after_seconds > 0));
  const bool may_repeat =
      was_turned_away || (call->request.method == "GET" && (answer.code == 0 || answer.code >= 500));
  if (may_repeat && call->tries < network_.max_tries) {
    const Duration pause =
        std::max<Duration>(std::chrono::seconds(answer.status.retry_after_seconds),
                           from_seconds(std::min(5.0, 0.1 * (1 << std::min(call->tries, 6)))));
    call_after(pause, [this, call] { this->attempt(call); });
    return;
  }
  deliver([this, call, answer = std::move(answer), listing = std::move(listing)] {
    if (answer.ok() && listing.kind) knowledge_.told(listing);
    network_.answered(*this, call->request, answer);
    call->done(answer);
  });
}

kubernetes::ApiConnection::StreamId SimulatedConnection::stream(const ApiRequest& request,
                                                                StreamHandlers handlers) {
  const StreamId id = ++last_stream_;
  Stream& made = streams_[id];
  made.request = request;
  made.handlers = std::move(handlers);
  const SimulatedNetwork::Fate fate = network_.draw_fate();
  network_.clock().after(fate.there + fate.back, ours([this, id, fate] { open(id, fate); }));
  return id;
}

void SimulatedConnection::open(StreamId id, const SimulatedNetwork::Fate& fate) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  Stream& stream = found->second;
  if (!network_.is_up() || is_cut_off_ || fate.lost_before || fate.lost_after)
    return refuse(id, {0, "", "the connection was lost", 0});
  if (fate.refused.code != 0) return refuse(id, fate.refused.status);
  Random& random = network_.random();
  const bool is_expired = random.chance(network_.weather.expired);
  network_.counts.expired += is_expired ? 1 : 0;
  if (is_expired && random.chance(0.5)) return refuse(id, {410, "Expired", "too old resource version", 0});
  auto [watch, status] = network_.server().open_watch(stream.request);
  if (status.code != 0) return refuse(id, status);
  stream.watch = std::move(watch);
  stream.is_partial = is_partial(stream.request);
  stream.is_open = true;
  deliver([this, id] {
    const auto still = streams_.find(id);
    if (still != streams_.end()) still->second.handlers.opened(kubernetes::WireFormat::json);
  });
  if (is_expired) return send(id, {SimulatedApiServer::expired()}, "");
  const std::string seconds = parse_request_path(stream.request.path)->asked("timeoutSeconds");
  if (!seconds.empty())
    network_.clock().after(std::chrono::seconds(std::stoi(seconds)), ours([this, id] { end(id); }));
  network_.clock().after(from_seconds(random.between(5, 40)), ours([this, id] { send_bookmark(id); }));
  wake(id);
}

void SimulatedConnection::refuse(StreamId id, const ApiStatus& status) {
  deliver([this, id, status] {
    auto taken = streams_.extract(id);
    if (!taken.empty()) taken.mapped().handlers.refused(status);
  });
}

void SimulatedConnection::end(StreamId id) {
  deliver([this, id] {
    auto taken = streams_.extract(id);
    if (taken.empty()) return;
    if (taken.mapped().is_open) return taken.mapped().handlers.end();
    taken.mapped().handlers.refused({0, "", "the connection was lost", 0});
  });
}

void SimulatedConnection::end_streams() {
  std::vector<StreamId> all;
  for (const auto& [id, stream] : streams_) all.push_back(id);
  for (const StreamId id : all) network_.clock().after({}, ours([this, id] { end(id); }));
}

void SimulatedConnection::cut_off() {
  is_cut_off_ = true;
  for (auto& [id, stream] : streams_) stream.is_stalled = true;
}

void SimulatedConnection::reconnect() {
  is_cut_off_ = false;
  end_silence();
}

void SimulatedConnection::end_silence() {
  for (const auto& [waiting, attempt] : std::exchange(unanswered_, {})) {
    const std::shared_ptr<Call> call = waiting.lock();
    if (!call) continue;
    network_.clock().after(
        {}, ours([this, call, tried = attempt] { settle(call, tried, no_answer(call->request), {}); }));
  }
  for (const auto& [id, stream] : streams_)
    if (stream.is_stalled) network_.clock().after({}, ours([this, stalled = id] { end(stalled); }));
}

void SimulatedConnection::wake_watches(const Kind& kind) {
  Random& random = network_.random();
  for (auto& [id, stream] : streams_) {
    if (!stream.is_open || stream.is_stalled || stream.wakes || stream.watch.kind != &kind) continue;
    const bool is_late = random.chance(network_.weather.late);
    network_.counts.late += is_late ? 1 : 0;
    stream.wakes = true;
    network_.clock().after(from_seconds(is_late ? random.between(0.2, 8) : random.between(0.0005, 0.02)),
                           ours([this, id = id] { wake(id); }));
  }
}

void SimulatedConnection::catch_up() {
  for (auto& [id, stream] : streams_) {
    if (!stream.is_open || stream.is_stalled) continue;
    if (auto frames = network_.server().news(stream.watch))
      std::ranges::move(*frames, std::back_inserter(stream.waiting));
    stream.watch.seen = network_.server().storage().version();
    const bool must_wake = !stream.waiting.empty() && !stream.wakes;
    if (must_wake) network_.clock().after(std::chrono::milliseconds(1), ours([this, id = id] { wake(id); }));
    stream.wakes = stream.wakes || must_wake;
  }
}

void SimulatedConnection::send_bookmark(StreamId id) {
  const auto found = streams_.find(id);
  if (found == streams_.end() || found->second.is_stalled) return;
  Stream& stream = found->second;
  network_.clock().after(from_seconds(network_.random().between(20, 40)),
                         ours([this, id] { send_bookmark(id); }));
  // It says that everything up to its version was told: not while something waits.
  if (!stream.waiting.empty() || stream.wakes) return;
  send(id, {network_.server().bookmark(stream.watch)}, "");
}

void SimulatedConnection::wake(StreamId id) {
  const auto found = streams_.find(id);
  if (found == streams_.end() || !found->second.is_open || found->second.is_stalled) return;
  Stream& stream = found->second;
  stream.wakes = false;
  auto news = network_.server().news(stream.watch);
  if (!news) return send(id, {SimulatedApiServer::expired()}, "");
  std::ranges::move(*news, std::back_inserter(stream.waiting));
  std::vector<Frame> frames(std::make_move_iterator(stream.waiting.begin()),
                            std::make_move_iterator(stream.waiting.end()));
  stream.waiting.clear();
  if (frames.empty()) return;
  Random& random = network_.random();
  const Weather& weather = network_.weather;
  if (random.chance(weather.stall)) {
    ++network_.counts.stalled;
    stream.is_stalled = true;
    network_.clock().after(from_seconds(random.between(1, 60)), ours([this, id] { end(id); }));
    return;
  }
  if (random.chance(weather.repeat) && !stream.last.empty()) {
    ++network_.counts.repeated;
    frames.insert(frames.begin(), stream.last.begin(), stream.last.end());
  }
  if (random.chance(weather.cut)) {
    ++network_.counts.cut;
    const auto whole = static_cast<std::size_t>(random.below(frames.size()));
    std::string rest = frames[whole].text.substr(0, random.below(frames[whole].text.size() - 1));
    frames.resize(whole);
    stream.is_stalled = true;
    send(id, std::move(frames), std::move(rest));
    return end(id);
  }
  for (const Frame& frame : frames) stream.last.push_back(frame);
  while (stream.last.size() > 3) stream.last.pop_front();
  send(id, std::move(frames), "");
}

void SimulatedConnection::send(StreamId id, std::vector<Frame> frames, std::string rest) {
  std::string bytes;
  for (const Frame& frame : frames) bytes += frame.text;
  bytes += rest;
  // In pieces that care for nothing.
  const std::size_t first =
      bytes.empty() ? 0 : static_cast<std::size_t>(network_.random().below(bytes.size()));
  deliver([this, id, frames = std::move(frames), bytes = std::move(bytes), first] {
    const auto found = streams_.find(id);
    if (found == streams_.end()) return;
    if (!found->second.is_partial)
      for (const Frame& frame : frames) knowledge_.told(*found->second.watch.kind, frame);
    const std::string_view all = bytes;
    for (const std::string_view piece : {all.substr(0, first), all.substr(first)}) {
      const auto still = streams_.find(id);  // its reader may have had enough
      if (still == streams_.end() || piece.empty()) continue;
      // A copy: the handler may cancel the stream it belongs to.
      const auto body = still->second.handlers.body;
      body(piece);
    }
  });
}

}  // namespace evenkeel::faults

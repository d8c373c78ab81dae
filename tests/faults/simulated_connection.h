#pragma once
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kubernetes/api_connection.h"
#include "process_knowledge.h"
#include "simulated_network.h"

namespace evenkeel::faults {

// One process's line to the simulated server, as an ApiClient is one to a real server, with its way of trying
// again: what is only a question is repeated, a write is sent once, 429 is waited out. Destroying it is the
// process's end: what it sent may still be done.
class SimulatedConnection final : public kubernetes::ApiConnection {
 public:
  SimulatedConnection(SimulatedNetwork& network, std::string process);
  ~SimulatedConnection() override;

  Time now() const override { return steady_now() + ahead_; }
  Time steady_now() const override { return born_ + by_its_clock(network_.clock().now() - born_); }
  void call(kubernetes::ApiRequest request, Done done) override;
  StreamId stream(const kubernetes::ApiRequest& request, StreamHandlers handlers) override;
  void cancel(StreamId stream) override { streams_.erase(stream); }
  TimerId call_after(Duration delay, std::function<void()> work) override;
  void cancel_timer(TimerId timer) override { network_.clock().cancel(timer); }
  bool run_for(Duration time, const std::function<bool()>& done) override;

  const std::string& process() const { return process_; }
  const ProcessKnowledge& knowledge() const { return knowledge_; }

  // While paused (stopped by its machine, swapping, …) nothing reaches it; then everything does, in order.
  void pause() { is_paused_ = true; }
  void resume();
  bool is_paused() const { return is_paused_; }

  // While cut off from the server it says nothing that is heard and hears nothing, and nobody tells it so.
  void cut_off();
  void reconnect();
  // Watches that say nothing more end now, and requests that nobody will answer have waited long enough.
  void end_silence();

  // How its clocks run: the steady one, and with it every timer, by this much faster or slower than time
  // does; the one on the wall besides so far ahead, which somebody may set.
  void skew(double rate) { rate_ = rate; }
  void set_ahead(Duration ahead) { ahead_ = ahead; }
  Duration by_its_clock(Duration time) const {
    return rate_ == 1 ? time : from_seconds(to_seconds(time) * rate_);
  }
  Duration in_truth(Duration by_its_clock) const {
    return rate_ == 1 ? by_its_clock : from_seconds(to_seconds(by_its_clock) / rate_);
  }

  // For other lines of the same process (simulated_agents.h). Runs it now, or when the process runs again;
  // not at all once it has ended.
  void deliver(std::function<void()> work);
  // Work that is the process's own and ends with it.
  std::function<void()> ours(std::function<void()> work);
  // Whether anything was delivered since this was last asked.
  bool take_delivered() { return std::exchange(has_delivered_, false); }

  // Of the network.
  void wake_watches(const Kind& kind);
  void catch_up();  // healthy watches take what there is, before history goes
  void end_streams();

 private:
  using Frame = SimulatedApiServer::Frame;
  struct Call;
  struct Stream {
    kubernetes::ApiRequest request;
    StreamHandlers handlers;
    SimulatedApiServer::Watch watch;
    std::deque<Frame> waiting;  // read from history, not yet sent
    std::deque<Frame> last;     // sent, for telling twice
    bool is_open = false, is_stalled = false, wakes = false;
    bool is_partial = false;  // tells of some objects alone
  };

  void attempt(const std::shared_ptr<Call>& call);
  void settle(const std::shared_ptr<Call>& call, int attempt, kubernetes::ApiAnswer answer,
              SimulatedApiServer::Listing listing);
  void arrive(const std::shared_ptr<Call>& call, int attempt, const SimulatedNetwork::Fate& fate);
  void open(StreamId id, const SimulatedNetwork::Fate& fate);
  void refuse(StreamId id, const kubernetes::ApiStatus& status);
  void end(StreamId id);
  void wake(StreamId id);
  void send_bookmark(StreamId id);
  void send(StreamId id, std::vector<Frame> frames, std::string rest);

  SimulatedNetwork& network_;
  std::string process_;
  ProcessKnowledge knowledge_;
  Time born_;
  double rate_ = 1;
  Duration ahead_{};
  bool is_paused_ = false, is_cut_off_ = false, has_delivered_ = false;
  std::deque<std::function<void()>> parked_;
  std::map<StreamId, Stream> streams_;
  std::vector<std::pair<std::weak_ptr<Call>, int>> unanswered_;  // lost without a word, and which try of it
  StreamId last_stream_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace evenkeel::faults

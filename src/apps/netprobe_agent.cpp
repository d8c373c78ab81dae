#include "apps/netprobe_agent.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;

constexpr int kMostTries = 30;  // at a peer that is busy
constexpr Duration kFirstPause = 100ms, kLongestPause = 2s;

}  // namespace

// A thread that makes one test at a time.
struct NetprobeAgent::Worker {
  struct Order {
    Job job;
    messaging::ProbeTarget target;
    messaging::ProbeSize size;
    messaging::TlsFiles tls;
    double taken = 0;  // of the budget
  };
  struct Done {
    Order order;
    messaging::ProbeOutcome outcome;
  };

  Worker() : thread([this] { run(); }) {}
  ~Worker() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    wake.notify_one();
    thread.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      wake.wait(lock, [this] { return stopping || order.has_value(); });
      if (stopping) return;
      Done made{.order = *std::move(order), .outcome = {}};
      order.reset();
      lock.unlock();
      auto context = messaging::TlsContext::read(made.order.tls, messaging::TlsContext::Role::peer);
      if (context)
        made.outcome = messaging::probe_peer(*context, made.order.target, made.order.size, stopping);
      else
        made.outcome.trouble = context.error().message;
      lock.lock();
      done = std::move(made);
    }
  }
  bool is_free() {
    const std::lock_guard lock(mutex);
    return !is_at_work;
  }
  void begin(Order what) {
    {
      const std::lock_guard lock(mutex);
      order = std::move(what);
      is_at_work = true;
    }
    wake.notify_one();
  }
  std::optional<Done> take() {
    const std::lock_guard lock(mutex);
    if (!done) return std::nullopt;
    is_at_work = false;
    return std::exchange(done, std::nullopt);
  }

  std::mutex mutex;
  std::condition_variable wake;
  std::optional<Order> order;
  std::optional<Done> done;
  bool is_at_work = false;
  std::atomic<bool> stopping{false};
  std::thread thread;  // last: it uses all of the above
};

NetprobeAgent::NetprobeAgent(Options options)
    : options_(std::move(options)),
      row_(options_.node),
      random_(options_.seed),
      worker_(std::make_unique<Worker>()) {}

NetprobeAgent::~NetprobeAgent() = default;

void NetprobeAgent::set_nodes(std::vector<ProbeNode> nodes) {
  nodes_ = std::move(nodes);
  has_planned_ = false;
}

bool NetprobeAgent::is_idle() const { return has_planned_ && jobs_.empty() && worker_->is_free(); }

// Ours of this period, but for those that were made already; of the last one whatever is left is given up.
void NetprobeAgent::plan(std::int64_t epoch) {
  if (epoch != epoch_) {
    counts_.missed += jobs_.size();
    done_.clear();
  }
  std::map<std::string, int> tries;
  for (const Job& job : jobs_) tries[job.task.destination] = job.tries;
  epoch_ = epoch;
  has_planned_ = true;
  jobs_.clear();
  const Time begin = monitor::beginning_of(epoch, options_.settings.period);
  for (const monitor::ProbeTask& task : plan_probes(ready_members(nodes_), options_.settings, epoch))
    if (task.origin == options_.node && !done_.contains(task.destination))
      jobs_.push_back({.task = task,
                       .epoch = epoch,
                       .due = hurries_ ? begin : begin + task.start,
                       .tries = tries[task.destination]});
}

void NetprobeAgent::put_off(Job job, Time until) {
  job.due = until;
  const auto place = std::ranges::upper_bound(jobs_, until, {}, [](const Job& one) { return one.due; });
  jobs_.insert(place, std::move(job));
}

void NetprobeAgent::take_outcome(Time now) {
  std::optional<Worker::Done> done = worker_->take();
  if (!done) return;
  options_.turn->give_back();
  const messaging::ProbeOutcome& outcome = done->outcome;
  const auto moved = outcome.traffic.read + outcome.traffic.written;
  options_.budget->settle(done->order.taken, static_cast<double>(moved));
  counts_.received += outcome.traffic.read;
  counts_.transmitted += outcome.traffic.written;
  Job job = std::move(done->order.job);
  const std::string destination = job.task.destination;
  std::string trouble = outcome.trouble;
  if (outcome.is_busy) {
    ++counts_.busy;
    if (++job.tries < kMostTries && job.epoch == epoch_) {
      const Duration pause = std::min(kLongestPause, kFirstPause * job.tries);
      put_off(std::move(job), now + from_seconds(to_seconds(pause) * random_.between(0.5, 1.5)));
      return;
    }
    trouble = "busy each time it was asked";
  }
  ++counts_.tests;
  auto figures = monitor::figures_of(outcome.round_trips_us);
  // What was measured before something went wrong is not a whole test.
  if (trouble.empty() && figures) {
    if (outcome.bits_per_second > 0) figures->bits_per_second = outcome.bits_per_second;
    if (job.task.with_bandwidth) ++counts_.bandwidth_tests;
    row_.measured(destination, *figures, now);
    if (troubles_.erase(destination) > 0) options_.say("measured again: " + destination);
    return;
  }
  ++counts_.failed;
  if (troubles_[destination] != trouble) options_.say("cannot measure " + destination + ": " + trouble);
  troubles_[destination] = trouble;
}

messaging::ProbeSize NetprobeAgent::size_of(const monitor::ProbeTask& task) const {
  messaging::ProbeSize size = options_.size;
  if (!task.with_bandwidth) size.data = 0;
  return size;
}

void NetprobeAgent::start(Time now, Duration steady) {
  if (jobs_.empty() || !worker_->is_free()) return;
  if (jobs_.front().due > now) return;
  Job job = std::move(jobs_.front());
  jobs_.erase(jobs_.begin());
  const auto node = std::ranges::find_if(
      nodes_, [&](const ProbeNode& one) { return one.member.node == job.task.destination; });
  if (node == nodes_.end()) return;
  const messaging::ProbeSize size = size_of(job.task);
  const double bytes = messaging::bytes_of_test(size.trips, size.data);
  if (const Duration wait = options_.budget->wait_for(bytes, steady); wait > Duration::zero())
    return put_off(std::move(job), now + wait);
  if (!options_.turn->take())  // somebody measures the path to us
    return put_off(std::move(job), now + from_seconds(random_.between(0.05, 0.3)));
  if (!options_.budget->take(bytes, steady)) {
    options_.turn->give_back();
    return put_off(std::move(job), now + kFirstPause);
  }
  done_.insert(job.task.destination);
  worker_->begin({.job = std::move(job),
                  .target = {.node = node->member.node, .to = node->to},
                  .size = size,
                  .tls = options_.tls,
                  .taken = bytes});
}

void NetprobeAgent::step(Time now, Duration steady) {
  take_outcome(now);
  const std::int64_t epoch = monitor::epoch_at(now, options_.settings.period);
  if (!has_planned_ || (epoch != epoch_ && !hurries_)) plan(epoch);
  start(now, steady);
}

}  // namespace evenkeel::apps

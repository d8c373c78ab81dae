#include <algorithm>
#include <cmath>
#include <queue>

#include "simulator/service_flow.h"

namespace evenkeel::simulator {
namespace {

// A request on its way: what it still has to do, the next first.
struct Hop {
  double at_s;
  std::uint64_t order;  // of two at the same moment, the one made first
  std::size_t service;
  std::size_t request;
  bool operator>(const Hop& other) const {
    return at_s != other.at_s ? at_s > other.at_s : order > other.order;
  }
};

class ExactFlow final : public ServiceFlow {
 public:
  ExactFlow(double bound_s, const Random& random)
      : bound_s_(bound_s),
        arrivals_(random.fork("arrivals")),
        work_(random.fork("work")),
        choice_(random.fork("choice")) {}

  void step(RunningServices& services, Time now, double seconds, double rate, double work) override {
    const double from = to_seconds(now.time_since_epoch()), to = from + seconds;
    for (std::size_t i = 0; i < services.size(); ++i) {
      const double own = services[i]->entering + (i == 0 ? rate : 0);
      if (own <= 0) continue;
      for (double at = from + arrivals_.exponential(1 / own); at < to; at += arrivals_.exponential(1 / own))
        enter(i, at, kNoParent);
    }
    while (!hops_.empty() && hops_.top().at_s < to) {
      const Hop hop = hops_.top();
      hops_.pop();
      serve(services, now, hop, work);
    }
    for (const auto& service : services) account(*service, from, to);
  }

 private:
  static constexpr std::size_t kNoParent = static_cast<std::size_t>(-1);
  // A call under way, of which its caller waits for the end.
  struct Call {
    double began_s = 0;
    std::size_t service = 0, parent = kNoParent;
    std::vector<std::size_t> ahead;  // services still to call, the last first
    bool failed = false;
  };

  void enter(std::size_t service, double at, std::size_t parent) {
    std::size_t slot = calls_.size();
    if (!free_.empty()) {
      slot = free_.back();
      free_.pop_back();
    } else {
      calls_.emplace_back();
    }
    calls_[slot] = {at, service, parent, {}, false};
    hops_.push({at, order_++, service, slot});
  }

  // A hop is either an arrival or, once its own work is done, the moment to make the next call or return.
  void serve(RunningServices& services, Time now, const Hop& hop, double work) {
    if (hop.service == kReturn) return proceed(services, hop.request, hop.at_s);
    RunningService& service = *services[hop.service];
    const ServicePlan& plan = service.plan;
    service.counters.arrived += 1;
    Replica* pod = choose(service);
    if (pod == nullptr ||
        (plan.queue_limit > 0 && static_cast<double>(pod->exact->held(hop.at_s)) >= plan.queue_limit)) {
      service.counters.refused += 1;
      return fail(services, hop.request, hop.at_s);
    }
    const double speed = service.replicas.speed(*pod, now) * plan.requests_per_s() / work;
    const double done =
        pod->exact->accept(hop.at_s, draw_service_time(plan.times, work_) * plan.concurrency / speed);
    Call& call = calls_[hop.request];
    for (auto next = plan.calls.rbegin(); next != plan.calls.rend(); ++next) {
      const double whole = std::floor(next->per_request);
      const int times = static_cast<int>(whole) + (work_.chance(next->per_request - whole) ? 1 : 0);
      call.ahead.insert(call.ahead.end(), static_cast<std::size_t>(times), next->to);
    }
    pod->requests += 1;
    hops_.push({done, order_++, kReturn, hop.request});
  }

  void proceed(RunningServices& services, std::size_t slot, double at) {
    if (calls_[slot].ahead.empty()) return finish(services, slot, at);
    const std::size_t next = calls_[slot].ahead.back();
    calls_[slot].ahead.pop_back();
    enter(next, at, slot);
  }

  void finish(RunningServices& services, std::size_t slot, double at) {
    const Call call = calls_[slot];
    free_.push_back(slot);
    ServiceCounters& counters = services[call.service]->counters;
    counters.answered += 1;
    counters.responses.add(at - call.began_s);
    if (at - call.began_s > bound_s_) counters.late += 1;
    if (call.parent != kNoParent) hops_.push({at, order_++, kReturn, call.parent});
  }

  // A caller whose call was refused goes on without it.
  void fail(RunningServices& services, std::size_t slot, double at) {
    const std::size_t parent = calls_[slot].parent;
    free_.push_back(slot);
    if (parent != kNoParent) proceed(services, parent, at);
  }

  Replica* choose(RunningService& service) {
    const std::int32_t ready = service.replicas.count(Replica::State::ready);
    if (ready == 0) return nullptr;
    std::uint64_t skip = choice_.below(static_cast<std::uint64_t>(ready));
    for (Replica& replica : service.replicas.all())
      if (replica.state == Replica::State::ready && skip-- == 0) return &replica;
    return nullptr;
  }

  static void account(RunningService& service, double from, double to) {
    const ServicePlan& plan = service.plan;
    double load = 0;
    std::int32_t ready = 0;
    for (Replica& replica : service.replicas.all()) {
      const double held = static_cast<double>(replica.exact->held(from));
      const double busy = replica.exact->busy(from, to) / plan.concurrency;
      double cpu = busy * plan.cpu_limit;
      if (replica.state == Replica::State::starting) cpu += plan.start_up_cpu * (to - from);
      replica.cpu_s += cpu;
      service.counters.cpu_s += cpu;
      service.counters.served += held - static_cast<double>(replica.exact->held(to));
      if (replica.state != Replica::State::ready) continue;
      ++ready;
      load += busy / (to - from);
    }
    service.load = ready > 0 ? load / ready : 0;
  }

  static constexpr std::size_t kReturn = static_cast<std::size_t>(-2);
  double bound_s_;
  Random arrivals_, work_, choice_;
  std::priority_queue<Hop, std::vector<Hop>, std::greater<>> hops_;
  std::vector<Call> calls_;
  std::vector<std::size_t> free_;
  std::uint64_t order_ = 0;
};

}  // namespace

std::unique_ptr<ServiceFlow> make_exact_flow(double bound_s, const Random& random) {
  return std::make_unique<ExactFlow>(bound_s, random);
}

}  // namespace evenkeel::simulator

#include "simulator/service_flow.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::simulator {
namespace {

// How often responses are put into buckets: they change little from one second to the next.
constexpr int kBucketEvery = 5;

// One pod's answers in a step.
struct Answers {
  double requests = 0;
  double load = 0, delay_s = 0, service_s = 0;
};

struct Response {
  double mean = 0, variance = 0;
};

// P(X > x) of a gamma distribution by its moments (Wilson and Hilferty).
double gamma_tail(const Response& response, double x) {
  if (x <= 0) return 1;
  if (response.variance <= 0) return x < response.mean ? 1 : 0;
  const double shape = response.mean * response.mean / response.variance;
  const double normal = (std::cbrt(x / response.mean) - (1 - 1 / (9 * shape))) * std::sqrt(9 * shape);
  return 0.5 * std::erfc(normal / std::sqrt(2.0));
}

class FluidFlow final : public ServiceFlow {
 public:
  explicit FluidFlow(double bound_s) : bound_s_(bound_s) {}

  void step(RunningServices& services, Time now, double seconds, double rate, double work) override {
    rates_.assign(services.size(), 0);
    answers_.resize(services.size());
    own_.resize(services.size());
    if (!rates_.empty()) rates_.front() = rate;
    for (std::size_t i = 0; i < services.size(); ++i) {
      rates_[i] += services[i]->entering;
      const double before = services[i]->counters.served;
      serve(*services[i], answers_[i], now, seconds, rates_[i], work);
      own_[i] = own_response(*services[i], answers_[i]);
      for (const ServicePlan::Call& call : services[i]->plan.calls)
        rates_[call.to] += (services[i]->counters.served - before) / seconds * call.per_request;
    }
    const bool bucket = ++steps_ % kBucketEvery == 0;
    for (std::size_t i = services.size(); i-- > 0;) {
      for (const ServicePlan::Call& call : services[i]->plan.calls) add_call(own_[i], own_[call.to], call);
      judge(*services[i], answers_[i], own_[i], bucket);
    }
  }

 private:
  void serve(RunningService& service, std::vector<Answers>& answers, Time now, double seconds, double rate,
             double work) {
    answers.clear();
    ServiceCounters& counters = service.counters;
    const ServicePlan& plan = service.plan;
    counters.arrived += rate * seconds;
    const std::int32_t ready = service.replicas.count(Replica::State::ready);
    if (ready == 0) counters.refused += rate * seconds;
    double busy = 0;
    for (Replica& replica : service.replicas.all()) {
      const double share = service.replicas.speed(replica, now);
      const double speed = share * plan.requests_per_s() / work;
      double served = 0, cpu = 0;
      if (replica.state == Replica::State::ready) {
        const double own = rate / ready;
        const FluidQueue::Step step =
            replica.fluid.advance(service.table, own, speed, seconds, plan.queue_limit);
        answers.push_back({own * seconds - step.refused, step.load, step.delay_s, plan.concurrency / speed});
        counters.refused += step.refused;
        served = step.served;
        busy += served / (speed * seconds);
      } else if (replica.state == Replica::State::leaving) {
        served = replica.fluid.drain(speed, seconds);
      } else if (replica.state == Replica::State::starting) {
        cpu = plan.start_up_cpu * seconds;
      }
      // Slow because it is cold is busy all the same: CPU is what the limit allows for that time.
      if (speed > 0) cpu += served / speed * plan.cpu_limit;
      counters.served += served;
      counters.cpu_s += cpu;
      replica.cpu_s += cpu;
      replica.requests += served;
    }
    service.load = ready > 0 ? busy / ready : 0;
  }

  static Response own_response(const RunningService& service, const std::vector<Answers>& answers) {
    double requests = 0, sum = 0, squares = 0;
    for (const Answers& pod : answers) {
      const double mean = pod.delay_s + pod.service_s * service.table.response(pod.load);
      const double variance = pod.service_s * pod.service_s * service.table.response_variance(pod.load);
      requests += pod.requests;
      sum += pod.requests * mean;
      squares += pod.requests * (variance + mean * mean);
    }
    if (requests <= 0) return {};
    const double mean = sum / requests;
    return {mean, std::max(0.0, squares / requests - mean * mean)};
  }

  static void add_call(Response& caller, const Response& called, const ServicePlan::Call& call) {
    const double whole = std::floor(call.per_request), rest = call.per_request - whole;
    caller.mean += call.per_request * called.mean;
    caller.variance += call.per_request * called.variance + rest * (1 - rest) * called.mean * called.mean;
  }

  double tail(const RunningService& service, const std::vector<Answers>& answers, const Response& whole,
              double bound_s) const {
    if (!service.plan.calls.empty()) return gamma_tail(whole, bound_s);
    double requests = 0, beyond = 0;
    // Pods mostly do alike: a neighbour's answer serves again.
    const Answers* last = nullptr;
    double last_tail = 0;
    for (const Answers& pod : answers) {
      if (last == nullptr || std::abs(pod.load - last->load) > 1e-4 || pod.delay_s != last->delay_s ||
          pod.service_s != last->service_s) {
        last = &pod;
        last_tail = service.table.tail(pod.load, (bound_s - pod.delay_s) / pod.service_s);
      }
      requests += pod.requests;
      beyond += pod.requests * last_tail;
    }
    return requests > 0 ? beyond / requests : 0;
  }

  void judge(RunningService& service, const std::vector<Answers>& answers, const Response& whole,
             bool bucket) const {
    double requests = 0;
    for (const Answers& pod : answers) requests += pod.requests;
    if (requests <= 0) return;
    service.counters.answered += requests;
    service.counters.late += requests * tail(service, answers, whole, bound_s_);
    if (!bucket) return;
    service.counters.responses.add_distribution(
        requests * kBucketEvery, [&](double bound) { return tail(service, answers, whole, bound); });
  }

  double bound_s_;
  std::vector<double> rates_;
  std::vector<std::vector<Answers>> answers_;
  std::vector<Response> own_;
  int steps_ = 0;
};

}  // namespace

double RunningService::held(Time now) const {
  double sum = 0;
  for (const Replica& replica : replicas.all())
    sum += replica.exact ? static_cast<double>(replica.exact->held(to_seconds(now.time_since_epoch())))
                         : replica.fluid.held();
  return sum;
}

std::unique_ptr<ServiceFlow> make_fluid_flow(double bound_s) { return std::make_unique<FluidFlow>(bound_s); }

}  // namespace evenkeel::simulator

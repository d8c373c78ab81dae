#include "simulator/service_queue.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace evenkeel::simulator {
namespace {

constexpr std::size_t kLoads = 191;  // every half percent up to kMostLoad
constexpr double kLoadStep = QueueTable::kMostLoad / static_cast<double>(kLoads - 1);
constexpr std::size_t kTimes = 160;
const double kFirstTime = std::log(0.02), kLastTime = std::log(400.0);
const double kTimeStep = (kLastTime - kFirstTime) / static_cast<double>(kTimes - 1);
constexpr std::size_t kQuantiles = 128;

// The normal quantile by bisection on erfc: only tables ask, and few times.
double normal_quantile(double p) {
  double low = -8, high = 8;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

struct Between {
  std::size_t left;
  double part;
};
Between between(double position, std::size_t points) {
  const double clamped = std::clamp(position, 0.0, static_cast<double>(points - 1));
  const std::size_t left = std::min(static_cast<std::size_t>(clamped), points - 2);
  return {left, clamped - static_cast<double>(left)};
}

double mixed(const Between& at, double left, double right) { return left + at.part * (right - left); }

}  // namespace

double ServiceTimes::squared_variation() const {
  switch (kind) {
    case Kind::exponential:
      return 1;
    case Kind::log_normal:
      return variation * variation;
    case Kind::fixed:
      return 0;
  }
  return 1;
}

double erlang_c(int servers, double load) {
  const double offered = load * servers;
  double blocked = 1;  // Erlang's B formula, by its recursion
  for (int n = 1; n <= servers; ++n) blocked = offered * blocked / (n + offered * blocked);
  return blocked / (1 - load * (1 - blocked));
}

QueueTable::QueueTable(int servers, ServiceTimes times) : servers_(servers), times_(times) {
  EVENKEEL_CHECK(servers > 0);
  if (times.kind == ServiceTimes::Kind::fixed) service_.assign(1, 1.0);
  if (times.kind == ServiceTimes::Kind::log_normal) {
    const double sigma = std::sqrt(std::log1p(times.variation * times.variation));
    for (std::size_t i = 0; i < kQuantiles; ++i)
      service_.push_back(
          std::exp(sigma * normal_quantile((static_cast<double>(i) + 0.5) / static_cast<double>(kQuantiles)) -
                   sigma * sigma / 2));
  }
  for (std::size_t i = 0; i < kLoads; ++i) {
    const double load = kLoadStep * static_cast<double>(i);
    wait_probability_.push_back(erlang_c(servers, load));
    in_system_.push_back(load * servers * response(load));
    for (std::size_t j = 0; j < kTimes; ++j)
      tails_.push_back(
          static_cast<float>(exact_tail(load, std::exp(kFirstTime + kTimeStep * static_cast<double>(j)))));
  }
}

double QueueTable::response(double load) const {
  const double most = std::min(load, kMostLoad);
  return 1 + erlang_c(servers_, most) * (1 + times_.squared_variation()) / 2 / (servers_ * (1 - most));
}

double QueueTable::response_variance(double load) const {
  const double most = std::min(load, kMostLoad);
  const double waits = erlang_c(servers_, most);
  const double wait = (1 + times_.squared_variation()) / 2 / (servers_ * (1 - most));
  return times_.squared_variation() + waits * wait * wait * (2 - waits);
}

double QueueTable::exact_tail(double load, double response) const {
  const double waits = erlang_c(servers_, load);
  const double wait = (1 + times_.squared_variation()) / 2 / (servers_ * (1 - load));
  if (times_.kind == ServiceTimes::Kind::exponential) {
    const double end = 1 / wait;  // rate at which a wait ends; a service ends at rate 1
    const double both = std::abs(end - 1) < 1e-9
                            ? (1 + response) * std::exp(-response)
                            : (end * std::exp(-response) - std::exp(-end * response)) / (end - 1);
    return (1 - waits) * std::exp(-response) + waits * both;
  }
  double tail = 0;
  for (const double service : service_)
    tail += service > response ? 1 : waits * std::exp(-(response - service) / wait);
  return tail / static_cast<double>(service_.size());
}

double QueueTable::in_system(double load) const {
  const Between at = between(load / kLoadStep, kLoads);
  return mixed(at, in_system_[at.left], in_system_[at.left + 1]);
}

double QueueTable::load_of(double in_system) const {
  const auto above = std::upper_bound(in_system_.begin(), in_system_.end(), in_system);
  if (above == in_system_.begin()) return 0;
  if (above == in_system_.end()) return kMostLoad;
  const auto left = static_cast<std::size_t>(above - in_system_.begin()) - 1;
  const double part = (in_system - in_system_[left]) / (in_system_[left + 1] - in_system_[left]);
  return kLoadStep * (static_cast<double>(left) + part);
}

double QueueTable::tail(double load, double response) const {
  if (response <= 0) return 1;
  const Between row = between(load / kLoadStep, kLoads);
  const Between column = between((std::log(response) - kFirstTime) / kTimeStep, kTimes);
  const float* lower = &tails_[row.left * kTimes + column.left];
  const float* upper = lower + kTimes;
  return mixed(row, mixed(column, static_cast<double>(lower[0]), static_cast<double>(lower[1])),
               mixed(column, static_cast<double>(upper[0]), static_cast<double>(upper[1])));
}

FluidQueue::Step FluidQueue::advance(const QueueTable& table, double rate, double speed, double seconds,
                                     double limit) {
  const double steady = std::min(rate, QueueTable::kMostLoad * speed);
  const double aim = table.in_system(steady / speed);
  const double before = queue_, waiting = backlog_;
  const double load_before = table.load_of(before);
  // The queue's outflow is the load that would hold it in equilibrium; along the secant to the aim this is an
  // exponential approach, stable however long the step.
  const double gap = aim - before;
  const double slope =
      std::abs(gap) > 1e-9 ? (steady / speed - load_before) / gap : 1 / static_cast<double>(1 + aim);
  queue_ = aim - gap * std::exp(-std::max(slope, 0.0) * speed * seconds);
  double served = std::max(0.0, steady * seconds - (queue_ - before));
  backlog_ += (rate - steady) * seconds;
  const double worked_off = std::clamp(speed * seconds - served, 0.0, backlog_);
  backlog_ -= worked_off;
  served += worked_off;
  Step step;
  if (limit > 0 && held() > limit) {
    step.refused = std::min(backlog_, held() - limit);
    backlog_ -= step.refused;
  }
  step.served = served;
  step.load = table.load_of((before + queue_) / 2);
  step.delay_s = (waiting + backlog_) / 2 / speed;
  return step;
}

double FluidQueue::drain(double speed, double seconds) {
  const double served = std::min(held(), speed * seconds);
  const double from_backlog = std::min(backlog_, served);
  backlog_ -= from_backlog;
  queue_ -= served - from_backlog;
  return served;
}

}  // namespace evenkeel::simulator

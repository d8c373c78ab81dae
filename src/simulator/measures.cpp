#include "simulator/measures.h"

#include <algorithm>
#include <cmath>

namespace evenkeel::simulator {
namespace {

constexpr double kOverload = 0.8;
constexpr int kResumEvery = 4096;  // rounding of the running sums stays far below what is printed

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  const std::size_t at = rank == 0 ? 0 : rank - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

}  // namespace

void Measures::resum() {
  sum_ = {};
  squares_ = {};
  cpu_wanted_ = cpu_given_ = 0;
  for (const NodeMeasure& node : nodes_) {
    if (!node.present) continue;
    for (std::size_t d = 0; d < kDimensions; ++d) {
      sum_[d] += node.utilization[d];
      squares_[d] += node.utilization[d] * node.utilization[d];
    }
    cpu_wanted_ += node.cpu_wanted;
    cpu_given_ += node.cpu_given;
  }
  changes_ = 0;
}

void Measures::set_present(std::size_t node, bool present) {
  NodeMeasure& measure = nodes_[node];
  if (measure.present == present) return;
  measure.present = present;
  present_ += present ? 1 : -1;
  if (!present) {
    overloaded_ -= measure.overloaded ? 1 : 0;
    measure.overloaded = false;
    measure.utilization = {};
    measure.cpu_wanted = measure.cpu_given = 0;
  }
  resum();
}

void Measures::set_node(std::size_t node, const std::array<double, kDimensions>& utilization,
                        double cpu_wanted, double cpu_given) {
  NodeMeasure& measure = nodes_[node];
  bool overloaded = false;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    sum_[d] += utilization[d] - measure.utilization[d];
    squares_[d] += utilization[d] * utilization[d] - measure.utilization[d] * measure.utilization[d];
    overloaded = overloaded || utilization[d] > kOverload;
  }
  cpu_wanted_ += cpu_wanted - measure.cpu_wanted;
  cpu_given_ += cpu_given - measure.cpu_given;
  overloaded_ += static_cast<double>(overloaded) - static_cast<double>(measure.overloaded);
  measure.utilization = utilization;
  measure.cpu_wanted = cpu_wanted;
  measure.cpu_given = cpu_given;
  measure.overloaded = overloaded;
  if (++changes_ >= kResumEvery) resum();
}

std::array<double, kDimensions> Measures::variance() const {
  std::array<double, kDimensions> result{};
  if (present_ == 0) return result;
  for (std::size_t d = 0; d < kDimensions; ++d) {
    const double mean = sum_[d] / present_;
    result[d] = std::max(0.0, squares_[d] / present_ - mean * mean);
  }
  return result;
}

double Measures::imbalance_now() const {
  double total = 0;
  for (const double v : variance()) total += std::sqrt(v);
  return total / kDimensions;
}

double Measures::utilization_now() const {
  double total = 0;
  for (const double s : sum_) total += s;
  return present_ > 0 ? total / (present_ * kDimensions) : 0;
}

double Measures::unserved_now() const {
  return cpu_wanted_ > 0 ? std::max(0.0, 1 - cpu_given_ / cpu_wanted_) : 0;
}

void Measures::advance(Time now) {
  if (now <= last_) return;
  const Time from = std::max(last_, from_), to = std::min(now, to_);
  if (keep_series_) {
    const auto v = variance();
    SeriesPoint point{to_seconds(last_.time_since_epoch()),
                      imbalance_now(),
                      utilization_now(),
                      {std::sqrt(v[0]), std::sqrt(v[1])},
                      {}};
    for (const NodeMeasure& node : nodes_) {
      auto& row = point.nodes.emplace_back();
      for (std::size_t d = 0; d < kDimensions; ++d) row[d] = static_cast<float>(node.utilization[d]);
    }
    series_.push_back(std::move(point));
  }
  last_ = now;
  if (to <= from) return;
  const double dt = to_seconds(to - from);
  time_s_ += dt;
  imbalance_s_ += imbalance_now() * dt;
  utilization_s_ += utilization_now() * dt;
  overload_s_ += overloaded_ * dt;
  node_s_ += present_ * dt;
  wanted_core_s_ += cpu_wanted_ * dt;
  given_core_s_ += cpu_given_ * dt;
  for (NodeMeasure& node : nodes_) {
    if (!node.present) continue;
    node.present_s += dt;
    for (std::size_t d = 0; d < kDimensions; ++d) node.integral[d] += node.utilization[d] * dt;
  }
}

Measures::Summary Measures::summarise() const {
  Summary s;
  if (time_s_ > 0) {
    s.utilization = utilization_s_ / time_s_;
    s.imbalance = imbalance_s_ / time_s_;
    s.overload_node_minutes = overload_s_ / 60;
    s.overload_share = node_s_ > 0 ? overload_s_ / node_s_ : 0;
    s.unserved_cpu = wanted_core_s_ > 0 ? std::max(0.0, 1 - given_core_s_ / wanted_core_s_) : 0;
  }
  for (std::size_t d = 0; d < kDimensions; ++d) {
    double sum = 0, squares = 0, n = 0;
    for (const NodeMeasure& node : nodes_) {
      if (node.present_s <= 0) continue;
      const double mean = node.integral[d] / node.present_s;
      sum += mean;
      squares += mean * mean;
      n += 1;
    }
    if (n == 0) continue;
    s.by_dimension[d] = sum / n;
    s.imbalance_of_means += std::sqrt(std::max(0.0, squares / n - sum / n * (sum / n))) / kDimensions;
  }

  std::vector<double> slowdown, response, finished;
  double first = 1e300, last = 0;
  for (const PodOutcome& pod : outcomes_) {
    response.push_back(pod.finished_s - pod.arrived_s);
    if (pod.ideal_s > 0) slowdown.push_back(response.back() / pod.ideal_s);
    finished.push_back(pod.finished_s);
    first = std::min(first, pod.arrived_s);
    last = std::max(last, pod.finished_s);
  }
  s.finished = outcomes_.size();
  if (outcomes_.empty()) return s;
  s.makespan_s = last - first;
  for (const double r : response) s.response_mean_s += r / static_cast<double>(response.size());
  s.response_p95_s = quantile(response, 0.95);
  s.slowdown_p95 = quantile(slowdown, 0.95);

  // PPO-LRT samples ten times "during the testing period": here the time until 95 % are done.
  if (series_.empty()) return s;
  const double period = quantile(finished, 0.95);
  for (int q = 0; q < 10; ++q) {
    const double at = first + (period - first) * (q + 0.5) / 10;
    const auto after = std::upper_bound(series_.begin(), series_.end(), at,
                                        [](double t, const SeriesPoint& point) { return t < point.at_s; });
    const SeriesPoint& point = after == series_.begin() ? series_.front() : *(after - 1);
    s.sigma_cpu += point.deviation[0] * 10;
    s.sigma_memory += point.deviation[1] * 10;
  }
  return s;
}

}  // namespace evenkeel::simulator

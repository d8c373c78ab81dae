#include "optimum/utilization_field.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace evenkeel::optimum {
namespace {

constexpr std::size_t kLanes = UtilizationField::kLanes;

struct Rows {
  const float *from, *to, *from_unit, *to_unit;
  const float *sums, *squares, *deviations;
  const float* demand;
  std::size_t stride;
};

// What moving a demand from one node to another does, slot by slot. Lanes are summed apart and in the order
// of time: the same result whatever the width of the machine's vectors.
[[gnu::target_clones("arch=x86-64-v3", "default")]]
double difference_over(const FieldSlot* slots, std::size_t n, const Rows& r) {
  float total[kLanes] = {};
  for (std::size_t s = 0; s < n; ++s) {
    const float over_count = slots[s].over_count, imbalance = slots[s].imbalance,
                overload = slots[s].overload;
    const float* x = r.demand + s * r.stride;
    for (std::size_t d = 0; d < kLanes; ++d) {
      const std::size_t k = s * kLanes + d;
      const float a = r.from[k], a2 = a - x[d] * r.from_unit[d];
      const float b = r.to[k], b2 = b + x[d] * r.to_unit[d];
      const float ca = a < 1 ? a : 1.0F, ca2 = a2 < 1 ? a2 : 1.0F;
      const float cb = b < 1 ? b : 1.0F, cb2 = b2 < 1 ? b2 : 1.0F;
      const float mean = (r.sums[k] + ((ca2 - ca) + (cb2 - cb))) * over_count;
      const float squares = (r.squares[k] + ((ca2 * ca2 - ca * ca) + (cb2 * cb2 - cb * cb))) * over_count;
      const float variance = squares - mean * mean;
      const float spread = std::sqrt(variance > 0 ? variance : 0.0F) - r.deviations[k];
      const float excess = ((a2 - ca2) - (a - ca)) + ((b2 - cb2) - (b - cb));
      total[d] += imbalance * spread + overload * excess;
    }
  }
  double sum = 0;
  for (const float lane : total) sum += static_cast<double>(lane);
  return sum;
}

std::vector<double> middles_of(std::span<const double> cuts) {
  std::vector<double> middles;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) middles.push_back((cuts[i] + cuts[i + 1]) / 2);
  return middles;
}

bool is_away(const PlanNode& node, double at_s) {
  return std::any_of(node.away.begin(), node.away.end(),
                     [&](const auto& gap) { return gap.first <= at_s && at_s < gap.second; });
}

}  // namespace

std::vector<double> time_cuts(const PlanProblem& problem, std::size_t most_slots) {
  std::vector<double> cuts;
  double last = problem.from_s;
  const auto cut = [&](double at_s) {
    if (at_s == kForever) return;
    last = std::max(last, at_s);
    if (problem.from_s < at_s && at_s < problem.to_s) cuts.push_back(at_s);
  };
  std::size_t steps = 0;
  for (const PlanPod& pod : problem.pods) {
    steps = std::max(steps, pod.series.size());
    cut(pod.start_s);
    cut(pod.end_s);
    double at_s = pod.start_s;
    for (const PlanPhase& phase : pod.phases) cut(at_s = std::min(at_s + phase.seconds, pod.end_s));
  }
  for (const PlanNode& node : problem.nodes)
    for (const auto& [from, to] : node.away) cut(from), cut(to);
  for (std::size_t i = 0; i <= steps; ++i) cut(static_cast<double>(i) * problem.step_s);
  cuts.push_back(problem.from_s);
  cuts.push_back(problem.to_s < kForever ? problem.to_s : last + 1);  // + 1: never empty
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  if (cuts.size() <= most_slots + 1) return cuts;
  std::vector<double> even;
  for (std::size_t i = 0; i <= most_slots; ++i)
    even.push_back(cuts.front() +
                   (cuts.back() - cuts.front()) * static_cast<double>(i) / static_cast<double>(most_slots));
  return even;
}

UtilizationField::UtilizationField(const PlanProblem& problem, const FieldWeights& weights,
                                   std::size_t most_slots)
    : problem_(problem) {
  const std::vector<double> cuts = time_cuts(problem, most_slots);
  const std::vector<double> middles = middles_of(cuts);
  weigh_slots(cuts, weights);
  sample_nodes(middles);
  sample_pods(middles);
  pair_.resize(slots_.size() * kLanes);
  loads_ = idle_;
  resum();
}

void UtilizationField::weigh_slots(std::span<const double> cuts, const FieldWeights& weights) {
  for (std::size_t s = 0; s + 1 < cuts.size(); ++s) {
    const double share = (cuts[s + 1] - cuts[s]) / (cuts.back() - cuts.front());
    const auto present = static_cast<double>(
        std::count_if(problem_.nodes.begin(), problem_.nodes.end(),
                      [&](const PlanNode& node) { return !is_away(node, (cuts[s] + cuts[s + 1]) / 2); }));
    const double over_count = present > 0 ? 1 / present : 0;
    slots_.push_back({static_cast<float>(over_count),
                      static_cast<float>(weights.imbalance * share / kDimensions),
                      static_cast<float>(weights.overload * share * over_count)});
  }
}

void UtilizationField::sample_nodes(std::span<const double> middles) {
  for (const PlanNode& node : problem_.nodes) {
    std::array<float, kLanes> unit{}, base{};
    for (std::size_t d = 0; d < kDimensions; ++d) {
      if (node.capacity.of[d] <= 0) continue;
      unit[d] = static_cast<float>(1 / node.capacity.of[d]);
      base[d] = static_cast<float>(node.base.of[d] / node.capacity.of[d]);
    }
    per_unit_.insert(per_unit_.end(), unit.begin(), unit.end());
    for (const double at_s : middles) {
      const std::array<float, kLanes> here = is_away(node, at_s) ? std::array<float, kLanes>{} : base;
      idle_.insert(idle_.end(), here.begin(), here.end());
    }
  }
  per_unit_.resize(per_unit_.size() + kLanes);
  idle_.resize(idle_.size() + middles.size() * kLanes);
}

void UtilizationField::sample_pods(std::span<const double> middles) {
  const auto slot_at = [&](double at_s) {
    return static_cast<std::size_t>(std::lower_bound(middles.begin(), middles.end(), at_s) - middles.begin());
  };
  for (const PlanPod& pod : problem_.pods) {
    Span span{slot_at(pod.start_s), slot_at(pod.end_s), demands_.size(), 0};
    const bool constant = pod.series.empty() && pod.phases.size() <= 1;
    if (!constant) span.stride = kLanes;
    const std::size_t samples = constant ? 1 : span.last - span.first;
    demands_.resize(demands_.size() + samples * kLanes);
    for (std::size_t i = 0; i < samples; ++i) {
      const double at_s = constant ? pod.start_s : middles[span.first + i];
      const Usage& demand = pod.demand_at(at_s, problem_.step_s);
      for (std::size_t d = 0; d < kDimensions; ++d)
        demands_[span.demand + i * kLanes + d] = static_cast<float>(demand.of[d]);
    }
    spans_.push_back(span);
  }
}

UtilizationField::Shift UtilizationField::shift_of(const Change& change) {
  const Span one = spans_[change.pod];
  if (change.other == kNobody)
    return {one.first, one.last, &demands_[one.demand], one.stride, change.from, change.to};
  const Span two = spans_[change.other];
  const std::size_t first = std::min(one.first, two.first), last = std::max(one.last, two.last);
  std::fill(pair_.begin(), pair_.begin() + static_cast<std::ptrdiff_t>((last - first) * kLanes), 0.0F);
  const auto add = [&](const Span& span, float sign) {
    for (std::size_t s = span.first; s < span.last; ++s) {
      const float* demand = &demands_[span.demand + (s - span.first) * span.stride];
      float* sum = &pair_[(s - first) * kLanes];
      for (std::size_t d = 0; d < kLanes; ++d) sum[d] += sign * demand[d];
    }
  };
  add(one, 1);
  add(two, -1);
  return {first, last, pair_.data(), kLanes, change.from, change.to};
}

double UtilizationField::difference(const Change& change) {
  const Shift shift = shift_of(change);
  if (shift.first >= shift.last) return 0;
  const std::size_t at = shift.first * kLanes;
  return difference_over(&slots_[shift.first], shift.last - shift.first,
                         {load(shift.from) + at, load(shift.to) + at, &per_unit_[shift.from * kLanes],
                          &per_unit_[shift.to * kLanes], &sums_[at], &squares_[at], &deviations_[at],
                          shift.demand, shift.stride});
}

void UtilizationField::make(const Change& change) {
  const Shift shift = shift_of(change);
  for (std::size_t s = shift.first; s < shift.last; ++s)
    for (std::size_t d = 0; d < kLanes; ++d) {
      const std::size_t k = s * kLanes + d;
      const float x = shift.demand[(s - shift.first) * shift.stride + d];
      float& a = load(shift.from)[k];
      float& b = load(shift.to)[k];
      const float ca = std::min(a, 1.0F), cb = std::min(b, 1.0F);
      a -= x * per_unit_[shift.from * kLanes + d];
      b += x * per_unit_[shift.to * kLanes + d];
      const float ca2 = std::min(a, 1.0F), cb2 = std::min(b, 1.0F);
      sums_[k] += (ca2 - ca) + (cb2 - cb);
      squares_[k] += (ca2 * ca2 - ca * ca) + (cb2 * cb2 - cb * cb);
    }
  find_deviations(shift.first, shift.last);
}

void UtilizationField::find_deviations(std::size_t first, std::size_t last) {
  for (std::size_t s = first; s < last; ++s)
    for (std::size_t k = s * kLanes; k < (s + 1) * kLanes; ++k) {
      const float mean = sums_[k] * slots_[s].over_count;
      deviations_[k] = std::sqrt(std::max(0.0F, squares_[k] * slots_[s].over_count - mean * mean));
    }
}

void UtilizationField::refresh(const Assignment& assignment) {
  loads_ = idle_;
  for (std::size_t pod = 0; pod < assignment.size(); ++pod) {
    if (assignment[pod] == kNowhere) continue;
    const Span& span = spans_[pod];
    const float* unit = &per_unit_[assignment[pod] * kLanes];
    for (std::size_t s = span.first; s < span.last; ++s)
      for (std::size_t d = 0; d < kLanes; ++d)
        load(assignment[pod])[s * kLanes + d] +=
            demands_[span.demand + (s - span.first) * span.stride + d] * unit[d];
  }
  resum();
}

void UtilizationField::resum() {
  const std::size_t row = slots_.size() * kLanes;
  sums_.assign(row, 0);
  squares_.assign(row, 0);
  deviations_.assign(row, 0);
  for (std::size_t node = 0; node < problem_.nodes.size(); ++node)
    for (std::size_t k = 0; k < row; ++k) {
      const float u = std::min(load(node)[k], 1.0F);
      sums_[k] += u;
      squares_[k] += u * u;
    }
  find_deviations(0, slots_.size());
}

double UtilizationField::value() const {
  double total = 0;
  for (std::size_t s = 0; s < slots_.size(); ++s)
    for (std::size_t d = 0; d < kDimensions; ++d) {
      const std::size_t k = s * kLanes + d;
      total += static_cast<double>(slots_[s].imbalance * deviations_[k]);
      for (std::size_t node = 0; node < problem_.nodes.size(); ++node)
        total += static_cast<double>(slots_[s].overload) *
                 std::max(0.0, static_cast<double>(loads_[(node * slots_.size() + s) * kLanes + d]) - 1);
    }
  return total;
}

}  // namespace evenkeel::optimum

#include "autoscaling/replica_calculator.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace evenkeel::autoscaling {
namespace {

using Source = MetricTarget::Source;
using Phase = ReplicaReport::Phase;

constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();

// Upstream counts in thousandths, rounded up. What is an exact thousandth but for the binary fraction stays
// one.
std::int64_t thousandths(double amount) {
  const double scaled = amount * 1000;
  const double nearest = std::round(scaled);
  const double exact =
      std::abs(scaled - nearest) <= 1e-9 * std::max(1.0, std::abs(scaled)) ? nearest : std::ceil(scaled);
  return static_cast<std::int64_t>(std::min(exact, 9e15));
}

std::int32_t whole_replicas(double replicas) {
  const double up = std::ceil(replicas);
  return up >= kMost ? kMost : static_cast<std::int32_t>(up);  // NaN is the target's fault, and refused there
}

struct Tolerances {
  double down, up;
  bool hold(double ratio) const { return 1.0 - down <= ratio && ratio <= 1.0 + up; }
};

Tolerances tolerances_of(const ScalerSpec& spec, const CalculatorOptions& options) {
  if (!spec.behaviour) return {options.tolerance, options.tolerance};
  return {spec.behaviour->down.tolerance.value_or(options.tolerance),
          spec.behaviour->up.tolerance.value_or(options.tolerance)};
}

// The question about one metric.
struct Inquiry {
  const MetricTarget& metric;
  std::size_t index;
  const ServiceReport& report;
  std::int32_t wanted;
  Time now;
  Tolerances tolerances;
  const CalculatorOptions& options;
};

const ReplicaReport::Sample* sample_of(const ReplicaReport& replica, std::size_t index) {
  if (index >= replica.samples.size() || !replica.samples[index]) return nullptr;
  return &*replica.samples[index];
}

double request_of(const ReplicaReport& replica, std::size_t index) {
  if (index < replica.requests.size()) return replica.requests[index];
  const auto* sample = sample_of(replica, index);
  return sample ? sample->request : -1;  // not said
}

enum class Group { ignored, unready, missing, counted };

// CPU used while a pod starts says nothing of its load.
bool starts(const ReplicaReport& replica, const ReplicaReport::Sample& sample, const Inquiry& ask) {
  if (!replica.ready_changed || !replica.started) return true;
  if (*replica.started + ask.options.cpu_initialisation > ask.now)
    return !replica.ready || sample.measured < *replica.ready_changed + sample.window;
  return !replica.ready && *replica.started + ask.options.initial_readiness > *replica.ready_changed;
}

Group group_of(const ReplicaReport& replica, const Inquiry& ask) {
  if (replica.leaves || replica.phase == Phase::failed) return Group::ignored;
  if (replica.phase == Phase::pending) return Group::unready;
  const auto* sample = sample_of(replica, ask.index);
  if (!sample) return Group::missing;
  const bool resource =
      ask.metric.source == Source::resource || ask.metric.source == Source::container_resource;
  if (resource && ask.metric.name == "cpu" && starts(replica, *sample, ask)) return Group::unready;
  return Group::counted;
}

// A metric of the pods, summed by what each of them counts for.
struct Tally {
  std::int64_t counted = 0, unready = 0, missing = 0;  // pods
  std::int64_t value = 0, request = 0;                 // of the counted
  std::int64_t unready_request = 0, missing_request = 0;
  std::int64_t missing_full = 0;  // were the missing to use what they request
};

// A request that nobody tells is its siblings': they are of one template.
double known_request(const Inquiry& ask) {
  for (const ReplicaReport& replica : ask.report.replicas)
    if (const double request = request_of(replica, ask.index); request >= 0) return request;
  return 0;
}

std::int64_t tallied_request(const ReplicaReport& replica, const Inquiry& ask, double of_siblings) {
  const double request = request_of(replica, ask.index);
  return thousandths(request < 0 ? of_siblings : request);
}

Tally tally(const Inquiry& ask, std::int64_t full_percent) {
  Tally sum;
  const double of_siblings = known_request(ask);
  for (const ReplicaReport& replica : ask.report.replicas) {
    const std::int64_t request = tallied_request(replica, ask, of_siblings);
    switch (group_of(replica, ask)) {
      case Group::ignored:
        break;
      case Group::unready:
        ++sum.unready;
        sum.unready_request += request;
        break;
      case Group::missing:
        ++sum.missing;
        sum.missing_request += request;
        sum.missing_full += request * full_percent / 100;
        break;
      case Group::counted:
        ++sum.counted;
        sum.value += thousandths(sample_of(replica, ask.index)->value);
        sum.request += request;
        break;
    }
  }
  return sum;
}

ReplicaProposal failed(std::string problem) { return {std::nullopt, {}, std::move(problem)}; }

std::string percent_text(double percent) { return std::to_string(std::llround(percent)) + " %"; }

std::string amount_text(std::int64_t thousandths_of) {
  const double amount = static_cast<double>(thousandths_of) / 1000;
  if (amount >= 100) return std::to_string(std::llround(amount));
  std::string text = std::to_string(amount);
  return text.substr(0, text.find('.') + 4);
}

// The first ratio, and what the pods that were not counted would make of it.
struct Ratios {
  double first = 0;
  double (*of)(const Tally&, double target) = nullptr;
  double target = 0;
};

// Whole percents, as upstream counts.
double utilisation_ratio(const Tally& sum, double target) {
  constexpr std::int64_t kExact = std::numeric_limits<std::int64_t>::max() / 100;
  const double percent =
      sum.value < kExact
          ? static_cast<double>(sum.value * 100 / sum.request)
          : std::floor(static_cast<double>(sum.value) / static_cast<double>(sum.request) * 100);
  return percent / target;
}

double average_ratio(const Tally& sum, double target) {
  const std::int64_t average = sum.value / sum.counted;
  return static_cast<double>(average) / target;
}

// The rest of the rule once the first ratio is known: who was not counted is given the benefit of the doubt,
// and the answer never turns round because of it.
std::int32_t settle(const Inquiry& ask, Tally sum, const Ratios& ratios, std::int64_t assumed_of_missing) {
  const double first = ratios.first;
  const bool up_with_unready = sum.unready > 0 && first > 1.0;
  if (!up_with_unready && sum.missing == 0)
    return ask.tolerances.hold(first) ? ask.wanted : whole_replicas(first * static_cast<double>(sum.counted));

  if (sum.missing > 0 && first != 1.0) {
    if (first < 1.0) sum.value += assumed_of_missing;
    sum.counted += sum.missing;
    sum.request += sum.missing_request;
  }
  if (up_with_unready) {
    sum.counted += sum.unready;
    sum.request += sum.unready_request;
  }
  const double second = ratios.of(sum, ratios.target);
  if (ask.tolerances.hold(second) || (first < 1.0 && second > 1.0) || (first > 1.0 && second < 1.0))
    return ask.wanted;
  const std::int32_t proposed = whole_replicas(second * static_cast<double>(sum.counted));
  const bool turned = (second < 1.0 && proposed > ask.wanted) || (second > 1.0 && proposed < ask.wanted);
  return turned ? ask.wanted : proposed;
}

bool lacks_request(const Inquiry& ask) {
  const double of_siblings = known_request(ask);
  return std::any_of(
      ask.report.replicas.begin(), ask.report.replicas.end(),
      [&](const ReplicaReport& replica) { return tallied_request(replica, ask, of_siblings) <= 0; });
}

ReplicaProposal by_utilisation(const Inquiry& ask) {
  const auto target = static_cast<std::int32_t>(std::llround(ask.metric.target * 100));
  const Tally sum = tally(ask, std::max(100, target));
  if (sum.counted == 0) return failed("no " + ask.metric.name + " is known of any ready pod");
  if (lacks_request(ask)) return failed("a pod requests no " + ask.metric.name);
  const Ratios ratios{utilisation_ratio(sum, target), utilisation_ratio, static_cast<double>(target)};
  return {settle(ask, sum, ratios, sum.missing_full),
          ask.metric.name + " at " + percent_text(ratios.first * target) + " of " + percent_text(target)};
}

ReplicaProposal by_average(const Inquiry& ask) {
  const std::int64_t target = thousandths(ask.metric.target);
  const Tally sum = tally(ask, 100);
  if (sum.counted == 0) return failed("no " + ask.metric.name + " is known of any ready pod");
  const Ratios ratios{average_ratio(sum, static_cast<double>(target)), average_ratio,
                      static_cast<double>(target)};
  return {settle(ask, sum, ratios, target * sum.missing), ask.metric.name + " at " +
                                                              amount_text(sum.value / sum.counted) + " of " +
                                                              amount_text(target) + " a pod"};
}

// An amount of the whole, kept at a value: in proportion to the pods that are ready.
ReplicaProposal by_value(const Inquiry& ask, std::int64_t usage) {
  const std::int64_t target = thousandths(ask.metric.target);
  const double ratio = static_cast<double>(usage) / static_cast<double>(target);
  const std::string text = ask.metric.name + " at " + amount_text(usage) + " of " + amount_text(target);
  if (ask.wanted == 0) return {whole_replicas(ratio), text};
  if (ask.tolerances.hold(ratio)) return {ask.wanted, text};
  if (ask.report.replicas.empty()) return failed("no pods");
  const auto ready =
      std::count_if(ask.report.replicas.begin(), ask.report.replicas.end(),
                    [](const auto& replica) { return replica.phase == Phase::running && replica.ready; });
  return {whole_replicas(ratio * static_cast<double>(ready)), text};
}

// The same, kept at so much for each replica.
ReplicaProposal by_share(const Inquiry& ask, std::int64_t usage) {
  const std::int64_t target = thousandths(ask.metric.target);
  const std::int32_t there = ask.report.there;
  const double ratio = static_cast<double>(usage) / (static_cast<double>(target) * there);
  const std::string text = ask.metric.name + " at " + amount_text(usage) + " for " + std::to_string(there) +
                           " x " + amount_text(target);
  if (ask.tolerances.hold(ratio)) return {there, text};
  return {whole_replicas(static_cast<double>(usage) / static_cast<double>(target)), text};
}

}  // namespace

std::size_t metric_count(const ScalerSpec& spec) { return std::max<std::size_t>(spec.metrics.size(), 1); }

const MetricTarget& metric_of(const ScalerSpec& spec, std::size_t metric) {
  static const MetricTarget kCpu;
  return spec.metrics.empty() ? kCpu : spec.metrics[metric];
}

ReplicaProposal propose_by_metric(const ScalerSpec& spec, std::size_t metric, const ServiceReport& report,
                                  std::int32_t wanted, Time now, const CalculatorOptions& options) {
  const Inquiry ask{metric_of(spec, metric),      metric, report, wanted, now,
                    tolerances_of(spec, options), options};
  if (!(ask.metric.target > 0)) return failed("the target of " + ask.metric.name + " is not above zero");
  if (ask.metric.source == Source::object || ask.metric.source == Source::external) {
    if (metric >= report.amounts.size() || !report.amounts[metric])
      return failed(ask.metric.name + " is not known");
    const std::int64_t usage = thousandths(report.amounts[metric]->value);
    return ask.metric.kind == MetricTarget::Kind::value ? by_value(ask, usage) : by_share(ask, usage);
  }
  if (report.replicas.empty()) return failed("no pods");
  return ask.metric.kind == MetricTarget::Kind::utilisation ? by_utilisation(ask) : by_average(ask);
}

ReplicaProposal propose_replicas(const ScalerSpec& spec, const ServiceReport& report, std::int32_t wanted,
                                 Time now, const CalculatorOptions& options) {
  ReplicaProposal most;
  std::string first_problem;
  std::size_t invalid = 0;
  const std::size_t metrics = metric_count(spec);
  for (std::size_t metric = 0; metric < metrics; ++metric) {
    ReplicaProposal proposal = propose_by_metric(spec, metric, report, wanted, now, options);
    if (!proposal.replicas) {
      if (invalid++ == 0) first_problem = std::move(proposal.problem);
    } else if (!most.replicas || *most.replicas == 0 || *proposal.replicas > *most.replicas) {
      most = std::move(proposal);
    }
  }
  if (invalid == 0) return most;
  const std::string problem = metrics == 1 ? first_problem
                                           : std::to_string(invalid) + " of " + std::to_string(metrics) +
                                                 " metrics cannot be told: " + first_problem;
  if (invalid == metrics) return failed(problem);
  if (*most.replicas < wanted) return failed(problem + "; not scaled down while that is so");
  most.problem = problem;
  return most;
}

}  // namespace evenkeel::autoscaling

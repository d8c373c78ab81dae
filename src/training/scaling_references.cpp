#include "training/scaling_references.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numbers.h"
#include "simulator/service_queue.h"

namespace evenkeel::training {
namespace {

using simulator::QueueTable;
using simulator::ServicePlan;
using simulator::ServiceWorldPlan;

// The highest load of a pod at which its responses keep the level, when a request costs `work`.
double highest_load(const QueueTable& table, const ServicePlan& service, const ServiceLevel& level,
                    double work) {
  const double bound = to_seconds(level.bound) * service.requests_per_s() / service.concurrency / work;
  double low = 0, high = QueueTable::kMostLoad;
  if (table.tail(high, bound) <= 1 - level.percentile) return high;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (table.tail(middle, bound) <= 1 - level.percentile ? low : high) = middle;
  }
  return std::max(low, 0.01);
}

// What every interval needs: to keep the level, and not to pile up a backlog.
struct Needs {
  std::vector<std::int32_t> level, flow;
};

Needs needs_of(const ServiceWorldPlan& plan) {
  const ServicePlan& service = plan.services.front();
  const Duration slot = service.scaler.interval;
  const QueueTable table(service.concurrency, service.times);
  std::map<long, double> loads;  // by the work of a request, in hundredths
  const auto load_at = [&](double work) {
    const long hundredths = std::max(1L, std::lround(100 * work));
    const auto [entry, fresh] = loads.try_emplace(hundredths);
    if (fresh)
      entry->second = highest_load(table, service, plan.level, static_cast<double>(hundredths) / 100);
    return entry->second;
  };
  const auto bounded = [&](double replicas) {
    return static_cast<std::int32_t>(std::clamp(std::ceil(replicas - 1e-9),
                                                static_cast<double>(service.scaler.min_replicas),
                                                static_cast<double>(service.scaler.max_replicas)));
  };
  Needs needs;
  for (Duration at{}; at < plan.length; at += slot) {
    double most = 0, kept = 0;  // pods' worth of work; pods that keep the level
    for (Duration within{}; within < slot && at + within < plan.length; within += plan.step) {
      const Duration middle = at + within + plan.step / 2;
      const double work = plan.rates->work_at(middle);
      const double pods = plan.rates->at(middle) * work / service.requests_per_s();
      most = std::max(most, pods);
      kept = std::max(kept, pods / load_at(work));
    }
    needs.level.push_back(bounded(kept));
    needs.flow.push_back(bounded(most / QueueTable::kMostLoad));
  }
  return needs;
}

struct Programme {
  std::vector<std::int32_t> ready;
  double violated = 0;  // share of intervals
};

// Fewest replica-seconds with `price` on every violated interval: forwards over intervals, by how many are
// ready. More of them cost their start-up; fewer cost nothing.
Programme solve(const Needs& needs, const ServicePlan& service, double price) {
  const std::int32_t low = service.scaler.min_replicas, high = service.scaler.max_replicas;
  const std::size_t levels = static_cast<std::size_t>(high - low) + 1;
  const double slot = to_seconds(service.scaler.interval);
  const double start = to_seconds(service.start_up + service.warm_up);
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<double> cost(levels, 0), next(levels);
  std::vector<std::uint16_t> from(needs.level.size() * levels);
  for (std::size_t k = 0; k < needs.level.size(); ++k) {
    std::uint16_t* const back = &from[k * levels];
    double best = kNever;  // from as many or more
    for (std::size_t r = levels; r-- > 0;) {
      if (cost[r] < best) {
        best = cost[r];
        back[r] = static_cast<std::uint16_t>(r);
      } else {
        back[r] = back[r + 1];
      }
      next[r] = best;
    }
    double rise = kNever;  // from fewer, without what the new level itself costs
    std::uint16_t risen = 0;
    for (std::size_t r = 0; r < levels; ++r) {
      if (const double raised = rise + start * static_cast<double>(r); raised < next[r]) {
        next[r] = raised;
        back[r] = risen;
      }
      if (const double base = cost[r] - start * static_cast<double>(r); base < rise) {
        rise = base;
        risen = static_cast<std::uint16_t>(r);
      }
      const auto replicas = low + static_cast<std::int32_t>(r);
      next[r] += replicas < needs.flow[k] ? kNever : slot * replicas;
      if (replicas < needs.level[k]) next[r] += price * slot;
    }
    cost.swap(next);
  }
  Programme programme;
  programme.ready.resize(needs.level.size());
  auto r = static_cast<std::size_t>(std::min_element(cost.begin(), cost.end()) - cost.begin());
  for (std::size_t k = needs.level.size(); k-- > 0;) {
    programme.ready[k] = low + static_cast<std::int32_t>(r);
    if (programme.ready[k] < needs.level[k]) programme.violated += 1;
    r = from[k * levels + r];
  }
  programme.violated /= static_cast<double>(std::max<std::size_t>(1, needs.level.size()));
  return programme;
}

class Clairvoyant final : public autoscaling::ScalingPolicy {
 public:
  Clairvoyant(std::vector<std::int32_t> ordered, Duration slot) : ordered_(std::move(ordered)), slot_(slot) {}

  autoscaling::Recommendation recommend(const autoscaling::ScalingRequest& request, Random&) override {
    const auto at = static_cast<std::size_t>(request.now.time_since_epoch() / slot_);
    const std::int32_t replicas = ordered_[std::min(at, ordered_.size() - 1)];
    return {replicas, {{"policy", replicas, "planned with every rate to come known"}}, {}};
  }

 private:
  std::vector<std::int32_t> ordered_;
  Duration slot_;
};

}  // namespace

std::vector<std::int32_t> plan_replicas(const ServiceWorldPlan& plan, double level) {
  const Needs needs = needs_of(plan);
  const ServicePlan& service = plan.services.front();
  constexpr double kDear = 1e9;
  Programme best = solve(needs, service, kDear);
  if (level <= 0) return best.ready;
  double low = 0, high = 1e4;  // the dearer, the fewer violations
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    Programme tried = solve(needs, service, middle);
    const bool kept = tried.violated <= level;
    (kept ? high : low) = middle;
    if (kept) best = std::move(tried);
  }
  return best.ready;
}

Result<std::unique_ptr<autoscaling::ScalingPolicy>> make_clairvoyant_scaling(
    const ServiceWorldPlan& plan, const std::map<std::string, std::string>& arguments) {
  if (plan.services.size() != 1) return invalid("clairvoyant plans for one service, not for several");
  double level = 0;
  for (const auto& [name, value] : arguments) {
    const std::optional<double> share = parse_number(value);
    if (name != "level" || !share || *share < 0 || *share > 1)
      return invalid("clairvoyant has one argument, level, a share of time such as 0.01");
    level = *share;
  }
  const ServicePlan& service = plan.services.front();
  const Duration slot = service.scaler.interval;
  std::vector<std::int32_t> ready = plan_replicas(plan, level);
  // Ordered so early that they are ready and warm when they are needed.
  const auto ahead =
      static_cast<std::size_t>((service.start_up + service.warm_up + slot - Duration{1}) / slot);
  std::vector<std::int32_t> ordered(ready.size());
  for (std::size_t k = 0; k < ready.size(); ++k)
    ordered[k] =
        *std::max_element(ready.begin() + static_cast<std::ptrdiff_t>(k),
                          ready.begin() + static_cast<std::ptrdiff_t>(std::min(ready.size(), k + ahead + 1)));
  return std::unique_ptr<autoscaling::ScalingPolicy>(std::make_unique<Clairvoyant>(std::move(ordered), slot));
}

}  // namespace evenkeel::training

#include "training/experiment.h"

namespace evenkeel::training {
namespace {

using namespace std::chrono_literals;
using scheduling::KubeVersion;
using scheduling::QueueOrder;
using scheduling::SchedulingOptions;

SchedulingOptions read_options(YamlReader& root) {
  SchedulingOptions options;
  options.kube = root.choice<KubeVersion>("scheduler.balanced_allocation",
                                          {{"1.23", KubeVersion::v1_23}, {"1.36", KubeVersion::v1_36}})
                     .or_else(KubeVersion::v1_36);
  options.order = root.choice<QueueOrder>("scheduler.order", {{"arrival", QueueOrder::arrival},
                                                              {"shortest-first", QueueOrder::shortest_first}})
                      .or_else(QueueOrder::arrival);
  options.horizon = root.duration("scheduler.horizon").more_than(0us).or_else(options.horizon);
  options.stale_after = root.duration("scheduler.stale_after").more_than(0us).or_else(options.stale_after);
  options.longest_wait = root.duration("scheduler.longest_wait").more_than(0us).or_else(options.longest_wait);
  options.by_use.on = root.boolean("scheduler.by_use.on").or_else(false);
  options.by_use.risk = root.number("scheduler.by_use.risk").between(0, 10).or_else(options.by_use.risk);
  options.by_use.ceiling =
      root.number("scheduler.by_use.ceiling").between(0.1, 2).or_else(options.by_use.ceiling);
  options.hold_back.spare = root.integer<int>("scheduler.hold_back.spare").between(0, 100).or_else(1);
  options.hold_back.memory_ceiling = root.number("scheduler.hold_back.memory_ceiling")
                                         .between(0.1, 1)
                                         .or_else(options.hold_back.memory_ceiling);
  options.moves.per_hour = root.number("moves.per_hour").at_least(0).or_else(0);
  options.moves.per_day = root.number("moves.per_day").at_least(0).or_else(0);
  options.moves.every = root.duration("moves.every").more_than(0us).or_else(options.moves.every);
  options.moves.cool_down = root.duration("moves.cool_down").at_least(0us).or_else(options.moves.cool_down);
  options.moves.foresight = root.duration("moves.foresight").more_than(0us).or_else(options.moves.foresight);
  options.moves.least_gain = root.number("moves.least_gain").at_least(0).or_else(options.moves.least_gain);
  return options;
}

}  // namespace

Result<Experiment> read_experiment(YamlFile file, std::span<const std::string> overrides) {
  for (const std::string& assignment : overrides) {
    const Status set = file.set(assignment);
    if (!set) return set.error();
  }
  YamlReader root(file);
  Experiment experiment{simulator::read_scenario(root), read_options(root)};
  experiment.optimum_limit =
      root.duration("optimum.time_limit").more_than(0us).or_else(experiment.optimum_limit);
  if (const auto bad = root.finish()) return *bad;
  return experiment;
}

}  // namespace evenkeel::training

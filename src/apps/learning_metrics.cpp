#include "apps/learning_metrics.h"

#include <algorithm>
#include <cmath>

#include "scheduling/policies/online_learning.h"

namespace evenkeel::apps {

using scheduling::LearningFigure;

LearningMetrics::LearningMetrics(reporting::MetricsRegistry& registry) {
  const auto counter = [&](std::string_view figure, const char* name, const char* help) {
    counters_.push_back({figure, "", &registry.counters({name, help, {"profile"}})});
  };
  const auto gauge = [&](std::string_view figure, const char* name, const char* help) {
    gauges_.push_back({figure, "", &registry.gauges({name, help, {"profile"}})});
  };
  counter("decisions", "evenkeel_learning_decisions_total",
          "Decisions that a learning policy looks back on, its own and the rule's; of ppo-lrt, its steps.");
  counter("explored", "evenkeel_learning_explorations_total", "Decisions that were trials.");
  counter("lessons", "evenkeel_learning_lessons_total", "Rewarded decisions that were learnt from.");
  counter("updates", "evenkeel_learning_updates_total",
          "Updates of the weights, those of the checkpoint that was taken up included.");
  counter("refused", "evenkeel_learning_refused_total",
          "Lessons that were no numbers, or for a network that is gone.");
  counter("rolled_back", "evenkeel_learning_rolled_back_total",
          "Updates that came out as no numbers, and were undone.");
  counter("restarts", "evenkeel_learning_restarts_total",
          "Networks begun anew because the cluster has another number of nodes.");
  counter("checkpoints", "evenkeel_learning_checkpoints_total", "Checkpoints that were written.");
  counter("checkpoint_failures", "evenkeel_learning_checkpoint_failures_total",
          "Checkpoints that could not be written.");

  auto& rewards = registry.counters({"evenkeel_learning_rewards_total",
                                     "Decisions whose reward is known, by who decided.",
                                     {"profile", "decider"}});
  counters_.push_back({"rewards", "learned", &rewards});
  counters_.push_back({"rule_rewards", "rule", &rewards});
  counters_.push_back({"explored_rewards", "trial", &rewards});

  auto& dropped = registry.counters({"evenkeel_learning_dropped_total",
                                     "Decisions that teach nothing, by why: no fresh sample, the pod gone, "
                                     "too many waiting, other nodes, taken unmeasured, no number; or lessons "
                                     "that a full queue had no room for.",
                                     {"profile", "reason"}});
  constexpr std::string_view kPrefix = "dropped_";
  for (const std::string_view name : scheduling::kLostNames)
    counters_.push_back({name, name.substr(kPrefix.size()), &dropped});
  counters_.push_back({"queue_dropped", "queue_full", &dropped});

  gauge("waiting", "evenkeel_learning_waiting", "Decisions whose reward is still to come.");
  gauge("loss", "evenkeel_learning_loss", "A running mean of the last fifty or so updates.");
  gauge("epsilon", "evenkeel_learning_exploration_share", "Of decisions, that may be trials.");
  gauge("decides", "evenkeel_learning_decides",
        "1 while the weights have learnt enough for their opinion to count.");
  gauge("weights_age_s", "evenkeel_learning_weights_age_seconds", "Since weights were published last.");
  auto& reward = registry.gauges({"evenkeel_learning_reward",
                                  "A running mean of the last fifty or so rewards, by who decided.",
                                  {"profile", "decider"}});
  gauges_.push_back({"reward", "learned", &reward});
  gauges_.push_back({"rule_reward", "rule", &reward});
}

void LearningMetrics::serves(std::span<const LiveProfile> profiles) {
  for (const LiveProfile& profile : profiles)
    if (profile.policy) watched_.push_back({profile.scheduler_name, profile.policy});
  refresh();
}

void LearningMetrics::refresh() {
  for (const Watched& watched : watched_) refresh(watched);
}

void LearningMetrics::refresh(const Watched& watched) {
  const std::vector<LearningFigure> figures = watched.policy->learning();
  const auto find = [&](std::string_view name) -> const LearningFigure* {
    const auto found = std::find_if(figures.begin(), figures.end(),
                                    [&](const LearningFigure& figure) { return figure.name == name; });
    return found == figures.end() || !std::isfinite(found->value) ? nullptr : &*found;
  };
  const auto series = [&](const auto& shown) -> auto& {
    return shown.label.empty() ? shown.family->with({watched.profile})
                               : shown.family->with({watched.profile, shown.label});
  };
  for (const auto& shown : counters_)
    if (const LearningFigure* figure = find(shown.figure))
      series(shown).raise_to(static_cast<std::uint64_t>(std::max(0.0, figure->value)));
  for (const auto& shown : gauges_)
    if (const LearningFigure* figure = find(shown.figure)) series(shown).set(figure->value);
}

}  // namespace evenkeel::apps

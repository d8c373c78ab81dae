#include "apps/live_stage.h"

#include <algorithm>
#include <utility>

#include "apps/models.h"

namespace evenkeel::apps {
namespace {

using namespace std::chrono_literals;
using scheduling::Guarded;
using scheduling::StageSettings;

constexpr const char* kRule = "horizon";
constexpr Duration kLongestWait = 10s;  // for the first word about the stage
constexpr Duration kEventEvery = 30s;   // about one guard

std::string_view base_name(std::string_view policy) { return policy.substr(0, policy.find('+')); }

bool is_guarded(std::string_view policy) {
  return base_name(policy) == "evenkeel" || scheduling::is_learned(policy);
}

bool has_our_plugin(const kubernetes::SchedulerProfile& profile) {
  return std::any_of(profile.score.begin(), profile.score.end(),
                     [](const auto& plugin) { return plugin.name == "Evenkeel"; });
}

void set_live_options(const kubernetes::EvenkeelArguments& arguments,
                      scheduling::SchedulingOptions& options) {
  options.stale_after = arguments.guard.stale_after;
  scheduling::MoveBudget& moves = options.moves;
  const kubernetes::MoveArguments& asked = arguments.moves;
  if (asked.per_hour > 0) moves.per_hour = asked.per_hour;  // else what the policy's +moves says
  moves.per_day = asked.per_day;
  moves.cool_down = asked.cool_down;
  moves.dry_run = asked.dry_run;
  moves.rules.on = true;
  moves.rules.spared_namespaces = asked.spared_namespaces;
  moves.rules.spared_priority = asked.spared_priority;
  moves.rules.single_replicas = asked.single_replicas;
  moves.rules.local_storage = asked.local_storage;
}

// The rule with the learned policy's switches, but for the one that only a learner understands.
std::string rule_for(const std::string& policy) {
  std::string rule = kRule;
  for (std::size_t at = policy.find('+'); at != std::string::npos;) {
    const std::size_t next = policy.find('+', at + 1);
    const std::string part = policy.substr(at, next - at);
    if (part != "+frozen") rule += part;
    at = next;
  }
  return rule;
}

Result<scheduling::PolicySetup> set_up_learned(const kubernetes::SchedulerConfiguration& configuration,
                                               const kubernetes::SchedulerProfile& profile,
                                               scheduling::PolicyModels models, LiveLearning* learning) {
  if (!profile.evenkeel.model.empty()) {
    Result<learning::Model> model = load_model(profile.evenkeel.model);
    if (!model) return model.error();
    models[std::string(base_name(profile.evenkeel.policy))] =
        std::make_shared<const learning::Model>(*std::move(model));
  }
  return set_up_profile(configuration, profile, models, learning);
}

bool is_known(std::string_view policy) {
  const auto names = scheduling::policy_names();
  return std::find(names.begin(), names.end(), base_name(policy)) != names.end();
}

StageSettings settings_of(const kubernetes::StageEntry& entry) {
  return {scheduling::stage_named(entry.stage).value_or(scheduling::Stage::shadow), entry.share,
          entry.namespaces};
}

}  // namespace

Guarded* guard_of(scheduling::PlacementPolicy& policy) { return dynamic_cast<Guarded*>(&policy); }

Result<scheduling::PolicySetup> set_up_live_profile(const kubernetes::SchedulerConfiguration& configuration,
                                                    const kubernetes::SchedulerProfile& profile,
                                                    const scheduling::PolicyModels& models,
                                                    LiveLearning* learning) {
  const std::string& policy = profile.evenkeel.policy;
  if (!has_our_plugin(profile) || !is_guarded(policy) || !is_known(policy)) {
    Result<scheduling::PolicySetup> setup = set_up_profile(configuration, profile, models, learning);
    if (setup) set_live_options(profile.evenkeel, setup->options);
    return setup;
  }
  kubernetes::SchedulerProfile with_rule = profile;
  with_rule.evenkeel.policy = rule_for(policy);
  with_rule.evenkeel.learning.online = false;
  Result<scheduling::PolicySetup> rule = set_up_profile(configuration, with_rule, models);
  if (!rule) return rule;
  Result<scheduling::PolicySetup> learned = set_up_learned(configuration, profile, models, learning);
  // A policy that is to learn and cannot is a mistake in the configuration; a model that is missing may come.
  if (!learned && profile.evenkeel.learning.online) return learned;
  Guarded::Parts parts{policy, with_rule.evenkeel.policy, nullptr, std::move(rule->policy), ""};
  scheduling::PolicySetup setup{profile.scheduler_name, nullptr, rule->options};
  if (learned) {
    setup.options = learned->options;
    parts.learned = std::move(learned->policy);
  } else {
    parts.why_missing = learned.error().message;
  }
  set_live_options(profile.evenkeel, setup.options);
  setup.policy = std::make_unique<Guarded>(std::move(parts));
  return setup;
}

LiveStage::LiveStage(kubernetes::ApiConnection& connection, Options options, Log log,
                     std::function<void()> heard)
    : options_(std::move(options)),
      log_(std::move(log)),
      heard_(std::move(heard)),
      told_(options_.profiles.size()),
      last_said_(options_.profiles.size()),
      begun_(connection.now()) {
  for (const Profile& profile : options_.profiles) profile.guard->set_stage(profile.configured);
  if (options_.profiles.empty()) return;
  watch_ = std::make_unique<kubernetes::StageWatch>(
      connection, options_.name_space, [this](const auto& seen) { apply(seen); }, log_);
}

void LiveStage::start() {
  if (watch_) watch_->start();
}

bool LiveStage::ready(Time now) const { return !watch_ || has_heard_ || now - begun_ >= kLongestWait; }

void LiveStage::apply(const kubernetes::StageWatch::Seen& seen) {
  const std::string map = options_.name_space + "/" + kubernetes::kStageConfigMap;
  for (std::size_t i = 0; i < options_.profiles.size(); ++i) {
    const Profile& profile = options_.profiles[i];
    const auto record = seen.records.find(profile.name);
    std::string unknown;
    StageSettings settings = profile.configured;
    if (!seen.exists && was_there_) unknown = "ConfigMap " + map + " is gone";
    if (!seen.trouble.empty()) unknown = seen.trouble;
    if (record != seen.records.end()) {
      if (record->second)
        settings = settings_of(record->second->current);
      else
        unknown = record->second.error().message;
    }
    std::string says = profile.name + ": stage ";
    if (unknown.empty()) {
      profile.guard->set_stage(settings);
      says += describe(settings) + (record == seen.records.end() ? ", as configured" : ", by " + map);
    } else {
      profile.guard->set_stage(std::nullopt, unknown);
      says += "unknown, " + profile.guard->rule_name() + " decides: " + unknown;
    }
    if (std::exchange(last_said_[i], says) != says) log_(says);
  }
  was_there_ = was_there_ || seen.exists;
  has_heard_ = true;
  heard_();
}

void LiveStage::announce(kubernetes::KubernetesWorld& world, const Profile& profile) const {
  const scheduling::GuardState& state = profile.guard->state();
  kubernetes::EventRecord event;
  event.kind = "Lease";
  event.api_version = "coordination.k8s.io/v1";
  event.about = {options_.name_space, options_.lease, ""};
  event.is_warning = !state.healthy;
  event.reason = state.healthy ? "PolicyRestored" : "PolicyFallback";
  event.action = "Guarding";
  event.reporter = profile.name;
  event.message = state.healthy
                      ? profile.guard->learned_name() + " decides again"
                      : profile.guard->rule_name() + " decides instead of " + profile.guard->learned_name() +
                            ": " + std::string(name_of(state.reason)) + ": " + state.why;
  log_(profile.name + ": " + event.message);
  world.announce(std::move(event));
}

// What changes back and forth is told as it is in the end.
void LiveStage::tell(kubernetes::KubernetesWorld& world, Time now) {
  for (std::size_t i = 0; i < options_.profiles.size(); ++i) {
    const scheduling::GuardState& state = options_.profiles[i].guard->state();
    Told& told = told_[i];
    if (state.falls == told.falls && state.returns == told.returns) continue;
    if (told.last != Time::min() && now - told.last < kEventEvery) continue;
    told.falls = state.falls;
    told.returns = state.returns;
    if (std::exchange(told.healthy, state.healthy) == state.healthy) continue;
    told.last = now;
    announce(world, options_.profiles[i]);
  }
}

}  // namespace evenkeel::apps

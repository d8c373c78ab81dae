#include "scheduling/policies/registry.h"

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "scheduling/policies/blended_scores.h"
#include "scheduling/policies/drs.h"
#include "scheduling/policies/drs_means.h"
#include "scheduling/policies/evenkeel.h"
#include "scheduling/policies/horizon.h"
#include "scheduling/policies/least_imbalance.h"
#include "scheduling/policies/marl.h"
#include "scheduling/policies/network.h"
#include "scheduling/policies/opt_in_order.h"
#include "scheduling/policies/ppo_lrt.h"
#include "scheduling/policies/simple.h"
#include "scheduling/policies/task_topology.h"
#include "scheduling/policies/tasks.h"
#include "scheduling/policies/weighted_scores.h"

namespace evenkeel::scheduling {
namespace {

// A refused model is an error that says why; rules look at none.
struct Making {
  std::string_view name;
  const learning::Model* model;  // none: rules need none, and what learns starts from nothing
  const SchedulingOptions& options;
};
using Make = Result<std::unique_ptr<PlacementPolicy>> (*)(const Making& making);
using Adjust = void (*)(SchedulingOptions&);
struct Entry {
  std::string_view name;
  Make make;
  Adjust adjust;
  bool learned = false;  // by training or while it places; rules are not
};
constexpr bool kLearned = true;

using Made = Result<std::unique_ptr<PlacementPolicy>>;

template <class Policy, auto... kArguments>
Made make(const Making&) {
  return Made(std::make_unique<Policy>(kArguments...));
}

Made make_binpack(const Making&) {
  return Made(std::make_unique<WeightedScores>(std::vector<Scorer>{
      {"MostAllocated", 1, [](const PlacementRequest&) { return true; }, most_allocated}}));
}

Made make_drs(const Making& making) {
  DrsSettings settings = *drs_settings(making.name);
  settings.frozen = making.options.frozen;
  if (!making.model) return Made(std::make_unique<Drs>(std::move(settings)));
  Result<std::unique_ptr<Drs>> made = Drs::from_model(std::move(settings), *making.model);
  if (!made) return made.error();
  return Made(*std::move(made));
}

Made make_marl(const Making& making) {
  MarlSettings settings = *marl_settings(making.name);
  settings.brain.frozen = making.options.frozen;
  if (!making.model) return Made(std::make_unique<Marl>(std::move(settings)));
  Result<std::unique_ptr<Marl>> made = Marl::from_model(std::move(settings), *making.model);
  if (!made) return made.error();
  return Made(*std::move(made));
}

Made make_drs_means(const Making& making) {
  if (!making.model) return Made(std::make_unique<DrsMeans>());
  Result<std::unique_ptr<DrsMeans>> made = DrsMeans::from_model(*making.model);
  if (!made) return made.error();
  return Made(*std::move(made));
}

// Those that look at nothing but the model.
template <auto kMake>
Made from_model(const Making& making) {
  return kMake(making.model);
}

void as_given(SchedulingOptions&) {}

void hold_back(SchedulingOptions& options) {
  options.order = QueueOrder::shortest_first;
  options.hold_back.on = true;
}

// To add a policy: write its file, add its line.
constexpr std::array kPolicies = {
    Entry{"random", make<RandomChoice>, as_given},
    Entry{"round-robin", make<RoundRobin>, as_given},
    Entry{"binpack", make_binpack, as_given},
    Entry{"task-topology", make<TaskTopology>, as_given},
    Entry{"kube-default", make<WeightedScores>, as_given},
    Entry{"kube-default-1.23", make<WeightedScores>,
          [](SchedulingOptions& o) { o.kube = KubeVersion::v1_23; }},
    Entry{"kube-default-1.36", make<WeightedScores>,
          [](SchedulingOptions& o) { o.kube = KubeVersion::v1_36; }},
    Entry{"diktyo", make<WeightedScores>, prepare_diktyo},
    Entry{"network", make<Network>, prepare_network},
    Entry{"greedy", make<LeastImbalance>, as_given},
    Entry{"horizon", make<Horizon>, as_given},
    Entry{"evenkeel", [](const Making& making) { return Evenkeel::make(making.model); }, as_given},
    Entry{"fewest-tasks", make<FewestTasks, 0>, as_given},
    Entry{"fewest-alike", make<FewestTasks, 3>, as_given},
    Entry{"shortest-first", make<ShortestFirst>, hold_back},
    Entry{"drs", make_drs, as_given, kLearned},
    Entry{"drs-literal", make_drs, as_given, kLearned},
    Entry{"drs-double", make_drs, as_given, kLearned},
    Entry{"drs-dueling", make_drs, as_given, kLearned},
    Entry{"drs-ppo", make_drs, as_given, kLearned},
    Entry{"drs-sac", make_drs, as_given, kLearned},
    Entry{"rlsk", make_drs, as_given, kLearned},
    Entry{"deeprm", make_drs, as_given, kLearned},
    Entry{"multi-deeprm", make_drs, as_given, kLearned},
    Entry{"drs-means", make_drs_means, as_given, kLearned},
    Entry{"marl", make_marl, as_given, kLearned},
    Entry{"marl-shared", make_marl, as_given, kLearned},
    Entry{"ppo-lrt", from_model<make_ppo_lrt>, as_given, kLearned},
    Entry{"ppo-lrt-ordered", from_model<make_ppo_lrt_ordered>, hold_back, kLearned},
};

// `plugin_weight`: what the policy's own opinion is to be worth among kube-scheduler's plugins; 0: it alone
// decides.
Status apply_switch(std::string_view text, SchedulingOptions& options, double& plugin_weight) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  double value = name == "moves" ? 12 : name == "plugins" ? 100 : 1;
  if (equals != std::string_view::npos) {
    const std::optional<double> given = parse_number(text.substr(equals + 1));
    if (!given || *given < 0)
      return invalid("policy switch '+" + std::string(text) + "': expected a number of 0 or more after '='");
    value = *given;
  }
  if (text == "order") {
    options.order = QueueOrder::shortest_first;
    options.hold_back.on = true;
    options.order_opt_in.on = true;
  } else if (text == "frozen") {
    options.frozen = true;
  } else if (name == "plugins") {
    plugin_weight = value;
  } else if (name == "moves") {
    options.moves.per_hour = value;
  } else if (name == "by-use") {
    options.by_use.on = true;
    options.by_use.risk = value;
  } else {
    return invalid("policy switch '+" + std::string(name) +
                   "' is unknown; there are +moves[=N], +by-use[=R], +plugins[=W], +order and +frozen");
  }
  return {};
}

}  // namespace

std::vector<std::string_view> policy_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kPolicies) names.push_back(entry.name);
  return names;
}

Status check_node_count(std::string_view spec, const PolicyModels& models, std::size_t nodes) {
  const std::string_view name = spec.substr(0, spec.find('+'));
  const auto model = models.find(name);
  const std::optional<DrsSettings> flat = drs_settings(name);
  return flat && model != models.end() ? check_drs_model(*flat, *model->second, nodes) : Status{};
}

bool is_learned(std::string_view policy) {
  const std::string_view name = policy.substr(0, policy.find('+'));
  return std::any_of(kPolicies.begin(), kPolicies.end(),
                     [&](const Entry& entry) { return entry.learned && entry.name == name; });
}

Result<PolicySetup> set_up_policy(std::string_view spec, SchedulingOptions options,
                                  const PolicyModels& models) {
  const std::size_t plus = spec.find('+');
  const std::string_view name = spec.substr(0, plus);
  for (const Entry& entry : kPolicies) {
    if (entry.name != name) continue;
    entry.adjust(options);
    double plugin_weight = 0;
    for (std::size_t at = plus; at != std::string_view::npos;) {
      const std::size_t next = spec.find('+', at + 1);
      const Status applied = apply_switch(spec.substr(at + 1, next - at - 1), options, plugin_weight);
      if (!applied) return applied.error();
      at = next;
    }
    const auto model = models.find(name);
    if (model != models.end())
      if (const Status sound = learning::check_weights(*model->second); !sound) return sound.error();
    Made made = entry.make({name, model == models.end() ? nullptr : model->second.get(), options});
    if (!made) return made.error();
    std::unique_ptr<PlacementPolicy> policy = std::move(*made);
    if (plugin_weight > 0)
      policy = std::make_unique<BlendedScores>(std::string(name), plugin_weight, std::move(policy));
    if (options.order_opt_in.on) policy = std::make_unique<OptInOrder>(std::move(policy));
    return PolicySetup{std::string(spec), std::move(policy), options};
  }
  std::string known;
  for (const Entry& entry : kPolicies) known += (known.empty() ? "" : ", ") + std::string(entry.name);
  return not_found("no placement policy is called '" + std::string(name) + "'; there are " + known);
}

}  // namespace evenkeel::scheduling

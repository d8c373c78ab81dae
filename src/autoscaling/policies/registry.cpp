#include "autoscaling/policies/registry.h"

#include <algorithm>
#include <array>

#include "autoscaling/policies/hpa.h"
#include "base/numbers.h"
#include "base/unit_text.h"

namespace evenkeel::autoscaling {
namespace {

using Arguments = std::map<std::string, std::string>;
using Made = Result<std::unique_ptr<ScalingPolicy>>;

struct Making {
  std::string_view name;
  const Arguments& arguments;
  const learning::Model* model;
};
struct Entry {
  std::string_view name;
  Made (*make)(const Making& making);
  bool learned = false;
};

Error wrong_argument(const std::string& name, const std::string& value, std::string_view expected) {
  return invalid("argument " + name + ": expected " + std::string(expected) + ", found \"" + value + "\"");
}

Made make_hpa(const Making& making) {
  CalculatorOptions options;
  for (const auto& [name, value] : making.arguments) {
    if (name == "tolerance") {
      const std::optional<double> share = parse_number(value);
      if (!share || *share < 0) return wrong_argument(name, value, "a share such as 0.1");
      options.tolerance = *share;
    } else if (name == "cpuInitializationPeriod" || name == "initialReadinessDelay") {
      const Result<Duration> duration = parse_duration(value);
      if (!duration) return wrong_argument(name, value, "a duration such as 30s");
      (name == "initialReadinessDelay" ? options.initial_readiness : options.cpu_initialisation) = *duration;
    } else {
      return invalid("hpa has no argument " + name +
                     "; it has tolerance, cpuInitializationPeriod and initialReadinessDelay");
    }
  }
  return Made(std::make_unique<Hpa>(options));
}

// To add a policy: write its file, add its line.
constexpr std::array kPolicies = {
    Entry{"hpa", make_hpa},
};

const Entry* find_entry(std::string_view name) {
  const auto* const entry =
      std::find_if(kPolicies.begin(), kPolicies.end(), [&](const Entry& e) { return e.name == name; });
  return entry == kPolicies.end() ? nullptr : entry;
}

}  // namespace

Result<std::unique_ptr<ScalingPolicy>> make_scaling_policy(std::string_view name, const Arguments& arguments,
                                                           const learning::Model* model) {
  if (const Entry* const entry = find_entry(name)) return entry->make({name, arguments, model});
  std::string known;
  for (const Entry& entry : kPolicies) known += (known.empty() ? "" : ", ") + std::string(entry.name);
  return invalid("no scaling policy is called \"" + std::string(name) + "\"; there are " + known);
}

std::vector<std::string_view> scaling_policy_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kPolicies) names.push_back(entry.name);
  return names;
}

bool is_learned_scaling(std::string_view name) {
  const Entry* const entry = find_entry(name);
  return entry && entry->learned;
}

}  // namespace evenkeel::autoscaling

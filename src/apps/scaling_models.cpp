#include "apps/scaling_models.h"

#include <algorithm>

#include "apps/models.h"
#include "autoscaling/policies/registry.h"
#include "base/spelling.h"
#include "learning/model_file.h"

namespace evenkeel::apps {
namespace {

bool contains(const auto& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Result<training::ScalingModels> load_scaling_models(const std::vector<std::string>& given) {
  const std::vector<std::string_view> policies = autoscaling::scaling_policy_names();
  const std::vector<std::string> built_in = built_in_models();
  training::ScalingModels models;
  for (const std::string_view policy : policies) {
    std::string name = "scaling-" + std::string(policy);
    if (!contains(built_in, name)) name = policy;
    if (!contains(built_in, name) || contains(scheduling::policy_names(), name)) continue;
    Result<learning::Model> model = load_model(name);
    if (!model) return model.error();
    models[std::string(policy)] = std::make_shared<const learning::Model>(*std::move(model));
  }
  for (const std::string& text : given) {
    Result<GivenModel> said = read_given_model(text, "scaling policy", policies);
    if (!said) return said.error();
    auto& [policy, source] = *said;
    if (!policy.empty() && source == "none") {
      models.erase(policy);
      continue;
    }
    Result<learning::Model> model = load_model(source);
    if (!model) return model.error();
    if (policy.empty()) policy = policy_of_encoding(model->encoding, policies);
    if (policy.empty())
      return invalid(source + ": made for encoding '" + model->encoding +
                     "', which no scaling policy uses; there are " + joined(policies));
    auto shared = std::make_shared<const learning::Model>(*std::move(model));
    // Policies say themselves what they cannot use.
    if (const auto made = autoscaling::make_scaling_policy(policy, {}, shared.get()); !made)
      return invalid(source + ": " + made.error().message);
    models[policy] = std::move(shared);
  }
  return models;
}

}  // namespace evenkeel::apps

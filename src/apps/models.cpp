#include "apps/models.h"

#include <algorithm>

#include "autoscaling/policies/registry.h"
#include "base/file.h"
#include "base/spelling.h"
#include "embedded/models.h"

namespace evenkeel::apps {
namespace {

constexpr std::string_view kSuffix = ".ekm";

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(kSuffix);
}

Error named(const std::string& file, const Error& error) { return {error.kind, file + ": " + error.message}; }

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool places(std::string_view policy) { return contains(scheduling::policy_names(), policy); }
bool scales(std::string_view policy) { return contains(autoscaling::scaling_policy_names(), policy); }

// Where both have a policy of one name it stands here once.
std::vector<std::string_view> all_policies() {
  std::vector<std::string_view> names = scheduling::policy_names();
  for (const std::string_view name : autoscaling::scaling_policy_names())
    if (!contains(names, name)) names.push_back(name);
  return names;
}

}  // namespace

std::string policy_of_encoding(std::string_view encoding, std::span<const std::string_view> policies) {
  std::string_view best;
  for (const std::string_view name : policies) {
    const bool whole_word =
        encoding.starts_with(name) &&
        (encoding.size() == name.size() ||
         std::string_view("/-:@ .").find(encoding[name.size()]) != std::string_view::npos);
    if (whole_word && name.size() > best.size()) best = name;
  }
  return std::string(best);
}

std::string policy_of_encoding(std::string_view encoding) {
  return policy_of_encoding(encoding, all_policies());
}

Result<GivenModel> read_given_model(const std::string& text, std::string_view kind,
                                    std::span<const std::string_view> policies) {
  const std::size_t equals = text.find('=');
  const std::string policy = text.substr(0, equals);
  if (equals == std::string::npos || policy.find('/') != std::string::npos) return GivenModel{"", text};
  if (!contains(policies, policy))
    return invalid(text + ": no " + std::string(kind) + " is called '" + policy + "'; there are " +
                   joined(policies) + did_you_mean(policy, policies));
  return GivenModel{policy, text.substr(equals + 1)};
}

std::vector<std::string> built_in_models() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded::models::files())
    names.emplace_back(file.name.substr(0, file.name.size() - kSuffix.size()));
  return names;
}

Result<learning::Model> load_model(const std::string& name_or_path) {
  if (is_path(name_or_path)) {
    const Result<std::string> bytes = read_file(name_or_path);
    if (!bytes) return bytes.error();
    Result<learning::Model> model = learning::parse_model(*bytes);
    return model ? std::move(model) : named(name_or_path, model.error());
  }
  for (const EmbeddedFile& file : embedded::models::files()) {
    if (file.name != name_or_path + std::string(kSuffix)) continue;
    Result<learning::Model> model = learning::parse_model(file.text);
    return model ? std::move(model) : named("models/" + std::string(file.name), model.error());
  }
  const std::vector<std::string> names = built_in_models();
  const std::vector<std::string_view> known(names.begin(), names.end());
  return not_found("no model is called '" + name_or_path +
                   "'; built in: " + (known.empty() ? "none" : joined(known)) +
                   did_you_mean(name_or_path, known) + "; a file's name ends in .ekm or has a / in it");
}

Result<std::string> check_model(const std::string& policy,
                                const std::shared_ptr<const learning::Model>& model,
                                const std::string& source) {
  const std::string user = policy.empty() ? policy_of_encoding(model->encoding) : policy;
  if (user.empty())
    return invalid(source + ": made for encoding '" + model->encoding +
                   "', which no policy of this program uses; there are " + joined(all_policies()));
  // Policies say themselves what they cannot use.
  if (!places(user) && scales(user)) {
    const auto made = autoscaling::make_scaling_policy(user, {}, model.get());
    return made ? Result<std::string>(user) : named(source, made.error());
  }
  const auto setup = scheduling::set_up_policy(user, {}, {{user, model}});
  if (!setup) return named(source, setup.error());
  return user;
}

Result<std::string> check_placing_model(const std::string& policy,
                                        const std::shared_ptr<const learning::Model>& model,
                                        const std::string& source) {
  Result<std::string> user = check_model(policy, model, source);
  if (user && !places(*user))
    return invalid(source + ": a model of policy '" + *user + "', which scales and places nothing");
  return user;
}

Result<scheduling::PolicyModels> load_models(const std::vector<std::string>& given) {
  scheduling::PolicyModels models;
  for (const std::string& name : built_in_models()) {
    if (!places(name)) continue;
    Result<learning::Model> model = load_model(name);
    if (!model) return model.error();
    models[name] = std::make_shared<const learning::Model>(*std::move(model));
  }
  for (const std::string& text : given) {
    const Result<GivenModel> said = read_given_model(text, "policy", scheduling::policy_names());
    if (!said) return said.error();
    if (!said->policy.empty() && said->source == "none") {
      models.erase(said->policy);
      continue;
    }
    Result<learning::Model> model = load_model(said->source);
    if (!model) return model.error();
    const auto shared = std::make_shared<const learning::Model>(*std::move(model));
    const Result<std::string> policy = check_placing_model(said->policy, shared, said->source);
    if (!policy) return policy.error();
    models[*policy] = shared;
  }
  return models;
}

}  // namespace evenkeel::apps

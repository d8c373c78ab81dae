#include "apps/models.h"

#include <algorithm>

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

bool is_policy(std::string_view name) {
  const auto names = scheduling::policy_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string policy_of_encoding(std::string_view encoding) {
  std::string_view best;
  for (const std::string_view name : scheduling::policy_names()) {
    const bool whole_word =
        encoding.starts_with(name) &&
        (encoding.size() == name.size() ||
         std::string_view("/-:@ .").find(encoding[name.size()]) != std::string_view::npos);
    if (whole_word && name.size() > best.size()) best = name;
  }
  return std::string(best);
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
                   "', which no policy of this program uses; there are " +
                   joined(scheduling::policy_names()));
  // Policies say themselves what they cannot use.
  const auto setup = scheduling::set_up_policy(user, {}, {{user, model}});
  if (!setup) return named(source, setup.error());
  return user;
}

Result<scheduling::PolicyModels> load_models(const std::vector<std::string>& given) {
  scheduling::PolicyModels models;
  for (const std::string& name : built_in_models()) {
    if (!is_policy(name)) continue;
    Result<learning::Model> model = load_model(name);
    if (!model) return model.error();
    models[name] = std::make_shared<const learning::Model>(*std::move(model));
  }
  for (const std::string& text : given) {
    const std::size_t equals = text.find('=');
    const bool says_policy = equals != std::string::npos && is_policy(text.substr(0, equals));
    const std::string source = says_policy ? text.substr(equals + 1) : text;
    if (says_policy && source == "none") {
      models.erase(text.substr(0, equals));
      continue;
    }
    Result<learning::Model> model = load_model(source);
    if (!model) return model.error();
    const auto shared = std::make_shared<const learning::Model>(*std::move(model));
    const Result<std::string> policy =
        check_model(says_policy ? text.substr(0, equals) : std::string(), shared, source);
    if (!policy) return policy.error();
    models[*policy] = shared;
  }
  return models;
}

}  // namespace evenkeel::apps

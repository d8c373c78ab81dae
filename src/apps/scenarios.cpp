#include "apps/scenarios.h"

#include "embedded/scenarios.h"

namespace evenkeel::apps {
namespace {

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".yaml") || text.ends_with(".yml");
}

}  // namespace

std::vector<std::string> built_in_scenarios() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded::scenarios::files())
    names.emplace_back(file.name.substr(0, file.name.rfind('.')));
  return names;
}

Result<YamlFile> open_scenario(const std::string& name_or_path) {
  if (is_path(name_or_path)) return YamlFile::open(name_or_path);
  for (const EmbeddedFile& file : embedded::scenarios::files())
    if (file.name == name_or_path + ".yaml")
      return YamlFile::parse(file.text, "scenarios/" + std::string(file.name));
  std::string known;
  for (const std::string& name : built_in_scenarios()) known += (known.empty() ? "" : ", ") + name;
  return not_found("no scenario is called '" + name_or_path + "'; there are " + known + ", or give a path");
}

Result<training::Experiment> load_scenario(const std::string& name_or_path,
                                           const std::vector<std::string>& overrides) {
  Result<YamlFile> file = open_scenario(name_or_path);
  if (!file) return file.error();
  return training::read_experiment(*std::move(file), overrides);
}

Result<training::ScalingExperiment> load_scaling_scenario(const std::string& name_or_path,
                                                          const std::vector<std::string>& overrides) {
  Result<YamlFile> file = open_scenario(name_or_path);
  if (!file) return file.error();
  return training::read_scaling_experiment(*std::move(file), overrides);
}

}  // namespace evenkeel::apps

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

Result<training::Experiment> load_scenario(const std::string& name_or_path,
                                           const std::vector<std::string>& overrides) {
  if (is_path(name_or_path)) {
    Result<YamlFile> file = YamlFile::open(name_or_path);
    if (!file) return file.error();
    return training::read_experiment(*std::move(file), overrides);
  }
  for (const EmbeddedFile& file : embedded::scenarios::files()) {
    if (file.name != name_or_path + ".yaml") continue;
    Result<YamlFile> parsed = YamlFile::parse(file.text, "scenarios/" + std::string(file.name));
    if (!parsed) return parsed.error();
    return training::read_experiment(*std::move(parsed), overrides);
  }
  std::string known;
  for (const std::string& name : built_in_scenarios()) known += (known.empty() ? "" : ", ") + name;
  return not_found("no scenario is called '" + name_or_path + "'; there are " + known + ", or give a path");
}

}  // namespace evenkeel::apps

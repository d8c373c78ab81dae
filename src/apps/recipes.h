#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "base/yaml_file.h"

namespace evenkeel::apps {

struct LoadedRecipe {
  YamlFile file;
  std::string text;  // word for word, with a comment for every override
};

// By path where it looks like one, else by name among those built into the binary.
Result<LoadedRecipe> load_recipe(const std::string& name_or_path, const std::vector<std::string>& overrides);

std::vector<std::string> built_in_recipes();

}  // namespace evenkeel::apps

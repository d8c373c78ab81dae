#include "apps/recipes.h"

#include "base/file.h"
#include "base/spelling.h"
#include "embedded/recipes.h"

namespace evenkeel::apps {
namespace {

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".yaml") || text.ends_with(".yml");
}

Result<LoadedRecipe> parse(std::string text, const std::string& name,
                           const std::vector<std::string>& overrides) {
  Result<YamlFile> file = YamlFile::parse(text, name);
  if (!file) return file.error();
  if (!text.ends_with('\n') && !overrides.empty()) text += '\n';
  for (const std::string& assignment : overrides) {
    if (const Status set = file->set(assignment); !set) return set.error();
    text += "# --set " + assignment + "\n";
  }
  return LoadedRecipe{*std::move(file), std::move(text)};
}

}  // namespace

std::vector<std::string> built_in_recipes() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded::recipes::files())
    names.emplace_back(file.name.substr(0, file.name.rfind('.')));
  return names;
}

Result<LoadedRecipe> load_recipe(const std::string& name_or_path, const std::vector<std::string>& overrides) {
  if (is_path(name_or_path)) {
    Result<std::string> text = read_file(name_or_path);
    if (!text) return text.error();
    return parse(*std::move(text), name_or_path, overrides);
  }
  for (const EmbeddedFile& file : embedded::recipes::files())
    if (file.name == name_or_path + ".yaml")
      return parse(std::string(file.text), "recipes/" + std::string(file.name), overrides);
  const std::vector<std::string> names = built_in_recipes();
  const std::vector<std::string_view> known(names.begin(), names.end());
  return not_found("no recipe is called '" + name_or_path + "'; there are " + joined(known) +
                   did_you_mean(name_or_path, known) + ", or give a path");
}

}  // namespace evenkeel::apps

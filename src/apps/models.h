#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "learning/model_file.h"
#include "scheduling/policies/registry.h"

namespace evenkeel::apps {

// The policy that uses models of this encoding: the longest of these names the encoding begins with, as
// `drs-double` in "drs-double/4 nodes"; empty where there is none.
std::string policy_of_encoding(std::string_view encoding, std::span<const std::string_view> policies);
// Of all that place or scale.
std::string policy_of_encoding(std::string_view encoding);

// A model as users give it: `policy=MODEL`, or `MODEL` with no policy. What stands before the = is a path
// where it has a slash in it, else a policy: an error where it is none of these.
struct GivenModel {
  std::string policy, source;
};
Result<GivenModel> read_given_model(const std::string& text, std::string_view kind,
                                    std::span<const std::string_view> policies);

// A file where it looks like one (a slash or .ekm in it), else by name among those built into the binary.
Result<learning::Model> load_model(const std::string& name_or_path);

// The policy that will use the model, placing or scaling: `policy`, or the one its encoding names where that
// is empty. An error, beginning with `source`, where there is none or it refuses the model.
Result<std::string> check_model(const std::string& policy,
                                const std::shared_ptr<const learning::Model>& model,
                                const std::string& source);
// The same, where only a policy that places will do.
Result<std::string> check_placing_model(const std::string& policy,
                                        const std::shared_ptr<const learning::Model>& model,
                                        const std::string& source);

// The models every command starts from: models/<policy>.ekm is its policy's default. Laid over it what users
// gave as `policy=MODEL`, `MODEL` (its encoding says whose) or `policy=none` (from nothing). A model its
// policy would refuse is refused here, by name.
Result<scheduling::PolicyModels> load_models(const std::vector<std::string>& given);

std::vector<std::string> built_in_models();

}  // namespace evenkeel::apps

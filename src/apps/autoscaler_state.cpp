#include "apps/autoscaler_state.h"

#include <filesystem>
#include <system_error>

#include "base/file.h"
#include "learning/checkpoint_file.h"

namespace evenkeel::apps {
namespace {

std::string encoding_of(const ScalerSpec& spec) { return "scaling/" + spec.policy; }

}  // namespace

std::string ScalingStateFiles::path_of(const ScalerSpec& spec) const {
  return folder_ + "/scaling/" + spec.name_space + "/" + spec.name + ".checkpoint";
}

void ScalingStateFiles::restore(const ScalerSpec& spec, autoscaling::ScalingPolicy& policy) const {
  const std::string path = path_of(spec);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return;
  const Result<std::string> bytes = read_file(path);
  if (!bytes) return log_(bytes.error().message);
  auto state = learning::parse_checkpoint(*bytes, encoding_of(spec));
  if (!state) return log_(path + ": " + state.error().message + "; begins anew");
  if (const Status restored = policy.restore(*std::move(state)); !restored)
    log_(path + ": " + restored.error().message + "; begins anew");
}

void ScalingStateFiles::save(const ScalerSpec& spec, const autoscaling::ScalingPolicy& policy) {
  const learning::SavedState state = policy.save();
  if (state.bytes() == learning::SavedState{}.bytes()) return;  // a rule: nothing to put away
  const std::filesystem::path path = path_of(spec);
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  const Status written = write_file(path.string(), learning::serialise_checkpoint(encoding_of(spec), state));
  const std::string trouble = written ? "" : written.error().message;
  if (trouble != said_ && !trouble.empty()) log_("--state: " + trouble);
  said_ = trouble;
}

}  // namespace evenkeel::apps

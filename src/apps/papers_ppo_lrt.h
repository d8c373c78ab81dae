#pragma once
#include "apps/papers.h"

namespace evenkeel::apps {

Result<PaperResult> ppo_lrt_figure5(const PaperSettings& settings);
Result<PaperResult> ppo_lrt_figure6(const PaperSettings& settings);

}  // namespace evenkeel::apps

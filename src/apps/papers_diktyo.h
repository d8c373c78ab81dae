#pragma once
#include "apps/papers.h"

namespace evenkeel::apps {

// In files of their own: papers_diktyo_order.cpp, papers_diktyo_speed.cpp.
Result<PaperResult> diktyo_table4(const PaperSettings& settings);
Result<PaperResult> diktyo_figure13(const PaperSettings& settings);
Result<PaperResult> diktyo_figure14(const PaperSettings& settings);

}  // namespace evenkeel::apps

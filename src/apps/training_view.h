#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "reporting/html_report.h"
#include "reporting/text_table.h"
#include "training/training_session.h"

namespace evenkeel::apps {

// What came of one training.
struct TrainingOutcome {
  std::uint64_t seed = 1;
  training::LearningCurve curve;
  learning::Model model;
  std::string model_path;  // empty: it was not asked for
};

struct TrainingReport {
  std::string recipe, learner, step_name, command;
  std::vector<std::string> scenarios;
  std::size_t steps = 0;
  std::vector<TrainingOutcome> trainings;  // one per seed
};

// A curve in one line of text, `width` characters at most: ▁▂▃▅▇; each stands for the mean of its steps.
std::string sparkline(const std::vector<double>& values, std::size_t width);

// A row per figure: where it began and ended, with its curve; over several seeds the mean and the spread.
reporting::TextTable table_of(const TrainingReport& report);
// What the trainers measured of their models themselves; no rows where they measured nothing.
reporting::TextTable model_table_of(const TrainingReport& report);
std::string json_of(const TrainingReport& report);
reporting::ReportData report_of(const TrainingReport& report);

}  // namespace evenkeel::apps

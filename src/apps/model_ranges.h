#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "learning/model_file.h"
#include "reporting/text_table.h"
#include "training/input_survey.h"

namespace evenkeel::apps {

// The worlds a model says it was trained on, to be played again with other seeds: its scenarios, and random
// ones where it was trained on those. Scenarios that this program does not know are left out.
training::SurveyWorlds worlds_of(const learning::Model& model, std::size_t worlds);

// Adds to the model in which ranges its inputs lie in the worlds it was trained on. False: they cannot be
// told, because its policy does not show them or none of the worlds is known; the model stays as it is.
bool add_input_ranges(learning::Model& model, unsigned threads);

reporting::TextTable input_table(const learning::Model& model);

// `evenkeel model ranges` and `evenkeel model alarms`.
void add_model_ranges(CLI::App& model, int& exit_code);

}  // namespace evenkeel::apps

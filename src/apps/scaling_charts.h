#pragma once
#include <string>
#include <vector>

#include "reporting/svg_chart.h"
#include "training/evaluation.h"

namespace evenkeel::apps {

// How a service was scaled over the first seed's run: requests, then each policy's replicas, then each
// policy's response at the level's percentile. Nothing where no series was kept.
std::vector<reporting::LineChart> scaling_charts(const training::Evaluation& evaluation);

// Every policy's replicas and violations as a point, those of a family (the same policy under several
// settings) joined: the settings' own front. Who is far off to the right is told below the axis instead.
reporting::LineChart front_chart(const std::string& title,
                                 const std::vector<training::PolicyResult>& policies);

}  // namespace evenkeel::apps

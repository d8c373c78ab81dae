#pragma once
#include <string>

#include "reporting/html_report.h"
#include "reporting/table_view.h"
#include "training/evaluation.h"

namespace evenkeel::apps {

// An evaluation as people and programs read it.
reporting::TableView table_of(const training::Evaluation& evaluation);
std::string json_of(const training::Evaluation& evaluation);
std::string yaml_of(const training::Evaluation& evaluation);
reporting::ReportData report_of(const training::Evaluation& evaluation, const std::string& command);

}  // namespace evenkeel::apps

#pragma once
#include <string>
#include <vector>

#include "apps/autoscaler_records.h"
#include "reporting/html_report.h"
#include "reporting/text_table.h"

namespace evenkeel::apps {

// What an autoscaler decided beside what was set, by an HPA or whoever else: as a table, JSON and a picture.
reporting::TextTable scaling_table(const std::vector<ScalingRecord>& records);
std::string scaling_json(const std::vector<ScalingRecord>& records, bool with_points);
std::string scaling_journal_json(const std::vector<ScalingJournalEntry>& entries);
// One page that needs nothing else: charts of the workloads that differ most.
std::string scaling_page(const std::vector<ScalingRecord>& records, const std::string& command);

}  // namespace evenkeel::apps

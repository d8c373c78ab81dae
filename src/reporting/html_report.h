#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "reporting/svg_chart.h"
#include "reporting/table_view.h"
#include "reporting/text_table.h"

namespace evenkeel::reporting {

// What one node did over time: utilization[d][i] at at_s[i], dimensions as in kDimensions.
struct NodeUsage {
  std::string node{};
  std::vector<double> at_s{};
  std::array<std::vector<double>, 6> utilization{};
};

// One policy's run; where there are several seeds, that of the first.
struct PolicyRun {
  std::string policy{};
  PolicyKind kind = PolicyKind::rule;
  std::vector<ChartPoint> imbalance{};  // x: seconds
  std::vector<NodeUsage> nodes{};
  std::vector<double> response_s{};  // of the finished pods, in any order, all seeds
};

// A table of any shape, with a line above that says what it shows.
struct CaptionedTable {
  std::string caption{};
  TextTable table{};
};

struct ReportData {
  std::string title{};
  std::string scenario{};
  std::string source{};   // the trace or generator that was used
  std::string command{};  // what to type to get this report again
  std::string version{};
  std::vector<std::uint64_t> seeds{};
  TableView table{};
  std::vector<CaptionedTable> tables{};  // further ones, of any shape
  std::vector<PolicyRun> runs{};         // colours follow their order
  std::vector<LineChart> charts{};       // further ones, e.g. growth with the number of nodes, and
  std::string charts_title = "Growth and further figures";
  std::vector<std::string> notes{};
};

// One HTML file that needs nothing else: no script, no request, light and dark. A part without data is left
// out.
std::string render_html_report(const ReportData& report);

// The table alone, as it stands in the report.
std::string render_html_table(const TableView& table);

}  // namespace evenkeel::reporting

#pragma once
#include <optional>
#include <string>
#include <vector>

namespace evenkeel::reporting {

// Whether a policy could be run for real decides whether it may win: references see the future.
enum class PolicyKind { rule, learned, reference };

enum class Better { lower, higher, neither };

struct TableColumn {
  std::string metric{};  // as in `evaluate --json`: imbalance, response_s_p95, …
  std::string label{};   // as people read it: "Imbalance"
  Better better = Better::lower;
};

struct TableCell {
  double mean = 0.0;
  std::optional<double> sd{};  // absent where there is one seed only
};

struct TableRow {
  std::string policy{};
  PolicyKind kind = PolicyKind::rule;
  std::vector<std::optional<TableCell>>
      cells;  // cells[i] belongs to columns[i]; absent where it does not apply
};

// The comparison of policies that the dashboard, the report and the terminal all show.
struct TableView {
  std::vector<TableColumn> columns{};
  std::vector<TableRow> rows{};
};

// Marks of one cell. Ties share the mark; a column with fewer than two comparable rows has none.
struct CellMarks {
  bool best = false;       // of all policies that could be run for real
  bool best_rule = false;  // of the simple rules: the one a learned policy has to beat
};

// marks[row][column], of the table's shape; a row with too few cells is treated as having empty ones.
std::vector<std::vector<CellMarks>> mark_best(const TableView& table);

std::string format_cell(const std::optional<TableCell>& cell);

}  // namespace evenkeel::reporting

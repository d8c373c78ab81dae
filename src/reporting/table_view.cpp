#include "reporting/table_view.h"

#include <algorithm>
#include <cmath>

#include "reporting/number_format.h"

namespace evenkeel::reporting {
namespace {

std::optional<double> comparable_mean(const TableRow& row, std::size_t column) {
  if (column >= row.cells.size() || !row.cells[column] || !std::isfinite(row.cells[column]->mean))
    return std::nullopt;
  return row.cells[column]->mean;
}

// Runs that differ in the last bits only are equally good.
bool same(double a, double b) { return std::fabs(a - b) <= 1e-6 * std::max(std::fabs(a), std::fabs(b)); }

// The best mean of the rows that `competes` accepts; nothing unless at least two of them have one.
template <class Competes>
std::optional<double> best_mean(const TableView& table, std::size_t column, Competes competes) {
  std::optional<double> best;
  int competitors = 0;
  for (const TableRow& row : table.rows) {
    const auto mean = comparable_mean(row, column);
    if (!mean || !competes(row)) continue;
    ++competitors;
    const bool is_better = table.columns[column].better == Better::lower ? mean < best : mean > best;
    if (!best || is_better) best = mean;
  }
  return competitors >= 2 ? best : std::nullopt;
}

}  // namespace

std::vector<std::vector<CellMarks>> mark_best(const TableView& table) {
  std::vector<std::vector<CellMarks>> marks(table.rows.size(), std::vector<CellMarks>(table.columns.size()));
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (table.columns[column].better == Better::neither) continue;
    const auto best =
        best_mean(table, column, [](const TableRow& row) { return row.kind != PolicyKind::reference; });
    const auto best_rule =
        best_mean(table, column, [](const TableRow& row) { return row.kind == PolicyKind::rule; });
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const auto mean = comparable_mean(table.rows[r], column);
      if (!mean) continue;
      marks[r][column].best = table.rows[r].kind != PolicyKind::reference && best && same(*mean, *best);
      marks[r][column].best_rule =
          table.rows[r].kind == PolicyKind::rule && best_rule && same(*mean, *best_rule);
    }
  }
  return marks;
}

std::string format_cell(const std::optional<TableCell>& cell) {
  return cell ? format_mean_sd(cell->mean, cell->sd) : "–";
}

}  // namespace evenkeel::reporting

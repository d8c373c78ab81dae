#include "links/matrix.h"

#include <algorithm>
#include <utility>

#include "base/csv_reader.h"
#include "base/file.h"

namespace evenkeel::links {
namespace {

constexpr double kLongestMs = 60'000;

struct Columns {
  CsvColumn from, to, delay, jitter, rate, loss;
};

// 0 where the column or the cell is not there.
double amount(CsvReader& csv, CsvColumn column, double most) {
  const double value = column ? csv.optional_number(column).value_or(0) : 0;
  if (value < 0 || value > most)
    csv.fail(column, "must be between 0 and " + std::to_string(static_cast<long>(most)));
  return value;
}

LinkSettings read_row(CsvReader& csv, const Columns& columns) {
  const auto time = [&](CsvColumn column) {
    return Moment(static_cast<Moment::rep>(1e6 * amount(csv, column, kLongestMs)));
  };
  return {.delay = time(columns.delay),
          .jitter = time(columns.jitter),
          .bits_s = 1e6 * amount(csv, columns.rate, 1e6),
          .loss = amount(csv, columns.loss, 100) / 100};
}

}  // namespace

Result<Matrix> parse_matrix(std::string text, const std::string& name,
                            const std::vector<std::string>& endpoints) {
  auto csv = CsvReader::from_text(std::move(text), name);
  if (!csv) return csv.error();
  const Columns columns = {.from = csv->column("from"),
                           .to = csv->column("to"),
                           .delay = csv->column("delay_ms"),
                           .jitter = csv->optional_column("jitter_ms"),
                           .rate = csv->optional_column("rate_mbit"),
                           .loss = csv->optional_column("loss_percent")};
  Matrix matrix(endpoints.size(), std::vector<LinkSettings>(endpoints.size()));
  std::vector<std::vector<bool>> given(endpoints.size(), std::vector<bool>(endpoints.size(), false));
  const auto place = [&](CsvColumn column) {
    const auto found = std::find(endpoints.begin(), endpoints.end(), csv->text(column));
    if (found == endpoints.end()) csv->fail(column, "is no endpoint");
    return static_cast<std::size_t>(found - endpoints.begin());
  };
  while (csv->next()) {
    const std::size_t from = place(columns.from), to = place(columns.to);
    const LinkSettings settings = read_row(*csv, columns);
    if (csv->finish()) break;
    if (given[from][to]) csv->fail(columns.to, "is given twice from there");
    given[from][to] = true;
    matrix[from][to] = settings;
  }
  if (const auto bad = csv->finish()) return *bad;
  return matrix;
}

Result<Matrix> read_matrix(const std::string& path, const std::vector<std::string>& endpoints) {
  auto text = read_file(path);
  if (!text) return text.error();
  return parse_matrix(*std::move(text), path, endpoints);
}

}  // namespace evenkeel::links

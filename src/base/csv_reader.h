#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv_source.h"
#include "base/result.h"

namespace evenkeel {

// A column of a CsvReader, found once by name and then used for every row.
struct CsvColumn {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t index = kNone;
  explicit operator bool() const { return index != kNone; }
};

// Reads a CSV file with a header, plain or zstd-compressed, a row at a time in constant memory:
//
//   auto csv = CsvReader::open(path);
//   if (!csv) return csv.error();
//   const CsvColumn vm = csv->column("vm"), cpu = csv->column("cpu_mhz");
//   while (csv->next()) use(csv->integer(vm), csv->number(cpu));
//   if (auto bad = csv->finish()) return *bad;
//
// The first error ends the rows: a missing column before the first, a bad cell after its own. Until then bad
// cells read as 0. Cells may be quoted ("" for a quote, line breaks allowed); blank lines are skipped; a byte
// order mark and CRLF are understood.
class CsvReader {
 public:
  static Result<CsvReader> open(const std::string& path);
  static Result<CsvReader> from_text(std::string bytes, std::string name);

  const std::vector<std::string>& header() const { return header_; }
  CsvColumn column(std::string_view name);                 // an error when there is none
  CsvColumn optional_column(std::string_view name) const;  // false when there is none

  bool next();

  // Cells of the current row. Texts are valid until the next row.
  std::string_view text(CsvColumn column) const;
  double number(CsvColumn column);
  std::int64_t integer(CsvColumn column);
  std::optional<double> optional_number(CsvColumn column);  // nothing where the cell is empty

  // An error of the caller's finding, placed at the cell.
  void fail(CsvColumn column, const std::string& message);
  std::optional<Error> finish() const { return error_; }

  const std::string& name() const { return source_.name(); }
  std::int64_t line() const { return line_; }  // where the current row begins, from 1

 private:
  enum class Scan { row, blank, incomplete, failed };

  explicit CsvReader(CsvSource source) : source_(std::move(source)) {}
  Status read_header();
  bool read_row();
  Scan scan_row();
  const char* scan_quoted(const char* at, const char* end, std::string_view& cell);
  bool refill();
  Scan fail_row(const std::string& message);
  void fail_number(CsvColumn column, const char* expected);

  CsvSource source_;
  std::vector<std::string> header_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // unread bytes of the buffer
  std::size_t end_ = 0;
  bool at_end_ = false;  // the source has no more
  std::vector<std::string_view> cells_;
  std::deque<std::string> unescaped_;  // cells that had a quote in quotes
  std::int64_t line_ = 0;
  std::int64_t next_line_ = 1;
  std::optional<Error> error_;
};

}  // namespace evenkeel

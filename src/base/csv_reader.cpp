#include "base/csv_reader.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/numbers.h"
#include "base/spelling.h"

namespace evenkeel {
namespace {

constexpr std::size_t kFirstBuffer = 1 << 18;
constexpr std::size_t kLongestRow = 1 << 24;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::string_view trimmed(std::string_view cell) {
  while (!cell.empty() && (cell.front() == ' ' || cell.front() == '\t')) cell.remove_prefix(1);
  while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\t')) cell.remove_suffix(1);
  return cell;
}

std::string described(std::string_view cell) {
  return cell.empty() ? "nothing" : "'" + std::string(cell) + "'";
}

}  // namespace

Result<CsvReader> CsvReader::open(const std::string& path) {
  auto source = CsvSource::open(path);
  if (!source) return source.error();
  CsvReader reader(*std::move(source));
  if (Status header = reader.read_header(); !header) return header.error();
  return reader;
}

Result<CsvReader> CsvReader::from_text(std::string bytes, std::string name) {
  auto source = CsvSource::from_text(std::move(bytes), std::move(name));
  if (!source) return source.error();
  CsvReader reader(*std::move(source));
  if (Status header = reader.read_header(); !header) return header.error();
  return reader;
}

Status CsvReader::read_header() {
  buffer_.resize(kFirstBuffer);
  const bool found = read_row();
  if (error_) return *error_;
  if (!found) return invalid(name() + ": empty: expected a header line with column names");
  if (cells_.front().starts_with(kByteOrderMark)) cells_.front().remove_prefix(kByteOrderMark.size());
  for (const std::string_view cell : cells_) {
    std::string column(trimmed(cell));
    if (std::find(header_.begin(), header_.end(), column) != header_.end()) {
      return invalid(name() + ":1: column '" + column + "' is given twice");
    }
    header_.push_back(std::move(column));
  }
  return {};
}

CsvColumn CsvReader::optional_column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) return {};
  return {static_cast<std::size_t>(found - header_.begin())};
}

CsvColumn CsvReader::column(std::string_view column_name) {
  const CsvColumn column = optional_column(column_name);
  if (column || error_) return column;
  const std::vector<std::string_view> names(header_.begin(), header_.end());
  const std::string suggestion = did_you_mean(column_name, names);
  error_ = invalid(name() + ":1: no column '" + std::string(column_name) + "'" +
                   (suggestion.empty() ? "; there are " + joined(names) : suggestion));
  return column;
}

bool CsvReader::next() {
  if (!read_row()) return false;
  if (cells_.size() == header_.size()) return true;
  (void)fail_row("expected " + std::to_string(header_.size()) + " cells as in the header, found " +
                 std::to_string(cells_.size()));
  return false;
}

bool CsvReader::read_row() {
  while (!error_) {
    switch (scan_row()) {
      case Scan::row:
        return true;
      case Scan::failed:
        return false;
      case Scan::blank:
        if (begin_ == end_ && at_end_) return false;
        break;
      case Scan::incomplete:
        if (!refill()) return false;
        break;
    }
  }
  return false;
}

// Cuts the row at begin_ into cells. At the end of the source a row may lack its line break.
CsvReader::Scan CsvReader::scan_row() {
  const char* const start = buffer_.data() + begin_;
  const char* const end = buffer_.data() + end_;
  cells_.clear();
  unescaped_.clear();
  line_ = next_line_;
  std::int64_t breaks = 0;

  const char* at = start;
  while (true) {
    std::string_view cell;
    if (at != end && *at == '"') {
      const char* const opened = at;
      at = scan_quoted(at, end, cell);
      if (at == nullptr && !at_end_) return Scan::incomplete;
      if (at == nullptr) return fail_row("a quote is opened and never closed");
      breaks += std::count(opened, at, '\n');
      if (at != end && *at == '\r') ++at;
      if (at != end && *at != ',' && *at != '\n') return fail_row("text follows a closing quote");
    } else {
      const char* const opened = at;
      while (at != end && *at != ',' && *at != '\n') ++at;
      cell = {opened, static_cast<std::size_t>(at - opened)};
    }
    if (at == end && !at_end_) return Scan::incomplete;
    cells_.push_back(cell);
    if (at == end || *at == '\n') break;
    ++at;
  }
  next_line_ += breaks + (at == end ? 0 : 1);
  begin_ = static_cast<std::size_t>((at == end ? at : at + 1) - buffer_.data());
  if (cells_.back().ends_with('\r')) cells_.back().remove_suffix(1);
  const bool is_blank = cells_.size() == 1 && cells_.front().empty();
  return is_blank ? Scan::blank : Scan::row;
}

// The cell whose opening quote is at `at`; returns what follows its closing quote, or null when there is none
// yet.
const char* CsvReader::scan_quoted(const char* at, const char* end, std::string_view& cell) {
  const char* part = ++at;
  std::string* joined_parts = nullptr;
  while (true) {
    at = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
    if (at == nullptr) return nullptr;
    const std::string_view piece(part, static_cast<std::size_t>(at - part));
    const bool doubled = at + 1 != end && at[1] == '"';
    // The second half of a doubled quote may not have been read yet.
    if (at + 1 == end && !at_end_) return nullptr;
    if (!doubled) {
      cell = joined_parts == nullptr ? piece : std::string_view(joined_parts->append(piece));
      return at + 1;
    }
    if (joined_parts == nullptr) joined_parts = &unescaped_.emplace_back();
    joined_parts->append(piece).push_back('"');
    at += 2;
    part = at;
  }
}

// Makes room behind the unread bytes and reads on. False when there is nothing more to scan.
bool CsvReader::refill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) {
    if (end_ >= kLongestRow) {
      (void)fail_row("the row is longer than 16 MiB");
      return false;
    }
    buffer_.resize(buffer_.size() * 2);
  }
  const auto count = source_.read(buffer_.data() + end_, buffer_.size() - end_);
  if (!count) {
    error_ = count.error();
    return false;
  }
  end_ += *count;
  at_end_ = *count == 0;
  return true;
}

std::string_view CsvReader::text(CsvColumn column) const {
  return column.index < cells_.size() ? cells_[column.index] : std::string_view();
}

double CsvReader::number(CsvColumn column) {
  const std::string_view cell = text(column);
  if (const auto value = parse_number(cell)) return *value;
  if (const auto value = parse_number(trimmed(cell))) return *value;
  fail_number(column, "a number");
  return 0;
}

std::int64_t CsvReader::integer(CsvColumn column) {
  const std::string_view cell = text(column);
  if (const auto value = parse_integer(cell)) return *value;
  if (const auto value = parse_integer(trimmed(cell))) return *value;
  fail_number(column, "a whole number");
  return 0;
}

std::optional<double> CsvReader::optional_number(CsvColumn column) {
  if (trimmed(text(column)).empty()) return std::nullopt;
  return number(column);
}

void CsvReader::fail_number(CsvColumn column, const char* expected) {
  fail(column, std::string("expected ") + expected + ", found " + described(text(column)));
}

void CsvReader::fail(CsvColumn column, const std::string& message) {
  if (error_) return;
  const std::string field = column.index < header_.size() ? header_[column.index] + ": " : "";
  error_ = invalid(name() + ":" + std::to_string(line_) + ": " + field + message);
}

CsvReader::Scan CsvReader::fail_row(const std::string& message) {
  fail({}, message);
  return Scan::failed;
}

}  // namespace evenkeel

#include "reporting/text_table.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace evenkeel::reporting {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::string_view kStrong = "\x1b[1m";
constexpr std::string_view kFaint = "\x1b[2m";
constexpr std::string_view kReset = "\x1b[0m";

struct CodePoints {
  std::uint32_t first, last;
};
// Close enough for names of pods and policies; a full width table would be larger than this folder.
constexpr std::array<CodePoints, 4> kNoWidth = {
    {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}}};
constexpr std::array<CodePoints, 6> kDoubleWidth = {{{0x1100, 0x115F},
                                                     {0x2E80, 0xA4CF},
                                                     {0xAC00, 0xD7A3},
                                                     {0xF900, 0xFAFF},
                                                     {0xFE30, 0xFE6F},
                                                     {0x1F300, 0x1FAFF}}};

template <std::size_t N>
bool contains(const std::array<CodePoints, N>& ranges, std::uint32_t point) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [point](CodePoints range) { return range.first <= point && point <= range.last; });
}

std::size_t width_of(std::uint32_t point) {
  if (contains(kNoWidth, point)) return 0;
  return contains(kDoubleWidth, point) || (point >= 0xFF00 && point <= 0xFF60) ? 2 : 1;
}

// What a cell may not do: end the line, or steer the terminal by an escape sequence out of somebody's pod
// name.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; },
      ' ');
  return text;
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string space(width - std::min(width, display_width(text)), ' ');
  return align == Align::right ? space + text : text + space;
}

std::string emphasised(std::string text, Emphasis emphasis, TextStyle style) {
  if (style == TextStyle::plain || emphasis == Emphasis::none) return text;
  return std::string(emphasis == Emphasis::strong ? kStrong : kFaint) + text + std::string(kReset);
}

std::vector<std::size_t> column_widths(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (const auto& column : table.columns) widths.push_back(display_width(one_line(column.header)));
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < std::min(row.size(), widths.size()); ++c) {
      widths[c] = std::max(widths[c], display_width(one_line(row[c].text)));
    }
  }
  return widths;
}

// The emphasis goes around the padding, so that columns line up with it and without.
std::string rendered_row(const TextTable& table, const std::vector<TextCell>& row,
                         const std::vector<std::size_t>& widths, TextStyle style) {
  std::string line;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const TextCell cell = c < row.size() ? row[c] : TextCell{};
    std::string text = padded(one_line(cell.text), widths[c], table.columns[c].align);
    const bool is_last = c + 1 == table.columns.size();
    if (is_last && table.columns[c].align == Align::left) text = one_line(cell.text);  // no trailing blanks
    line += (c == 0 ? "" : std::string(kGap)) + emphasised(std::move(text), cell.emphasis, style);
  }
  return line + "\n";
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : 1;
    std::uint32_t point = length == 1 ? lead : lead & (0xFFu >> (length + 1));
    for (std::size_t k = 1; k < length && i + k < text.size(); ++k) {
      point = (point << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3Fu);
    }
    width += width_of(point);
    i += length;
  }
  return width;
}

std::string render_text_table(const TextTable& table, TextStyle style) {
  const std::vector<std::size_t> widths = column_widths(table);
  std::vector<TextCell> header;
  for (const auto& column : table.columns) header.push_back({column.header, Emphasis::faint});
  std::string text = rendered_row(table, header, widths, style);
  for (const auto& row : table.rows) text += rendered_row(table, row, widths, style);
  for (const std::string& note : table.notes)
    text += emphasised(one_line(note), Emphasis::faint, style) + "\n";
  return text;
}

TextTable text_table_of(const TableView& table) {
  TextTable text;
  text.columns.push_back({"policy", Align::left});
  for (const TableColumn& column : table.columns) text.columns.push_back({column.label, Align::right});
  const auto marks = mark_best(table);
  bool has_mark = false, has_reference = false;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const TableRow& row = table.rows[r];
    const bool is_reference = row.kind == PolicyKind::reference;
    has_reference = has_reference || is_reference;
    std::vector<TextCell> cells = {
        {row.policy + (is_reference ? " (reference)" : ""), is_reference ? Emphasis::faint : Emphasis::none}};
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const CellMarks mark = marks[r][c];
      has_mark = has_mark || mark.best || mark.best_rule;
      // A blank in place of the mark, so that digits stay below digits.
      const std::string_view sign = mark.best ? "*" : mark.best_rule ? "+" : " ";
      const std::string value = c < row.cells.size() ? format_cell(row.cells[c]) : format_cell(std::nullopt);
      cells.push_back({value + std::string(sign), mark.best      ? Emphasis::strong
                                                  : is_reference ? Emphasis::faint
                                                                 : Emphasis::none});
    }
    text.rows.push_back(std::move(cells));
  }
  for (auto& column : text.columns) {
    if (column.align == Align::right) column.header += ' ';
  }
  if (has_mark) text.notes.emplace_back("* best   + best simple rule where a learned policy is best");
  if (has_reference) text.notes.emplace_back("(reference) sees the future: a limit, not a contender");
  return text;
}

TextStyle text_style_for(int file_descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool is_unwanted = no_color != nullptr && *no_color != '\0';
  return ::isatty(file_descriptor) == 1 && !is_unwanted ? TextStyle::coloured : TextStyle::plain;
}

}  // namespace evenkeel::reporting

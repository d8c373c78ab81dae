#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "reporting/table_view.h"

namespace evenkeel::reporting {

enum class Align { left, right };
enum class Emphasis { none, strong, faint };

struct TextCell {
  std::string text{};
  Emphasis emphasis = Emphasis::none;
};

struct TextTable {
  struct Column {
    std::string header{};
    Align align = Align::right;
  };
  std::vector<Column> columns{};
  std::vector<std::vector<TextCell>> rows{};  // a short row ends in empty cells
  std::vector<std::string> notes{};           // printed below
};

// Plain text carries no escape sequences, and line breaks inside a cell become spaces.
enum class TextStyle { plain, coloured };
std::string render_text_table(const TextTable& table, TextStyle style);

// One row per policy; the best of each column is marked with *, references with (reference), legend below.
TextTable text_table_of(const TableView& table);

// Coloured for a terminal, plain when piped or where NO_COLOR is set to anything.
TextStyle text_style_for(int file_descriptor);

// Columns a terminal gives to UTF-8 text: combining marks none, East Asian wide characters and emoji two.
std::size_t display_width(std::string_view text);

}  // namespace evenkeel::reporting

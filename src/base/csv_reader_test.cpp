#include "base/csv_reader.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <filesystem>
#include <functional>

#include "base/file.h"

namespace evenkeel {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(const std::string& bytes) {
  auto csv = CsvReader::from_text(bytes, "t.csv");
  EXPECT_TRUE(csv) << csv.error().message;
  Rows rows;
  while (csv->next()) {
    std::vector<std::string>& row = rows.emplace_back();
    for (std::size_t i = 0; i < csv->header().size(); ++i) row.emplace_back(csv->text(CsvColumn{i}));
  }
  const auto bad = csv->finish();
  EXPECT_FALSE(bad) << bad->message;
  return rows;
}

// What reading column "b" as a number ends with.
std::string error_of(const std::string& bytes) {
  auto csv = CsvReader::from_text(bytes, "t.csv");
  if (!csv) return csv.error().message;
  const CsvColumn b = csv->column("b");
  while (csv->next()) (void)csv->number(b);
  const auto bad = csv->finish();
  return bad ? bad->message : "no error";
}

std::string compressed(const std::string& text) {
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), 3));
  return bytes;
}

std::string table_of(int rows) {
  std::string text = "a,b\n";
  for (int i = 0; i < rows; ++i) text += std::to_string(i) + "," + std::to_string(i) + ".25\n";
  return text;
}

TEST(CsvReader, MapsColumnsByName) {
  auto csv = CsvReader::from_text("vm,slot,cpu\n1,0,398.5\n2,1,-1e2\n", "t.csv");
  ASSERT_TRUE(csv);
  const CsvColumn cpu = csv->column("cpu");
  const CsvColumn vm = csv->column("vm");
  EXPECT_FALSE(csv->optional_column("gpu"));
  ASSERT_TRUE(csv->next());
  EXPECT_EQ(csv->integer(vm), 1);
  EXPECT_EQ(csv->number(cpu), 398.5);
  EXPECT_EQ(csv->line(), 2);
  ASSERT_TRUE(csv->next());
  EXPECT_EQ(csv->number(cpu), -100);
  EXPECT_FALSE(csv->next());
  EXPECT_FALSE(csv->finish());
}

TEST(CsvReader, UnderstandsQuotesLineEndsAndBlanks) {
  EXPECT_EQ(rows_of("a,b\n1,2"), (Rows{{"1", "2"}}));
  EXPECT_EQ(rows_of("a,b\r\n1,2\r\n"), (Rows{{"1", "2"}}));
  EXPECT_EQ(rows_of("\xef\xbb\xbf"
                    "a,b\n1,2\n"),
            (Rows{{"1", "2"}}));
  EXPECT_EQ(rows_of("a,b\n\n1,2\n\n\n"), (Rows{{"1", "2"}}));
  EXPECT_EQ(rows_of("a,b\n,\n"), (Rows{{"", ""}}));
  EXPECT_EQ(rows_of("a,b\n\"x, y\",\"say \"\"hi\"\"\"\n"), (Rows{{"x, y", "say \"hi\""}}));
  EXPECT_EQ(rows_of("a,b\n\"two\nlines\",3\r\n4,\"5\"\r\n"), (Rows{{"two\nlines", "3"}, {"4", "5"}}));
  EXPECT_EQ(rows_of("a,b\nx\"y,\"\"\n"), (Rows{{"x\"y", ""}}));
  EXPECT_EQ(rows_of("a,b\n1,\"2\""), (Rows{{"1", "2"}}));
  EXPECT_EQ(rows_of("a,b\n"), Rows{});
}

TEST(CsvReader, ReadsNumbersWithBlanksAroundThemAndEmptyCellsAsNothing) {
  auto csv = CsvReader::from_text("a, b\n 1 , 2.5\n,3\n", "t.csv");
  ASSERT_TRUE(csv);
  const CsvColumn a = csv->column("a");
  const CsvColumn b = csv->column("b");
  ASSERT_TRUE(csv->next());
  EXPECT_EQ(csv->integer(a), 1);
  EXPECT_EQ(csv->number(b), 2.5);
  ASSERT_TRUE(csv->next());
  EXPECT_EQ(csv->optional_number(a), std::nullopt);
  EXPECT_EQ(csv->optional_number(b), 3);
  EXPECT_FALSE(csv->finish());
}

TEST(CsvReader, NamesFileLineAndColumnOfABadCell) {
  EXPECT_EQ(error_of("a,b\n1,2\n1,two\n"), "t.csv:3: b: expected a number, found 'two'");
  EXPECT_EQ(error_of("a,b\n1,\n"), "t.csv:2: b: expected a number, found nothing");
  EXPECT_EQ(error_of("a,b\n1,nan\n"), "t.csv:2: b: expected a number, found 'nan'");
  EXPECT_EQ(error_of("a,b\n1,inf\n"), "t.csv:2: b: expected a number, found 'inf'");
  EXPECT_EQ(error_of("a,b\n1,1e999\n"), "t.csv:2: b: expected a number, found '1e999'");
  EXPECT_EQ(error_of("a,b\n\"x\ny\",1\n1,z\n"), "t.csv:4: b: expected a number, found 'z'");
}

TEST(CsvReader, NamesTheLineOfABadRow) {
  EXPECT_EQ(error_of("a,b\n1\n"), "t.csv:2: expected 2 cells as in the header, found 1");
  EXPECT_EQ(error_of("a,b\n1,2\n1,2,3\n"), "t.csv:3: expected 2 cells as in the header, found 3");
  EXPECT_EQ(error_of("a,b\n1,\"2\n3,4\n"), "t.csv:2: a quote is opened and never closed");
  EXPECT_EQ(error_of("a,b\n\"1\"x,2\n"), "t.csv:2: text follows a closing quote");
  EXPECT_EQ(error_of("a,b\n1," + std::string(20 << 20, '2')), "t.csv:2: the row is longer than 16 MiB");
}

TEST(CsvReader, NamesTheColumnThatIsMissing) {
  EXPECT_EQ(error_of("a,c\n1,2\n"), "t.csv:1: no column 'b'; there are a, c");
  auto csv = CsvReader::from_text("vm,cpu_mhz\n1,2\n", "t.csv");
  ASSERT_TRUE(csv);
  EXPECT_FALSE(csv->column("cpu_mzh"));
  EXPECT_FALSE(csv->next());
  EXPECT_EQ(csv->finish()->message, "t.csv:1: no column 'cpu_mzh'; did you mean 'cpu_mhz'?");
}

TEST(CsvReader, RefusesAFileWithoutAHeader) {
  EXPECT_EQ(error_of(""), "t.csv: empty: expected a header line with column names");
  EXPECT_EQ(error_of("\n\n"), "t.csv: empty: expected a header line with column names");
  EXPECT_EQ(error_of("a,b,a\n"), "t.csv:1: column 'a' is given twice");
}

TEST(CsvReader, StopsAtTheFirstBadCell) {
  auto csv = CsvReader::from_text("a\nx\n2\n", "t.csv");
  ASSERT_TRUE(csv);
  const CsvColumn a = csv->column("a");
  ASSERT_TRUE(csv->next());
  EXPECT_EQ(csv->integer(a), 0);
  EXPECT_FALSE(csv->next());
  EXPECT_EQ(csv->finish()->message, "t.csv:2: a: expected a whole number, found 'x'");
}

TEST(CsvReader, PlacesErrorsOfTheCaller) {
  auto csv = CsvReader::from_text("a\n1\n", "t.csv");
  ASSERT_TRUE(csv);
  const CsvColumn a = csv->column("a");
  ASSERT_TRUE(csv->next());
  csv->fail(a, "expected rows in order of time");
  EXPECT_EQ(csv->finish()->message, "t.csv:2: a: expected rows in order of time");
}

TEST(CsvReader, ReadsFilesLargerThanItsBufferPlainOrCompressed) {
  constexpr int kRows = 200000;  // some 3 MB
  const std::string text = table_of(kRows);
  const std::string path = testing::TempDir() + "evenkeel_csv_test.csv";
  for (const std::string& bytes : {text, compressed(text), compressed(text) + compressed("")}) {
    ASSERT_TRUE(write_file(path, bytes));
    auto csv = CsvReader::open(path);
    ASSERT_TRUE(csv) << csv.error().message;
    const CsvColumn a = csv->column("a");
    const CsvColumn b = csv->column("b");
    std::int64_t rows = 0;
    while (csv->next()) {
      ASSERT_EQ(csv->integer(a), rows);
      ASSERT_EQ(csv->number(b), static_cast<double>(rows) + 0.25);
      ++rows;
    }
    EXPECT_FALSE(csv->finish());
    EXPECT_EQ(rows, kRows);
  }
  std::filesystem::remove(path);
}

// Every cut of a row at the end of a buffer must read the same.
TEST(CsvReader, JoinsRowsCutByTheBuffer) {
  const std::string quoted = "\"a \"\"quoted\"\" cell\nof two lines\",7\r\n";
  std::string text = "a,b\n";
  int rows = 0;
  for (; text.size() < (3U << 18); ++rows) text += quoted;
  for (std::size_t shift = 0; shift < quoted.size(); ++shift) {
    auto csv = CsvReader::from_text(compressed(std::string(shift, '\n') + text), "t.csv.zst");
    ASSERT_TRUE(csv);
    int seen = 0;
    for (; csv->next(); ++seen) ASSERT_EQ(csv->text(CsvColumn{0}), "a \"quoted\" cell\nof two lines");
    ASSERT_FALSE(csv->finish()) << csv->finish()->message;
    ASSERT_EQ(seen, rows);
  }
}

TEST(CsvReader, RefusesADamagedOrCutStream) {
  const std::string bytes = compressed(table_of(50000));
  EXPECT_EQ(error_of(bytes.substr(0, bytes.size() / 2)), "t.csv: the zstd stream ends early");
  EXPECT_EQ(error_of(bytes.substr(0, bytes.size() - 1)), "t.csv: the zstd stream ends early");
  std::string damaged = bytes;
  for (std::size_t i = 6; i < 40; ++i) damaged[i] = static_cast<char>(0xff);
  EXPECT_NE(error_of(damaged).find("not a valid zstd stream"), std::string::npos);
  EXPECT_NE(error_of(bytes + "trailing"), "no error");
}

TEST(CsvReader, NamesAFileThatIsNotThere) {
  const auto csv = CsvReader::open("no/such.csv");
  ASSERT_FALSE(csv);
  EXPECT_EQ(csv.error().kind, Error::Kind::not_found);
  EXPECT_FALSE(CsvReader::open("src"));
}

}  // namespace
}  // namespace evenkeel

#include "base/file.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace evenkeel {
namespace {

TEST(File, ReadsBackWhatWasWritten) {
  const std::string path = testing::TempDir() + "evenkeel_file_test.bin";
  const std::string text("a\0b\r\n", 5);
  ASSERT_TRUE(write_file(path, text));
  EXPECT_EQ(*read_file(path), text);
  ASSERT_TRUE(write_file(path, "shorter"));
  EXPECT_EQ(*read_file(path), "shorter");
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
  std::filesystem::remove(path);
}

TEST(File, NamesTheFileThatIsNotThere) {
  const auto missing = read_file("no/such/file.yaml");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, Error::Kind::not_found);
  EXPECT_EQ(missing.error().message, "no/such/file.yaml: No such file or directory");
}

TEST(File, RefusesADirectory) {
  EXPECT_FALSE(read_file("src"));
  EXPECT_FALSE(write_file("src", "x"));
  EXPECT_FALSE(std::filesystem::exists("src.partial"));
  EXPECT_FALSE(write_file("no/such/folder/file", "x"));
}

TEST(File, KnowsBeforehandWhereItCannotWrite) {
  const std::string path = testing::TempDir() + "evenkeel_writable_test.bin";
  EXPECT_TRUE(check_writable(path));
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(path + ".partial"));
  EXPECT_FALSE(check_writable("src"));
  EXPECT_FALSE(std::filesystem::exists("src.partial"));
  EXPECT_EQ(check_writable("no/such/folder/file").error().message,
            "no/such/folder/file: No such file or directory");
}

}  // namespace
}  // namespace evenkeel

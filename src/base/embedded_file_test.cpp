#include "base/embedded_file.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "embedded/embed_samples.h"

namespace evenkeel {
namespace {

TEST(EmbeddedFile, HoldsTheBytesOfTheFileOnDisk) {
  for (const EmbeddedFile& file : embedded::embed_samples::files()) {
    const auto on_disk = read_file("src/base/testdata/" + std::string(file.name));
    ASSERT_TRUE(on_disk);
    EXPECT_EQ(file.text, *on_disk) << file.name;
  }
}

TEST(EmbeddedFile, IsListedByName) {
  const auto files = embedded::embed_samples::files();
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[0].name, "awkward.txt");
  EXPECT_EQ(files[1].name, "empty.txt");
  EXPECT_EQ(files[2].name, "plain.txt");
}

}  // namespace
}  // namespace evenkeel

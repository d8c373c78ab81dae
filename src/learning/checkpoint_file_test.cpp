#include "learning/checkpoint_file.h"

#include <gtest/gtest.h>

namespace evenkeel::learning {
namespace {

std::string sample(std::string_view encoding = "drs") {
  SavedState learner;
  const std::vector<Real> weights = {1, -2.5, 3e-300};
  learner.put("weights", weights);
  learner.put("updates", std::uint64_t{77});
  learner.put_text("nodes", "a\nb");
  return serialise_checkpoint(encoding, learner);
}

TEST(CheckpointFile, GivesBackWhatWasPutIn) {
  Result<SavedState> read = parse_checkpoint(sample(), "drs");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->reals("weights"), (std::vector<Real>{1, -2.5, 3e-300}));
  EXPECT_EQ(read->count("updates"), 77U);
  EXPECT_EQ(read->text("nodes"), "a\nb");
  EXPECT_TRUE(read->status());
}

TEST(CheckpointFile, IsNeverLoadedWhereAnythingIsMissing) {
  const std::string whole = sample();
  for (std::size_t length = 0; length < whole.size(); ++length)
    ASSERT_FALSE(parse_checkpoint(std::string_view(whole).substr(0, length), "drs")) << length;
  EXPECT_FALSE(parse_checkpoint(whole + "x", "drs"));
}

TEST(CheckpointFile, IsNeverLoadedWhereAnyByteIsAnother) {
  const std::string whole = sample();
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (int flip = 1; flip < 256; ++flip) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      ASSERT_FALSE(parse_checkpoint(damaged, "drs")) << "byte " << at << " by " << flip;
    }
}

TEST(CheckpointFile, RefusesAnothersAndANewerOneByName) {
  const Result<SavedState> foreign = parse_checkpoint(sample("ppo-lrt"), "drs");
  ASSERT_FALSE(foreign);
  EXPECT_NE(foreign.error().message.find("'ppo-lrt'"), std::string::npos);
  std::string newer = sample();
  newer.replace(newer.find(" 1 "), 3, " 2 ");
  const Result<SavedState> refused = parse_checkpoint(newer, "drs");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("version 2"), std::string::npos);
  EXPECT_FALSE(parse_checkpoint("evenkeel-model 1 2 3 abcdefgh\n{}", "drs"));
  EXPECT_FALSE(parse_checkpoint("", "drs"));
}

}  // namespace
}  // namespace evenkeel::learning

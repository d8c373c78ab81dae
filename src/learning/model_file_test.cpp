#include "learning/model_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "base/random.h"

namespace evenkeel::learning {
namespace {

Model sample() {
  Random random(1);
  const Network actor({3, {4}, 2}, InitialWeights::he, random);
  const Network critic({3, {5, 4}, 1, Activation::tanh}, InitialWeights::xavier, random);
  const auto part = [](const char* name, const Network& network) {
    return ModelNetwork{name, network.shape(), {network.parameters().begin(), network.parameters().end()}};
  };
  return {.encoding = "drs-30",
          .normalisation = {{"cpu", 0, 100}, {"net", 0, 40}},
          .recipe = "algorithm: dqn\nreward: \"quoted\", \xC3\xBC\n",
          .training_worlds = {"drs-even seed 1", "drs-random seed 2"},
          .figures = {{"imbalance", 0.0731}, {"steps", 300}},
          .networks = {part("actor", actor), part("critic", critic)}};
}

// The file with a changed header or other parameters, its first line made right again: damage that no
// checksum finds, as a program with a bug would write it.
std::string rewritten(const std::string& from, const std::string& to) {
  Model model = sample();
  model.recipe = "";
  std::string text = serialise(model);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  // Found by asking: the refusal names the sum it computed.
  const std::size_t line = text.find('\n'), header = text.find('\n', line + 1) - line;
  const std::size_t count = (text.size() - line - 1 - header) / sizeof(Real);
  const std::string start = "evenkeel-model 1 " + std::to_string(header) + " " + std::to_string(count) + " ";
  const std::string body = text.substr(line);
  const auto refusal = parse_model(start + "........" + body);
  EXPECT_FALSE(refusal);
  const std::string& message = refusal.error().message;
  return start + message.substr(message.find("checksum ") + 9, 8) + body;
}

void expect_refusal(std::string_view bytes, std::string_view part) {
  const Result<Model> model = parse_model(bytes);
  ASSERT_FALSE(model) << "expected: " << part;
  EXPECT_NE(model.error().message.find(part), std::string::npos) << model.error().message;
}

TEST(ModelFile, ReadsBackWhatWasWrittenBitForBit) {
  const Model model = sample();
  const Result<Model> read = parse_model(serialise(model), "drs-30");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, model);
  ASSERT_NE(read->find("critic"), nullptr);
  EXPECT_EQ(read->find("nobody"), nullptr);
}

TEST(ModelFile, KeepsWhatTheInputsWereInTraining) {
  Model model = sample();
  const std::string without = serialise(model);
  model.inputs = {{"cpu", -1, 0, 0.5, 2}, {"memory", 0, 0, 0, 0}, {"net", 0.25, 0.25, 1, 1}};
  const Result<Model> read = parse_model(serialise(model));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, model);
  model.inputs.clear();
  EXPECT_EQ(serialise(model), without) << "a model from before is written as it was";
}

TEST(ModelFile, RefusesRangesThatAreNotItsInputs) {
  Model model = sample();
  model.inputs = {{"cpu", 0, 0, 1, 1}};
  expect_refusal(serialise(model), "inputs has 1 ranges, its first network 3 inputs");
  model.inputs = {{"cpu", 0, 0, 1, 1}, {"memory", 0, 2, 1, 3}, {"net", 0, 0, 1, 1}};
  expect_refusal(serialise(model), "inputs[1].low");
}

TEST(ModelFile, SaysOfAModelFromElsewhereWhatIsWrongWithItsWeights) {
  Model model = sample();
  EXPECT_TRUE(check_weights(model));
  model.networks[1].parameters[3] = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_NE(check_weights(model).error().message.find("parameter 3 of network 'critic'"), std::string::npos);
  model.networks[0].parameters.pop_back();
  EXPECT_NE(check_weights(model).error().message.find("network 'actor' needs"), std::string::npos);
}

TEST(ModelFile, IsTheSameForTheSameModel) { EXPECT_EQ(serialise(sample()), serialise(sample())); }

TEST(ModelFile, TellsAPersonWhatItHolds) {
  const std::string text = serialise(sample());
  EXPECT_TRUE(text.starts_with("evenkeel-model 1 "));
  EXPECT_NE(text.find("\"encoding\":\"drs-30\""), std::string::npos);
}

TEST(ModelFile, RefusesWhatIsNoModel) {
  expect_refusal("", "not a model");
  expect_refusal("{\"model\": 1}", "not a model");
  expect_refusal("evenkeel-mode", "not a model");
}

TEST(ModelFile, RefusesANewerVersionByNumber) {
  expect_refusal("evenkeel-model 2 anything\nat all", "file version 2, this program reads version 1");
}

TEST(ModelFile, RefusesAFirstLineThatMakesNoSense) {
  for (const char* line :
       {"evenkeel-model \n", "evenkeel-model x\n", "evenkeel-model 1 2\n", "evenkeel-model 1 2 3 4\n",
        "evenkeel-model 1 -5 3 01234567\n", "evenkeel-model 1 2 3 01234567"})
    expect_refusal(line, "first line is damaged or cut short");
}

TEST(ModelFile, RefusesATruncatedFileWhereverItWasCut) {
  const std::string text = serialise(sample());
  for (std::size_t length = 0; length < text.size(); ++length)
    ASSERT_FALSE(parse_model(text.substr(0, length))) << length;
  expect_refusal(text.substr(0, text.size() - 1), "cut short or damaged");
  expect_refusal(text + "x", "cut short or damaged");
}

TEST(ModelFile, RefusesEveryFlippedByte) {
  const std::string text = serialise(sample());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    ASSERT_FALSE(parse_model(damaged)) << i;
  }
  std::string damaged = text;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  expect_refusal(damaged, "checksum");
}

TEST(ModelFile, RefusesCountsThatWouldOverflow) {
  expect_refusal("evenkeel-model 1 0 2305843009213693952 00000000\n", "cut short or damaged");
  expect_refusal("evenkeel-model 1 18446744073709551615 1 00000000\n", "cut short or damaged");
}

TEST(ModelFile, RefusesAParameterThatIsNotFinite) {
  for (const Real bad : {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity()}) {
    Model model = sample();
    model.networks[1].parameters[7] = bad;
    expect_refusal(serialise(model), "parameter 7 of network 'critic' is not a finite number");
  }
}

TEST(ModelFile, RefusesSizesThatDoNotFit) {
  expect_refusal(rewritten("\"hidden\":[5,4]", "\"hidden\":[5,5]"), "network 'critic' needs");
  expect_refusal(rewritten("\"hidden\":[5,4]", "\"hidden\":[4,4]"), "parameters belong to no network");
  expect_refusal(rewritten("\"inputs\":3", "\"inputs\":0"), "networks[0].inputs is 0, expected 1 to 65536");
  expect_refusal(rewritten("\"inputs\":3", "\"inputs\":99999999999"), "networks[0].inputs is 99999999999");
  expect_refusal(rewritten("\"hidden\":[4]", "\"hidden\":[\"4\"]"), "networks[0].hidden is \"4\"");
}

TEST(ModelFile, RefusesAHeaderWithoutSenseByField) {
  expect_refusal(rewritten("{", "["), "not JSON");
  expect_refusal(rewritten("\"encoding\"", "\"encodung\""), "encoding is missing");
  expect_refusal(rewritten("\"encoding\":\"drs-30\"", "\"encoding\":30"), "encoding is not text");
  expect_refusal(rewritten("\"relu\"", "\"step\""),
                 "networks[0].activation is 'step', expected relu or tanh");
  expect_refusal(rewritten("\"high\":100.0", "\"high\":-100"), "normalisation[0].low is not below high");
  expect_refusal(rewritten("\"imbalance\":0.0731", "\"imbalance\":null"),
                 "figures.imbalance is not a number");
  expect_refusal(rewritten("\"drs-even seed 1\"", "1"), "training_worlds holds 1");
  expect_refusal(rewritten("\"critic\"", "\"actor\""), "two networks are named 'actor'");
}

TEST(ModelFile, RefusesAnotherEncodingByName) {
  const Result<Model> model = parse_model(serialise(sample()), "evenkeel-2");
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message.find("encoding 'drs-30', this policy's is 'evenkeel-2'"),
            std::string::npos);
}

}  // namespace
}  // namespace evenkeel::learning

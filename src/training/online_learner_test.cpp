#include "training/online_learner.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>
#include <thread>

#include "base/file.h"

namespace evenkeel::training {
namespace {

using namespace std::chrono_literals;
using scheduling::drs_settings;
using scheduling::Lesson;
using Names = std::vector<std::string>;

constexpr auto kPatience = 30s;

class Folder {
 public:
  Folder() {
    std::string pattern = testing::TempDir() + "online_learner_XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// A world of one step: the first node is worth 1, all others nothing.
Lesson lesson(Random& random, std::size_t nodes, std::uint64_t sequence) {
  Lesson lesson;
  for (std::size_t i = 0; i < (nodes + 1) * kDimensions; ++i) lesson.state.push_back(random.uniform());
  lesson.next_state = lesson.state;
  lesson.allowed = lesson.next_allowed = learning::Mask(nodes, 1);
  lesson.action = static_cast<int>(random.below(nodes));
  lesson.log_probability = -std::log(static_cast<double>(nodes));
  lesson.reward = lesson.action == 0 ? 1 : 0;
  lesson.sequence = sequence;
  return lesson;
}

Names node_names(std::size_t count) {
  Names names;
  for (std::size_t i = 0; i < count; ++i) names.push_back("node-" + std::to_string(i));
  return names;
}

std::unique_ptr<OnlineLearner> start(std::string_view policy, OnlineLearner::Options options = {}) {
  return std::make_unique<OnlineLearner>(std::move(options),
                                         make_drs_student(*drs_settings(policy), nullptr, 1));
}

void feed(OnlineLearner& learner, std::size_t lessons, std::size_t nodes = 3, std::uint64_t from = 0) {
  Random random(from + 7);
  for (std::size_t i = 0; i < lessons; ++i) learner.teach(lesson(random, nodes, from + i));
}

// Whoever takes news never waits, and gets none while the trainer is at the lock: it is asked again.
bool heard(OnlineLearner& learner, const std::string& text) {
  for (int i = 0; i < 50; ++i) {
    for (const std::string& line : learner.take_news())
      if (line.find(text) != std::string::npos) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

TEST(OnlineLearner, LearnsElsewhereAndPublishesWhatItLearnt) {
  for (const std::string_view policy : {"drs", "drs-double", "drs-dueling", "drs-sac", "drs-ppo"}) {
    const auto learner = start(policy);
    EXPECT_FALSE(learner->weights()) << "nothing is laid out yet";
    learner->lay_out(node_names(3));
    ASSERT_TRUE(learner->settle(kPatience));
    ASSERT_TRUE(learner->weights());
    EXPECT_FALSE(learner->weights()->decides);
    const auto before = learner->weights();
    const std::vector<learning::Real> frozen(before->network.parameters().begin(),
                                             before->network.parameters().end());
    feed(*learner, policy == "drs-ppo" ? 4000 : 200);
    ASSERT_TRUE(learner->settle(kPatience));
    const auto after = learner->weights();
    EXPECT_TRUE(after->decides) << policy;
    EXPECT_GT(after->updates, 100U) << policy;
    EXPECT_EQ(after->nodes, node_names(3));
    EXPECT_TRUE(std::equal(frozen.begin(), frozen.end(), before->network.parameters().begin()))
        << "what was published never changes";
    const std::vector<learning::Real> state(24, 0.5);
    const learning::Vector opinion = after->network.forward(state);
    EXPECT_EQ(learning::best_allowed({opinion.data(), 3}, {}), 0) << policy;
    EXPECT_EQ(learner->progress().refused, 0U);
  }
}

TEST(OnlineLearner, NeverMakesWhoeverDecidesWait) {
  const auto learner = start("drs", {.queue = 100});
  learner->lay_out(node_names(3));
  ASSERT_TRUE(learner->settle(kPatience));
  learner->pause(true);
  feed(*learner, 1000);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(learner->weights());
  EXPECT_GE(learner->progress().dropped, 900U) << "the oldest, counted";
  learner->pause(false);
  ASSERT_TRUE(learner->settle(kPatience));
  EXPECT_LE(learner->progress().lessons, 101U);
  EXPECT_EQ(learner->progress().lessons + learner->progress().dropped, 1000U);
}

TEST(OnlineLearner, RefusesAndCountsWhatIsNoNumberOrDoesNotFit) {
  for (const std::string_view policy : {"drs", "drs-sac", "drs-ppo"}) {
    const auto learner = start(policy);
    learner->lay_out(node_names(3));
    Random random(3);
    std::uint64_t bad = 0;
    for (std::uint64_t i = 0; i < 600; ++i) {
      Lesson next = lesson(random, 3, i);
      if (i % 5 == 0) next.reward = std::nan("");
      if (i % 7 == 0) next.state[2] = std::numeric_limits<double>::infinity();
      if (i % 11 == 0) next.next_state[0] = std::nan("");
      if (i % 13 == 0) next = lesson(random, 4, i);
      if (i % 17 == 0) next.action = -1;
      if (i % 19 == 0 && i % 5 != 0) next.reward = 1e308;  // a number, and still ruinous
      bad += i % 5 == 0 || i % 7 == 0 || i % 11 == 0 || i % 13 == 0 || i % 17 == 0 ? 1 : 0;
      learner->teach(std::move(next));
      const auto weights = learner->weights();
      ASSERT_TRUE(!weights || learning::all_finite(weights->network.parameters()));
    }
    ASSERT_TRUE(learner->settle(kPatience));
    EXPECT_GE(learner->progress().refused, bad) << policy;
    EXPECT_TRUE(learning::all_finite(learner->weights()->network.parameters()));
  }
}

// Goes wrong at every third update.
class Fickle final : public Student {
 public:
  std::string encoding() const override { return "fickle"; }
  bool lay_out(const Names& nodes) override {
    nodes_ = nodes;
    return true;
  }
  const Names& nodes() const override { return nodes_; }
  Studied study(Lesson) override {
    weight_ = ++updates_ % 3 == 0 ? std::nan("") : static_cast<double>(updates_);
    return {true, 0.0};
  }
  std::uint64_t updates() const override { return updates_; }
  bool began_from_model() const override { return true; }
  std::uint64_t lessons_before_learning() const override { return 0; }
  bool is_finite() const override { return std::isfinite(weight_); }
  learning::Network network() const override {
    learning::Network network({1, {}, 1, learning::Activation::relu});
    network.parameters()[0] = weight_;
    return network;
  }
  learning::SavedState save() const override {
    learning::SavedState state;
    state.put("weight", std::span<const learning::Real>(&weight_, 1));
    return state;
  }
  Status restore(learning::SavedState state) override {
    state.reals("weight", std::span(&weight_, 1));
    return state.status();
  }

 private:
  Names nodes_;
  learning::Real weight_ = 0;
  std::uint64_t updates_ = 0;
};

TEST(OnlineLearner, UndoesAnUpdateThatCameOutAsNoNumber) {
  OnlineLearner learner({}, std::make_unique<Fickle>());
  learner.lay_out({"a"});
  for (int i = 0; i < 300; ++i) {
    learner.teach({});
    const auto weights = learner.weights();
    ASSERT_TRUE(!weights || learning::all_finite(weights->network.parameters()));
  }
  ASSERT_TRUE(learner.settle(kPatience));
  EXPECT_EQ(learner.progress().rolled_back, 100U);
  EXPECT_TRUE(learning::all_finite(learner.weights()->network.parameters()));
  EXPECT_TRUE(heard(learner, "no number"));
  EXPECT_FALSE(heard(learner, "no number")) << "once is enough";
}

TEST(OnlineLearner, BeginsAnewFromKeptExperienceWhereTheNodesAreOthers) {
  const auto learner = start("drs");
  learner->lay_out(node_names(3));
  feed(*learner, 300);
  ASSERT_TRUE(learner->settle(kPatience));
  const std::uint64_t updates = learner->weights()->updates;
  learner->lay_out({"node-0", "another", "node-2"});
  ASSERT_TRUE(learner->settle(kPatience));
  EXPECT_EQ(learner->weights()->updates, updates) << "a place was taken over, nothing more";
  learner->lay_out({"node-5", "node-0", "node-2", "node-6"});
  ASSERT_TRUE(learner->settle(kPatience));
  const auto weights = learner->weights();
  EXPECT_EQ(learner->progress().restarts, 1U);
  EXPECT_TRUE(heard(*learner, "4 nodes instead of 3"));
  EXPECT_EQ(weights->nodes.size(), 4U);
  EXPECT_GT(weights->updates, 100U) << "from what was kept of the two that stayed";
  const std::vector<learning::Real> state(30, 0.5);
  const learning::Vector opinion = weights->network.forward(state);
  EXPECT_GT(opinion[1], opinion[2]) << "node-0 is still the good one, node-2 not";
}

TEST(OnlineLearner, GoesOnAfterARestartWhereItWas) {
  for (const std::string_view policy : {"drs", "drs-dueling", "drs-sac", "drs-ppo"}) {
    const Folder folder;
    const OnlineLearner::Options options{.checkpoint = folder.file("drs.checkpoint")};
    auto learner = start(policy, options);
    learner->lay_out(node_names(3));
    feed(*learner, 320);
    learner->stop();
    const auto before = learner->weights();
    learner.reset();

    const auto again = start(policy, options);
    const auto after = again->weights();
    ASSERT_TRUE(after) << "from the first decision on";
    EXPECT_EQ(after->updates, before->updates) << policy;
    EXPECT_EQ(after->decides, before->decides);
    EXPECT_EQ(after->nodes, before->nodes);
    EXPECT_TRUE(std::equal(after->network.parameters().begin(), after->network.parameters().end(),
                           before->network.parameters().begin()));
    feed(*again, 64, 3, 1000);
    ASSERT_TRUE(again->settle(kPatience));
    EXPECT_GT(again->weights()->updates, before->updates) << policy;
  }
}

TEST(OnlineLearner, PutsAsideACheckpointThatIsDamagedOrAnothers) {
  const Folder folder;
  const std::string file = folder.file("drs.checkpoint");
  {
    const auto learner = start("drs", {.checkpoint = file});
    learner->lay_out(node_names(3));
    feed(*learner, 50);
  }
  const std::string whole = *read_file(file);
  Random random(5);
  for (int i = 0; i < 40; ++i) {
    std::string damaged = whole;
    if (i % 2 == 0)
      damaged.resize(random.below(whole.size()));
    else
      damaged[random.below(whole.size())] ^= static_cast<char>(1 + random.below(255));
    ASSERT_TRUE(write_file(file, damaged));
    const auto learner = start("drs", {.checkpoint = file});
    ASSERT_FALSE(learner->weights()) << "never loaded";
    EXPECT_TRUE(heard(*learner, file + ".refused"));
    EXPECT_FALSE(std::filesystem::exists(file));
  }
  ASSERT_TRUE(write_file(file, whole));
  const auto other = start("drs-sac", {.checkpoint = file});
  EXPECT_FALSE(other->weights());
  EXPECT_TRUE(heard(*other, "made for 'drs-50'"));
}

TEST(OnlineLearner, WritesAndMovesNothingWhereItMayOnlyRead) {
  const Folder folder;
  const std::string file = folder.file("drs.checkpoint");
  ASSERT_TRUE(write_file(file, "damaged"));
  const OnlineLearner::Options reading{.checkpoint = file, .writes = false, .checkpoint_every = 1ms};
  {
    const auto learner = start("drs", reading);
    EXPECT_TRUE(heard(*learner, "learning begins without it"));
    learner->lay_out(node_names(3));
    feed(*learner, 50);
    ASSERT_TRUE(learner->settle(kPatience));
    EXPECT_GT(learner->progress().lessons, 0U);
  }
  EXPECT_EQ(*read_file(file), "damaged");
  EXPECT_FALSE(std::filesystem::exists(file + ".refused"));
  ASSERT_TRUE(std::filesystem::remove(file));
  feed(*start("drs", reading), 1);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(OnlineLearner, GoesOnLearningWhereNothingCanBeWritten) {
  const Folder folder;
  const auto learner =
      start("drs", {.checkpoint = folder.file("missing/drs.checkpoint"), .checkpoint_every = 1ms});
  learner->lay_out(node_names(3));
  for (int i = 0; i < 5; ++i) {
    feed(*learner, 40, 3, static_cast<std::uint64_t>(40 * i));
    ASSERT_TRUE(learner->settle(kPatience));
    std::this_thread::sleep_for(5ms);
  }
  learner->stop();
  EXPECT_GT(learner->progress().checkpoint_failures, 1U);
  EXPECT_GT(learner->weights()->updates, 100U);
  EXPECT_TRUE(heard(*learner, "no checkpoint"));
  EXPECT_FALSE(heard(*learner, "no checkpoint")) << "said once";
}

#if !defined(__SANITIZE_THREAD__)  // which follows no threads into a fork
TEST(OnlineLearner, KeepsTheLastWholeCheckpointWhereTheDiskIsFull) {
  const Folder folder;
  const std::string file = folder.file("drs.checkpoint");
  {
    const auto learner = start("drs", {.checkpoint = file});
    learner->lay_out(node_names(3));
    feed(*learner, 50);
  }
  const std::string before = *read_file(file);
  const pid_t child = ::fork();
  if (child == 0) {
    (void)std::signal(SIGXFSZ, SIG_IGN);
    const rlimit little{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &little);
    auto learner = start("drs", {.checkpoint = file, .checkpoint_every = 1ms});
    feed(*learner, 200, 3, 500);
    learner->stop();
    const bool right = learner->progress().checkpoint_failures > 0 && learner->progress().checkpoints == 0 &&
                       learner->progress().lessons == 200;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*read_file(file), before);
}

TEST(OnlineLearner, IsTakenUpFromTheLastCheckpointAfterBeingKilledInTraining) {
  const Folder folder;
  const std::string file = folder.file("drs.checkpoint");
  const std::string copy = folder.file("copy");
  const auto updates_put_away = [&]() -> std::uint64_t {
    const auto bytes = read_file(file);
    if (!bytes || !write_file(copy, *bytes)) return 0;
    const auto weights = start("drs", {.checkpoint = copy})->weights();
    return weights ? weights->updates : 0;
  };
  std::uint64_t updates = 0;
  for (int round = 0; round < 5; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto learner = start("drs", {.checkpoint = file, .checkpoint_every = 1ms});
      learner->lay_out(node_names(3));
      for (std::uint64_t i = 0;; i += 50) {
        feed(*learner, 50, 3, i);
        learner->settle(kPatience);
      }
    }
    // The first checkpoints of a life may hold a few lessons and no update yet.
    for (int i = 0; i < 2000 && updates_put_away() <= updates; ++i) std::this_thread::sleep_for(5ms);
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    const auto learner = start("drs", {.checkpoint = file});
    ASSERT_TRUE(learner->weights()) << "whole, whenever it was killed";
    EXPECT_GT(learner->weights()->updates, updates) << "each life went on where the last one ended";
    updates = learner->weights()->updates;
    EXPECT_FALSE(heard(*learner, "refused"));
  }
}
#endif

TEST(OnlineLearner, StopsWhileMuchIsWaiting) {
  const auto learner = start("drs");
  learner->lay_out(node_names(3));
  learner->pause(true);
  feed(*learner, 2000);
  learner->stop();
  EXPECT_EQ(learner->progress().lessons, 2000U);
  feed(*learner, 10);
  EXPECT_TRUE(learner->weights()) << "and may still be asked";
}

}  // namespace
}  // namespace evenkeel::training

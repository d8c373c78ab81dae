#include "apps/learning_metrics.h"

#include <gtest/gtest.h>

#include <cmath>

#include "scheduling/policies/drs_live.h"
#include "scheduling/policies/opt_in_order.h"
#include "scheduling/policies/test_link.h"
#include "scheduling/policies/weighted_scores.h"

namespace evenkeel::apps {
namespace {

class Metrics : public testing::Test {
 protected:
  bool shows(const std::string& line) {
    return ("\n" + registry_.render()).find("\n" + line + "\n") != std::string::npos;
  }
  std::string text() { return registry_.render(); }

  reporting::MetricsRegistry registry_;
  LearningMetrics metrics_{registry_};
  scheduling::TestLink link_;
};

TEST_F(Metrics, ShowHowALearnerIsGettingOnFromTheStart) {
  scheduling::LiveDrs policy(*scheduling::drs_settings("drs"), {}, link_);
  link_.reported = {.lessons = 40,
                    .updates = 9,
                    .dropped = 3,
                    .refused = 2,
                    .rolled_back = 1,
                    .restarts = 4,
                    .checkpoints = 6,
                    .checkpoint_failures = 5,
                    .loss = 0.5,
                    .weights_age_s = 12};
  const LiveProfile profile{"evenkeel", "drs", &policy};
  metrics_.serves({&profile, 1});
  for (const char* line : {
           "evenkeel_learning_decisions_total{profile=\"evenkeel\"} 0",
           "evenkeel_learning_lessons_total{profile=\"evenkeel\"} 40",
           "evenkeel_learning_updates_total{profile=\"evenkeel\"} 9",
           "evenkeel_learning_refused_total{profile=\"evenkeel\"} 2",
           "evenkeel_learning_rolled_back_total{profile=\"evenkeel\"} 1",
           "evenkeel_learning_restarts_total{profile=\"evenkeel\"} 4",
           "evenkeel_learning_checkpoints_total{profile=\"evenkeel\"} 6",
           "evenkeel_learning_checkpoint_failures_total{profile=\"evenkeel\"} 5",
           "evenkeel_learning_dropped_total{profile=\"evenkeel\",reason=\"queue_full\"} 3",
           "evenkeel_learning_dropped_total{profile=\"evenkeel\",reason=\"stale\"} 0",
           "evenkeel_learning_rewards_total{profile=\"evenkeel\",decider=\"trial\"} 0",
           "evenkeel_learning_loss{profile=\"evenkeel\"} 0.5",
           "evenkeel_learning_weights_age_seconds{profile=\"evenkeel\"} 12",
           "evenkeel_learning_exploration_share{profile=\"evenkeel\"} 0.02",
           "evenkeel_learning_decides{profile=\"evenkeel\"} 0",
       })
    EXPECT_TRUE(shows(line)) << line << "\n" << text();
  EXPECT_EQ(text().find("evenkeel_learning_reward{"), std::string::npos) << "a mean of nothing";
}

TEST_F(Metrics, FollowWhatHappensAndNeverShowANumberThatIsNone) {
  auto inner = std::make_unique<scheduling::LiveDrs>(*scheduling::drs_settings("drs"),
                                                     scheduling::LiveLearningOptions{}, link_);
  scheduling::OptInOrder policy(std::move(inner));
  const LiveProfile profile{"evenkeel", "drs+order", &policy};
  metrics_.serves({&profile, 1});
  link_.reported.lessons = 7;
  link_.reported.loss = std::nan("");
  metrics_.refresh();
  EXPECT_TRUE(shows("evenkeel_learning_lessons_total{profile=\"evenkeel\"} 7"));
  EXPECT_TRUE(shows("evenkeel_learning_loss{profile=\"evenkeel\"} 0"));
  metrics_.ended();
  link_.reported.lessons = 8;
  metrics_.refresh();
  EXPECT_TRUE(shows("evenkeel_learning_lessons_total{profile=\"evenkeel\"} 7")) << "its policy may be gone";
}

TEST_F(Metrics, SayNothingOfPoliciesThatDoNotLearn) {
  scheduling::WeightedScores rule;
  const LiveProfile profiles[] = {{"evenkeel", "kube-default", &rule}, {"other", "none", nullptr}};
  metrics_.serves(profiles);
  EXPECT_EQ(text().find("profile="), std::string::npos) << text();
}

}  // namespace
}  // namespace evenkeel::apps

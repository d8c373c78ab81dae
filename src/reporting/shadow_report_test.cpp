#include "reporting/shadow_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace evenkeel::reporting {
namespace {

ShadowComparison comparison(const std::string& pod, const std::string& ours, const std::string& other,
                            double our_imbalance, double other_imbalance) {
  ShadowComparison each;
  each.profile = "evenkeel";
  each.name_space = "shop";
  each.workload = "ReplicaSet web";
  each.pod = pod;
  each.ours = ours;
  each.other = other;
  each.our_imbalance = our_imbalance;
  each.other_imbalance = other_imbalance;
  return each;
}

TEST(ShadowReport, SumsUpByWhatBothChose) {
  ShadowReport report({});
  report.learned_against_rule(comparison("a", "n1", "n1", 0.1, 0.1));
  report.learned_against_rule(comparison("b", "n1", "n2", 0.2, 0.4));
  const auto json = nlohmann::json::parse(report.json());
  const auto& learned = json["learned_vs_rule"];
  EXPECT_EQ(learned["decisions"], 2);
  EXPECT_DOUBLE_EQ(learned["agreement"], 0.5);
  EXPECT_DOUBLE_EQ(learned["imbalance"]["ours"], 0.15);
  EXPECT_DOUBLE_EQ(learned["imbalance"]["other"], 0.25);
  EXPECT_EQ(learned["workloads"]["shop/ReplicaSet web"]["decisions"], 2);
  EXPECT_EQ(json["ours_vs_actual"]["decisions"], 0);
}

TEST(ShadowReport, KeepsTheLargestDifferencesOnly) {
  ShadowReport report({.most_differences = 3});
  for (int i = 0; i < 100; ++i) {
    report.ours_against_actual(comparison("w" + std::to_string(i), "n1", "n2", 0.1 + 0.001 * i, 0.1));
    report.ours_against_actual(comparison("b" + std::to_string(i), "n1", "n2", 0.1, 0.1 + 0.001 * i));
  }
  ASSERT_EQ(report.actual().worst.size(), 3U);
  EXPECT_EQ(report.actual().worst[0].pod, "w99");
  EXPECT_EQ(report.actual().worst[2].pod, "w97");
  EXPECT_EQ(report.actual().best[0].pod, "b99");
}

TEST(ShadowReport, DoesNotGrowWithWhatItSees) {
  ShadowReport report({.most_namespaces = 5, .most_workloads = 5});
  for (int i = 0; i < 100; ++i) {
    ShadowComparison each = comparison("p", "n1", "n2", 0.1, 0.2);
    each.name_space = "n" + std::to_string(i);
    report.ours_against_actual(each);
  }
  EXPECT_EQ(report.actual().namespaces.size(), 6U) << "and those that share a row";
  EXPECT_EQ(report.actual().namespaces.at("(others)").decisions, 95U);
  EXPECT_EQ(report.actual().all.decisions, 100U);
}

TEST(ShadowReport, ReadsForPeople) {
  ShadowReport report({});
  EXPECT_EQ(shadow_text(report.json(), TextStyle::plain), "nothing was compared yet\n");
  report.learned_against_rule(comparison("b", "n1", "n2", 0.2, 0.4));
  const std::string text = shadow_text(report.json(), TextStyle::plain);
  EXPECT_NE(text.find("The learned choice beside the rule's"), std::string::npos);
  EXPECT_NE(text.find("shop/b"), std::string::npos);
  ASSERT_EQ(shadow_summary(report.json()).size(), 1U);
}

TEST(ShadowReport, OfSomebodyElseIsNotTakenForGranted) {
  for (const char* odd :
       {"", "[]", "{", "{}", R"({"learned_vs_rule": 3})",
        R"({"learned_vs_rule": {"decisions": 1, "worst": [3, {"pod": {}}], "namespaces": []}})",
        R"({"ours_vs_actual": {"decisions": 2, "imbalance": "x", "workloads": {"a": 1}}})"}) {
    EXPECT_FALSE(shadow_text(odd, TextStyle::plain).empty());
    (void)shadow_summary(odd);
  }
}

}  // namespace
}  // namespace evenkeel::reporting

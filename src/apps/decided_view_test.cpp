#include "apps/decided_view.h"

#include <gtest/gtest.h>

namespace evenkeel::apps {
namespace {

using reporting::TextStyle;

TEST(DecidedView, ShowsTheLatestDecisionWithItsScores) {
  const std::string text = account_of_decided(
      R"({"decisions":[{"time":"2026-11-17T03:00:00.000000Z","outcome":"scheduled","node":"n2","attempt":2,
          "feasible":3,"evaluated":5,"took_us":85,"binding":"bound",
          "candidates":[{"node":"n2","total":451,"scores":{"TaintToleration":100},"weights":{"TaintToleration":3}}]},
         {"time":"2026-11-17T02:59:00.000000Z","outcome":"bind_failed","node":"n1","attempt":1,
          "binding":"failed","binding_why":"HTTP 409"}]})",
      TextStyle::plain);
  for (const char* part : {"n2", "3 of 5", "TaintToleration x3", "451", "failed: HTTP 409"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(DecidedView, ShowsWhatSpokeAgainstTheNodes) {
  const std::string text = account_of_decided(
      R"({"decisions":[{"outcome":"unschedulable","node":null,
          "reasons":[{"reason":"Insufficient cpu","nodes":3,"plugin":"NodeResourcesFit"}]}]})",
      TextStyle::plain);
  EXPECT_NE(text.find("Insufficient cpu"), std::string::npos) << text;
}

TEST(DecidedView, SurvivesWhateverIsAnswered) {
  for (const char* odd :
       {"", "null", "[]", "<html>", "{\"decisions\":[]}", "{\"decisions\":7}", "{\"decisions\":[7]}",
        "{\"decisions\":[{\"candidates\":[7]}]}", "{\"decisions\":[{\"candidates\":[{\"scores\":3}]}]}",
        "{\"decisions\":[{\"reasons\":[[]]}]}"})
    EXPECT_FALSE(account_of_decided(odd, TextStyle::plain).empty()) << odd;
}

}  // namespace
}  // namespace evenkeel::apps

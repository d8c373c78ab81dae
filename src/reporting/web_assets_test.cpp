#include "reporting/web_assets.h"

#include <gtest/gtest.h>

namespace evenkeel::reporting {
namespace {

TEST(ColourSlots, GivesAPolicyTheSameColourInEveryComparison) {
  const std::vector<std::string> all = {"random", "horizon", "binpack", "kube-default"};
  const std::vector<std::string> few = {"kube-default", "horizon"};
  EXPECT_EQ(colour_slots(all), (std::vector<int>{4, 2, 5, 0}));
  EXPECT_EQ(colour_slots(few), (std::vector<int>{0, 2}));
}

TEST(ColourSlots, BeginsAgainWhenTheColoursRunOut) {
  const std::vector<std::string> many(20, "other");
  for (const int slot : colour_slots(many)) {
    EXPECT_GE(slot, 4);
    EXPECT_LT(slot, kSeriesColours);
  }
}

TEST(PaletteCss, NamesEveryColourInBothSchemes) {
  const std::string css(palette_css());
  for (int slot = 0; slot < kSeriesColours; ++slot) {
    const std::string name = "--series-" + std::to_string(slot) + ":";
    EXPECT_NE(css.find(name), css.rfind(name)) << name;
  }
}

TEST(DashboardPage, IsOneFileThatFetchesNothing) {
  const std::string page(dashboard_page());
  ASSERT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  for (const char* outside : {"src=\"", "href=\"http", "rel=\"stylesheet\"", "@import", "url(http"}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
}

}  // namespace
}  // namespace evenkeel::reporting

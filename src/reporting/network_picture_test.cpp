#include "reporting/network_picture.h"

#include <gtest/gtest.h>

namespace evenkeel::reporting {
namespace {

std::size_t occurrences(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

NetworkPicture shop() {
  return {.title = "A <shop>",
          .nodes = {{"n1", "z1", "west"}, {"n2", "z2", "west"}, {"n3", "z3", "east"}},
          .pods = {{"front", 0}, {"cart", 0}, {"redis", 1}, {"ads", 2}},
          .lines = {{0, 1, 0, "near"}, {1, 2, 5, "far"}, {0, 3, std::nullopt, "who knows"}},
          .legend = "eq. 12"};
}

TEST(NetworkPicture, DrawsRegionsZonesNodesAndPodsByName) {
  const std::string svg = svg_network(shop());
  for (const char* name :
       {"west", "east", "z1", "z2", "z3", "n1", "n2", "n3", "front", "cart", "redis", "ads"})
    EXPECT_NE(svg.find(">" + std::string(name) + "</text>"), std::string::npos) << name;
  EXPECT_EQ(occurrences(svg, "<circle"), 4U);
}

TEST(NetworkPicture, DrawsALineForEachPairOnDifferentNodesAndDotsWhatIsNotKnown) {
  const std::string svg = svg_network(shop());
  EXPECT_EQ(occurrences(svg, "<path"), 2U);
  EXPECT_EQ(occurrences(svg, "stroke-dasharray"), 1U);
}

TEST(NetworkPicture, EscapesEveryString) {
  const std::string svg = svg_network(shop());
  EXPECT_EQ(svg.find("<shop>"), std::string::npos);
  EXPECT_NE(svg.find("A &lt;shop&gt;"), std::string::npos);
}

TEST(NetworkPicture, CountsEmptyNodesWhereThereAreMany) {
  NetworkPicture picture;
  for (int i = 0; i < 500; ++i) picture.nodes.push_back({"n" + std::to_string(i), "z", ""});
  EXPECT_NE(svg_network(picture).find("and 497 without pods"), std::string::npos);
}

TEST(NetworkPicture, LeavesOutWhatPointsNowhere) {
  NetworkPicture picture = shop();
  picture.pods.push_back({"lost", 99});
  picture.lines.push_back({0, 77, 1, ""});
  EXPECT_EQ(occurrences(svg_network(picture), "<circle"), 4U);
}

}  // namespace
}  // namespace evenkeel::reporting

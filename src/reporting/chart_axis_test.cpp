#include "reporting/chart_axis.h"

#include <gtest/gtest.h>

#include <cmath>

namespace evenkeel::reporting {
namespace {

std::vector<std::string> tick_texts(const ChartAxis& axis, const std::vector<double>& values) {
  std::vector<std::string> texts;
  const AxisMapping mapping(axis, values, 0, 100);
  for (const Tick& tick : mapping.ticks()) texts.push_back(tick.text);
  return texts;
}

TEST(AxisMapping, RoundsItsRangeToTicks) {
  EXPECT_EQ(tick_texts({.low = 0.0}, {0.03, 0.137}), (std::vector<std::string>{"0", "0.05", "0.1", "0.15"}));
  EXPECT_EQ(tick_texts({.format = AxisFormat::percent, .low = 0.0, .high = 1.0}, {}),
            (std::vector<std::string>{"0 %", "20 %", "40 %", "60 %", "80 %", "100 %"}));
}

TEST(AxisMapping, CountsTimeAsPeopleDo) {
  EXPECT_EQ(tick_texts({.format = AxisFormat::duration}, {0.0, 3600.0}),
            (std::vector<std::string>{"0", "15 min", "30 min", "45 min", "1 h"}));
}

TEST(AxisMapping, ShowsDecadesOnALogarithmicScale) {
  const ChartAxis axis{.scale = Scale::logarithmic};
  EXPECT_EQ(tick_texts(axis, {10.0, 9000.0}), (std::vector<std::string>{"10", "100", "1000", "10000"}));
  const AxisMapping mapping(axis, {10.0, 1000.0}, 0, 100);
  EXPECT_DOUBLE_EQ(mapping.pixel(100.0), 50.0);
  EXPECT_FALSE(mapping.can_show(0.0));
  EXPECT_LE(tick_texts(axis, {1e-12, 1e12}).size(), 9u);
}

TEST(AxisMapping, KeepsEveryValueInsideTheChart) {
  const AxisMapping mapping({.low = 0.0, .high = 1.0}, {}, 10, 110);
  EXPECT_DOUBLE_EQ(mapping.pixel(5.0), 110.0);
  EXPECT_DOUBLE_EQ(mapping.pixel(-5.0), 10.0);
}

TEST(AxisMapping, CopesWithNothingAndWithOneValue) {
  for (const Scale scale : {Scale::linear, Scale::logarithmic}) {
    for (const std::vector<double>& values :
         {std::vector<double>{}, {5.0}, {0.0, 0.0}, {NAN, INFINITY, -1.0}}) {
      const AxisMapping mapping({.scale = scale}, values, 0, 100);
      EXPECT_GE(mapping.ticks().size(), 1u);
      EXPECT_TRUE(std::isfinite(mapping.pixel(5.0)));
    }
  }
}

}  // namespace
}  // namespace evenkeel::reporting

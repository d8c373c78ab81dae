#include "scheduling/imbalance.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <cmath>

#include "base/random.h"

namespace evenkeel::scheduling {
namespace {

// Shares and reciprocal capacities of n nodes; the last `absent` of them are not there.
struct Field {
  std::array<std::vector<float>, kDimensions> shares, per_unit;
  std::size_t present;

  Field(std::size_t n, std::size_t absent, double spread, Random& random) : present(n - absent) {
    for (std::size_t d = 0; d < kDimensions; ++d) {
      for (std::size_t i = 0; i < n; ++i) {
        const bool here = i < present;
        shares[d].push_back(here ? static_cast<float>(0.3 + spread * (random.uniform() - 0.5)) : 0.0F);
        per_unit[d].push_back(here ? static_cast<float>(1.0 / static_cast<double>(1 + random.below(32)))
                                   : 0.0F);
      }
    }
  }
  static UtilizationField view(const std::array<std::vector<float>, kDimensions>& columns) {
    UtilizationField field;
    for (std::size_t d = 0; d < kDimensions; ++d) field[d] = columns[d];
    return field;
  }
};

double deviation(const std::vector<float>& shares, std::size_t n, std::size_t changed, double added) {
  const auto share = [&](std::size_t i) {
    return static_cast<double>(shares[i]) + (i == changed ? added : 0);
  };
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < n; ++i) sum += share(i);
  const double mean = sum / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) squares += (share(i) - mean) * (share(i) - mean);
  return std::sqrt(squares / static_cast<double>(n));
}

class ImbalanceOf : public testing::TestWithParam<std::size_t> {};

TEST_P(ImbalanceOf, IsTheMeanOfTheStandardDeviations) {
  Random random(GetParam());
  const Field field(GetParam(), GetParam() / 5, 0.4, random);
  double sum = 0;
  for (const auto& shares : field.shares) sum += deviation(shares, field.present, field.present, 0);
  EXPECT_NEAR(imbalance_of(Field::view(field.shares), field.present).value(), sum / kDimensions, 1e-6);
}

// From spreads so small that one pod doubles the variance to those it hardly touches: with
// roots, and without them.
TEST_P(ImbalanceOf, IsForeseenForEveryNode) {
  Random random(GetParam());
  for (const double spread : {0.0, 1e-4, 0.01, 0.1, 0.6}) {
    const Field field(GetParam(), GetParam() / 5, spread, random);
    const Usage added{{0.5, 0.02, 0, 0.3, 1e-4, 2}};
    std::vector<float> costs(GetParam(), 1.0F);
    const UtilizationField shares = Field::view(field.shares);
    add_imbalance_after(shares, Field::view(field.per_unit), imbalance_of(shares, field.present), added, 2,
                        costs);
    for (std::size_t i = 0; i < field.present; i += 1 + field.present / 40) {
      double expected = 1;
      for (std::size_t d = 0; d < kDimensions; ++d)
        if (added.of[d] > 0)
          expected += 2 * deviation(field.shares[d], field.present, i, added.of[d] * field.per_unit[d][i]);
      // Where nodes are all but alike, single precision knows their variance to 1e-9 or so.
      ASSERT_NEAR(costs[i], expected, spread < 0.01 ? 5e-4 : 5e-6) << "spread " << spread << ", node " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, ImbalanceOf, testing::Values(1, 4, 17, 100, 255, 256, 1000, 5000));

TEST(Imbalance, SlopesOrderManyNodesAsTheExactFormulaDoes) {
  Random random(9);
  constexpr std::size_t kNodes = 500;
  std::array<std::vector<float>, kDimensions> now, later, per_unit;
  const auto field = [](const std::array<std::vector<float>, kDimensions>& columns) {
    UtilizationField f;
    for (std::size_t d = 0; d < kDimensions; ++d) f[d] = columns[d];
    return f;
  };
  for (std::size_t d = 0; d < kDimensions; ++d)
    for (std::size_t i = 0; i < kNodes; ++i) {
      now[d].push_back(static_cast<float>(random.between(0.1, 0.6)));
      later[d].push_back(now[d].back() * 0.5F);
      per_unit[d].push_back(static_cast<float>(random.between(0.5, 2)));
    }
  const Usage added{{0.1, 0.05, 0, 0.02, 0, 0}};
  const Outlook moments[] = {{field(now), imbalance_of(field(now), kNodes), 1},
                             {field(later), imbalance_of(field(later), kNodes), 0.5}};
  std::vector<float> exact(kNodes), slopes(kNodes);
  for (const Outlook& moment : moments)
    add_imbalance_after(moment.field, field(per_unit), moment.before, added * moment.share, 1, exact);
  add_imbalance_slopes(moments, field(per_unit), added, 1, slopes);
  for (std::size_t i = 0; i < kNodes; ++i) EXPECT_NEAR(slopes[i], exact[i], 1e-5);
  EXPECT_EQ(std::min_element(slopes.begin(), slopes.end()) - slopes.begin(),
            std::min_element(exact.begin(), exact.end()) - exact.begin());
}

}  // namespace
}  // namespace evenkeel::scheduling

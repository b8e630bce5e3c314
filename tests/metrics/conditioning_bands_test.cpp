#include "metrics/conditioning_bands.hpp"

#include <gtest/gtest.h>

namespace conebench {
namespace {

TEST(ConditioningBands, BeginAtTheirEdges) {
  const ConditioningBands bands;
  EXPECT_EQ(bands.count(), 5U);
  EXPECT_EQ(bands.band_of(1.0), 0U);
  EXPECT_EQ(bands.band_of(99.0), 0U);
  EXPECT_EQ(bands.band_of(100.0), 1U);
  EXPECT_EQ(bands.band_of(1e8), 4U);
  EXPECT_EQ(bands.band_of(std::nullopt), 0U) << "a zero matrix";
}

TEST(ConditioningBands, AreNamedByTheirEdges) {
  const ConditioningBands bands({5.0, 1e3});
  EXPECT_EQ(bands.name(0), "below 5");
  EXPECT_EQ(bands.name(1), "5 to 1e3");
  EXPECT_EQ(bands.name(2), "from 1e3 on");
  EXPECT_EQ(ConditioningBands(std::vector<double>{}).name(0), "any");
}

}  // namespace
}  // namespace conebench

#include "wafer/reference/random.h"

#include <gtest/gtest.h>

namespace wafer::reference {
namespace {

TEST(Random, words_are_those_of_numpys_philox) {
  // numpy.random.Philox(key=7).random_raw(6)
  const std::array<uint64_t, 6> expected = {0xdf4034b829e9fba4, 0x4b9d10cdf8e64087,
                                            0x6b8b857e506aac98, 0x67c7c945b1ba6e52,
                                            0x15352da77ecee8e6, 0xb256888327f72bcc};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(random_word(7, i), expected[i]);
}

TEST(Random, units_are_those_of_numpys_generator) {
  // numpy.random.Generator(numpy.random.Philox(key=7)).random(5)
  const std::array<double, 5> expected = {0.8720734548204873, 0.29536538151378355,
                                          0.4200976785072422, 0.4053922457839946,
                                          0.0828426870273763};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(random_unit(7, i), expected[i]);
}

TEST(Random, uniform_lies_between_its_bounds) {
  // 10 + (20 - 10) * 0.29536538151378355
  EXPECT_DOUBLE_EQ(random_uniform(7, 1, 10, 20), 12.9536538151378355);
}

TEST(Random, normal_is_box_and_muller) {
  // u = Generator(Philox(key=7)).random(6)
  // sqrt(-2 * log1p(-u[0::2])) * cos(2 * pi * u[1::2])
  const std::array<double, 3> expected = {-0.570250515347539, -0.8648582783972415,
                                          -0.1368509641484549};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(random_normal(7, i, 0, 1), expected[i], 1e-15);
  }
  EXPECT_NEAR(random_normal(7, 0, 3, 2), 3 - 2 * 0.570250515347539, 1e-14);
}

}  // namespace
}  // namespace wafer::reference

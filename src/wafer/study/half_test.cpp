#include "wafer/study/half.h"

#include <gtest/gtest.h>

namespace wafer::study {
namespace {

// SHA-256 of "abc" is ba7816bf..., that of "" e3b0c442... (FIPS 180-4 and NIST's examples);
// `printf 218 | sha256sum` begins with 59, 220 with 36.
TEST(Half, is_even_or_odd_by_the_first_byte_of_the_hash_of_the_id) {
  EXPECT_EQ(half_of("abc"), Half::Fitted);
  EXPECT_EQ(half_of(""), Half::Held);
  EXPECT_EQ(half_of("218"), Half::Held);
  EXPECT_EQ(half_of("220"), Half::Fitted);
}

}  // namespace
}  // namespace wafer::study

#include "wafer/reference/random.h"

#include <cmath>
#include <numbers>

namespace wafer::reference {
namespace {

__extension__ using Wide = unsigned __int128;

struct Product {
  uint64_t high, low;
};

Product multiply(uint64_t a, uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return {static_cast<uint64_t>(product >> 64), static_cast<uint64_t>(product)};
}

}  // namespace

std::array<uint64_t, 4> philox(std::array<uint64_t, 4> c, std::array<uint64_t, 2> key) {
  constexpr int Rounds = 10;
  for (int i = 0; i < Rounds; ++i) {
    const Product a = multiply(0xD2E7470EE14C6C93, c[0]);
    const Product b = multiply(0xCA5A826395121157, c[2]);
    c = {b.high ^ c[1] ^ key[0], b.low, a.high ^ c[3] ^ key[1], a.low};
    key[0] += 0x9E3779B97F4A7C15;  // golden ratio
    key[1] += 0xBB67AE8584CAA73B;  // sqrt(3) - 1
  }
  return c;
}

uint64_t random_word(uint64_t seed, uint64_t index) {
  return philox({index / 4 + 1, 0, 0, 0}, {seed, 0})[index % 4];
}

double random_unit(uint64_t seed, uint64_t index) {
  return static_cast<double>(random_word(seed, index) >> 11) * 0x1p-53;
}

double random_uniform(uint64_t seed, uint64_t index, double a, double b) {
  return a + (b - a) * random_unit(seed, index);
}

double random_normal(uint64_t seed, uint64_t index, double mean, double deviation) {
  const double radius = std::sqrt(-2 * std::log1p(-random_unit(seed, 2 * index)));
  return mean +
         deviation * radius * std::cos(2 * std::numbers::pi * random_unit(seed, 2 * index + 1));
}

}  // namespace wafer::reference

#pragma once

#include <array>
#include <cstdint>

namespace wafer::reference {

/// Philox4x64-10, a counter-based generator: block `counter` of the stream of `key`, four words.
/// **Source:** Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11.
std::array<uint64_t, 4> philox(std::array<uint64_t, 4> counter, std::array<uint64_t, 2> key);

/// Word `index` (from 0) of the stream of `seed`: word index % 4 of the block with counter
/// index / 4 + 1. This is the stream of numpy.random.Philox(key=seed).
uint64_t random_word(uint64_t seed, uint64_t index);
/// The same as a double in [0, 1): its upper 53 bits times 2^-53.
double random_unit(uint64_t seed, uint64_t index);

/// Element `index` of rng with distribution uniform: a + (b - a) random_unit(seed, index).
double random_uniform(uint64_t seed, uint64_t index, double a, double b);
/// With distribution normal (Box and Muller): mean + deviation sqrt(-2 ln(1 - u)) cos(2 pi w), u
/// and w being the units 2 index and 2 index + 1.
double random_normal(uint64_t seed, uint64_t index, double mean, double deviation);

}  // namespace wafer::reference

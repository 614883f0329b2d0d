// Seeded mutations of byte strings that know about lengths, integers and primes.
//
// For the driver that runs without libFuzzer. What comes out depends on the seed and the inputs
// alone, so a finding can be had again from its seed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"

namespace cuzk::fuzz {

// SplitMix64 (Steele, Lea, Flood 2014): equal seeds give equal runs on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // Below `bound`; 0 for bound 0.
  std::size_t below(std::size_t bound) {
    return bound == 0 ? 0 : static_cast<std::size_t>(next() % bound);
  }
  bool one_in(std::size_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

// Changes `bytes` in one to four ways; `seeds` serve to splice. The result is at most
// `size_bytes_max` long and may be empty.
void mutate(Random& random, std::span<const base::Bytes> seeds, std::size_t size_bytes_max,
            base::Bytes& bytes);

}  // namespace cuzk::fuzz

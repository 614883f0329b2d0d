// The circuit of chained squarings: y = x^(2^n) with public y, and its files.
#pragma once

#include <filesystem>

#include "base/bytes.h"
#include "base/progress.h"
#include "base/result.h"
#include "curve/groups.h"

namespace cuzk::apps {

// A development key as a zkey, for 2^constraint_log2 - 3 squarings, so that the domain has
// 2^constraint_log2 points.
template <class C>
base::Status write_squaring_key(const std::filesystem::path& zkey, unsigned constraint_log2,
                                base::ProgressSink& progress);

// The witness of x as a .wtns file, and y.
template <class C>
struct SquaringWitness {
  base::Bytes wtns;
  typename C::Fr output;
};
template <class C>
SquaringWitness<C> squaring_witness(unsigned constraint_log2, std::uint64_t x);

#define CUZK_APPS_SQUARINGS(C)                                                               \
  extern template base::Status write_squaring_key<C>(const std::filesystem::path&, unsigned, \
                                                     base::ProgressSink&);                   \
  extern template SquaringWitness<C> squaring_witness<C>(unsigned, std::uint64_t)
CUZK_APPS_SQUARINGS(curve::Bls12_381);
CUZK_APPS_SQUARINGS(curve::Bn254);
#undef CUZK_APPS_SQUARINGS

}  // namespace cuzk::apps

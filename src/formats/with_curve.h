// From the curve that a file names at run time to the type that code is written for.
//
// The one place that lists the curves for dispatch; a new curve is added here and in curve_id.h.
// Code below it is instantiated once a curve, so callers keep what depends on the curve small.
#pragma once

#include <type_traits>

#include "base/check.h"
#include "formats/curve_id.h"

namespace cuzk::formats {

// Calls `work` with the curve as a tag and returns what it returns, the same type for every curve:
//   with_curve(header.curve, [&]<class C>(std::type_identity<C>) { return prove_over<C>(...); })
template <class Work>
auto with_curve(CurveId id, Work&& work) {
  switch (id) {
    case CurveId::kBn254: return work(std::type_identity<curve::Bn254>());
    case CurveId::kBls12_381: return work(std::type_identity<curve::Bls12_381>());
  }
  CUZK_ASSERT(false);  // no other value exists
}

}  // namespace cuzk::formats

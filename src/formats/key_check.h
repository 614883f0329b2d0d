// How far the points of a key file are trusted: the levels, one point read, a whole query scanned.
//
// A full check of a key of many gigabytes takes longer than many proofs, and a prover gains nothing
// by it: a bad point gives a proof that does not verify and is not given out. So the level is a
// choice, and only what a verifier relies on is always checked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/progress.h"
#include "base/result.h"
#include "curve/groups.h"
#include "msm/point_source.h"

namespace cuzk::formats {

// Each level includes the ones before it; they are compared by order.
enum class KeyCheck {
  kNone,       // not looked at; a damaged point shows when the finished proof does not verify
  kCanonical,  // flag bits, coordinates below p, infinity only where it may be: a scan at disk
               // speed
  kOnCurve,    // and the curve equation
  kSubgroup,   // and membership in the subgroup of order r
};

// What a reader of keys checks, and whom it tells how far it is. The verifying key decides what is
// accepted, so its points are always read and by default checked in full; the prover's queries can
// only make a proof that fails.
struct KeyCheckOptions {
  KeyCheck verifying_key = KeyCheck::kSubgroup;
  KeyCheck queries = KeyCheck::kNone;
  base::ProgressSink* progress = nullptr;  // told of query scans; may be null
};

// Whether the point at infinity may stand in a place. bellperson's files have none; a zkey has it
// for a wire that does not occur in a query.
enum class Infinity { kRefused, kAccepted };

// A named stretch of a key file, for `inspect` and for digests. Offsets count from the file's
// start.
struct SectionFacts {
  std::string name;
  std::uint64_t offset_bytes = 0, size_bytes = 0;
  std::uint64_t count = 0;  // records in it
};

// The point encoded at `bytes` (PointSource<G>::kPointBytes of them). `check` kNone acts as
// kCanonical here, since a point that is used as a value must be one. `what` names file and field.
template <class G>
base::Result<curve::Affine<G>> read_point(const std::uint8_t* bytes, msm::PointLayout layout,
                                          KeyCheck check, Infinity infinity, std::string_view what);

// Checks every point of a query, on all threads. The error names the first bad point by its index;
// kIo when that point changed during the check.
template <class G>
base::Status check_points(const msm::PointSource<G>& points, KeyCheck check, Infinity infinity,
                          std::string_view what, base::ProgressSink* progress);

#define CUZK_FORMATS_POINT_EXTERN(G)                                                           \
  extern template base::Result<curve::Affine<G>> read_point<G>(                                \
      const std::uint8_t*, msm::PointLayout, KeyCheck, Infinity, std::string_view);            \
  extern template base::Status check_points<G>(const msm::PointSource<G>&, KeyCheck, Infinity, \
                                               std::string_view, base::ProgressSink*);
CUZK_FORMATS_POINT_EXTERN(curve::Bls12_381::G1)
CUZK_FORMATS_POINT_EXTERN(curve::Bls12_381::G2)
CUZK_FORMATS_POINT_EXTERN(curve::Bn254::G1)
CUZK_FORMATS_POINT_EXTERN(curve::Bn254::G2)
#undef CUZK_FORMATS_POINT_EXTERN

}  // namespace cuzk::formats

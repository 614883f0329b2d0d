// Points of key files in both layouts, one at a time and by the million.
//
// The scan decodes each point and drops it: canonical costs comparisons, on-curve a few
// products, the subgroup a short scalar multiplication a point. It makes no sentence for a point;
// the one that failed is read again for it.
#include "formats/key_check.h"

#include <atomic>
#include <type_traits>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/threads.h"
#include "curve/encoding.h"
#include "curve/subgroup.h"

namespace cuzk::formats {
namespace {

using base::Error;
using base::ErrorKind;
using curve::Affine;
using msm::PointLayout;
using msm::PointSource;

static_assert(KeyCheck::kNone < KeyCheck::kCanonical && KeyCheck::kCanonical < KeyCheck::kOnCurve &&
              KeyCheck::kOnCurve < KeyCheck::kSubgroup);

// Points between two looks at the failure flag and two reports of progress.
constexpr std::size_t kScanGrain = 512;

// The level as curve/encoding.h has it, which always checks flags and coordinates.
curve::PointCheck encoding_check(KeyCheck check) {
  switch (check) {
    case KeyCheck::kNone:
    case KeyCheck::kCanonical: return curve::PointCheck::kNone;
    case KeyCheck::kOnCurve: return curve::PointCheck::kOnCurve;
    case KeyCheck::kSubgroup: return curve::PointCheck::kSubgroup;
  }
  return curve::PointCheck::kSubgroup;
}

// `what` names file and place.
Error bad_point(std::string_view what, std::string_view reason) {
  return Error{ErrorKind::kMalformed, fmt::format("{}: {}", what, reason)};
}

// Little-endian Montgomery limbs, which must be below p. Advances `bytes`.
template <class F>
bool read_native(const std::uint8_t*& bytes, F& out) {
  static_assert(sizeof(F) == F::kByteCount);  // the file's form is that of memory
  const auto limbs = field::load_le<F::kLimbCount>(bytes);
  bytes += F::kByteCount;
  out = F::from_montgomery(limbs);
  return field::less(limbs, F::Params::kModulus);
}

// Both halves are read, so that `bytes` advances past the element also when one is bad.
template <class F>
bool read_native(const std::uint8_t*& bytes, field::Quadratic<F>& out) {
  const bool low = read_native(bytes, out.c0);
  return read_native(bytes, out.c1) && low;
}

// Infinity, (0, 0), passes here at every level: whether it may stand there is the caller's
// question.
template <class G>
base::Result<Affine<G>> read_native_point(const std::uint8_t* bytes, KeyCheck check,
                                          std::string_view what) {
  static_assert(sizeof(Affine<G>) == PointSource<G>::kPointBytes);
  Affine<G> point;
  const bool has_x = read_native(bytes, point.x);
  if (!read_native(bytes, point.y) || !has_x) {
    return bad_point(what, "a coordinate is not below the field's modulus");
  }
  if (check >= KeyCheck::kOnCurve && !point.is_on_curve()) {
    return bad_point(what, fmt::format("not a point of {}", G::kName));
  }
  if (check >= KeyCheck::kSubgroup && !curve::is_in_subgroup(point)) {
    return bad_point(what, fmt::format("not in the prime-order subgroup of {}", G::kName));
  }
  return point;
}

// bellman's form. No reader asks for it over BN254.
template <class G>
base::Result<Affine<G>> read_encoded_point(const std::uint8_t* bytes, KeyCheck check,
                                           std::string_view what) {
  const base::ByteSpan span(bytes, PointSource<G>::kPointBytes);
  if constexpr (std::is_same_v<G, curve::Bls12_381::G1>) {
    return curve::decode_g1_uncompressed(span, encoding_check(check), what);
  } else if constexpr (std::is_same_v<G, curve::Bls12_381::G2>) {
    return curve::decode_g2_uncompressed(span, encoding_check(check), what);
  } else {
    CUZK_ASSERT(!"the big-endian layout exists for BLS12-381 only");
  }
}

}  // namespace

template <class G>
base::Result<Affine<G>> read_point(const std::uint8_t* bytes, PointLayout layout, KeyCheck check,
                                   Infinity infinity, std::string_view what) {
  CUZK_ASSERT(bytes != nullptr);
  CUZK_TRY(const Affine<G> point, layout == PointLayout::kNative
                                      ? read_native_point<G>(bytes, check, what)
                                      : read_encoded_point<G>(bytes, check, what));
  if (infinity == Infinity::kRefused && point.is_infinity()) {
    return bad_point(what, "the point at infinity, which may not stand here");
  }
  return point;
}

template <class G>
base::Status check_points(const PointSource<G>& points, KeyCheck check, Infinity infinity,
                          std::string_view what, base::ProgressSink* progress) {
  if (check == KeyCheck::kNone) return base::ok_status();
  if (progress != nullptr) progress->begin_stage(fmt::format("checking {}", what), points.size());
  std::atomic<std::size_t> first_bad{points.size()};
  const auto is_bad = [&](std::size_t i) {
    const std::uint8_t* bytes = points.bytes() + i * PointSource<G>::kPointBytes;
    return !read_point<G>(bytes, points.layout(), check, infinity, "").ok();
  };
  // Every index below the smallest bad one is looked at, whatever the order of the ranges, so the
  // point that is named does not depend on the threads.
  base::parallel_for(0, points.size(), kScanGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last && i < first_bad.load(std::memory_order_relaxed); ++i) {
      if (!is_bad(i)) continue;
      std::size_t seen = first_bad.load();
      while (i < seen && !first_bad.compare_exchange_weak(seen, i)) {
      }
    }
    if (progress != nullptr) progress->advance(last - first);
  });
  const std::size_t bad = first_bad.load();
  CUZK_ASSERT(bad <= points.size());
  if (bad == points.size()) return base::ok_status();
  // Read again for its sentence, which the scan does not make. The points may lie in a file that
  // others write to, so by now this one may be good.
  const std::uint8_t* bytes = points.bytes() + bad * PointSource<G>::kPointBytes;
  const std::string name = fmt::format("{}: point {} of {}", what, bad, points.size());
  CUZK_TRY_STATUS(read_point<G>(bytes, points.layout(), check, infinity, name));
  return Error{ErrorKind::kIo, fmt::format("{} changed while it was read", name)};
}

#define CUZK_FORMATS_POINT_INSTANTIATE(G)                                                    \
  template base::Result<Affine<G>> read_point<G>(const std::uint8_t*, PointLayout, KeyCheck, \
                                                 Infinity, std::string_view);                \
  template base::Status check_points<G>(const PointSource<G>&, KeyCheck, Infinity,           \
                                        std::string_view, base::ProgressSink*);
CUZK_FORMATS_POINT_INSTANTIATE(curve::Bls12_381::G1)
CUZK_FORMATS_POINT_INSTANTIATE(curve::Bls12_381::G2)
CUZK_FORMATS_POINT_INSTANTIATE(curve::Bn254::G1)
CUZK_FORMATS_POINT_INSTANTIATE(curve::Bn254::G2)

}  // namespace cuzk::formats

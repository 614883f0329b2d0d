// Batched affine additions, the one hot loop of this room, behind a table per CPU level.
//
// A kernel keeps points as opaque rows of `row_bytes`, aligned to 64 bytes; a row of zero bytes is
// infinity. Additions come as lists of pairs without dependencies among each other, so that a whole
// list shares one field inversion (Montgomery's trick). All kernels are complete: equal, opposite
// and infinite operands give the right answer at full speed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "curve/groups.h"

namespace cuzk::msm {

// rows out[out] = left_rows[left] + right_rows[right]. The lowest bit of `left` and `right` negates
// that operand, the rest is a row index.
struct AddPair {
  std::uint32_t left, right, out;
};

// The operand of row `index` (below 2^31), negated or not.
constexpr std::uint32_t operand(std::size_t index, bool negated = false) {
  CUZK_DEBUG_ASSERT(index < std::size_t{1} << 31);
  return static_cast<std::uint32_t>(index << 1 | (negated ? 1 : 0));
}

// Pure functions, which any thread may call, each with scratch of its own. Rows of one kernel mean
// nothing to another, so an operation takes one kernel and keeps it to its end.
template <class G>
struct PointKernel {
  const char* name;
  std::size_t row_bytes;
  std::size_t scratch_bytes;  // that add_pairs needs

  // Points into rows and back. `rows` has count * row_bytes.
  void (*pack)(const curve::Affine<G>* points, std::size_t count, std::uint8_t* rows);
  void (*unpack)(const std::uint8_t* rows, std::size_t count, curve::Affine<G>* points);
  // One row, negated when asked.
  void (*copy)(const std::uint8_t* row, bool negated, std::uint8_t* out);
  // Carries out `count` pairs in any order. An out row may be the same row as the left or right row
  // of its own pair (when the arrays coincide) and of no other pair.
  void (*add_pairs)(const std::uint8_t* left_rows, const std::uint8_t* right_rows,
                    std::uint8_t* out_rows, const AddPair* pairs, std::size_t count,
                    std::uint8_t* scratch);
};

// Works on every machine; the twin of all others in tests.
template <class G>
const PointKernel<G>& portable_point_kernel();

// AVX-512 IFMA; nullptr when this build or this machine does not have it.
template <class G>
const PointKernel<G>* ifma_point_kernel();

// The kernel of the active CPU level (base/cpu.h).
template <class G>
const PointKernel<G>& point_kernel();

}  // namespace cuzk::msm

// How the kernels of pairs move points: from global to shared memory behind the threads' backs.
//
// A lane has a slot in shared memory. Either it fetches its own points, or the warp shares the work
// so that neighbouring lanes touch neighbouring bytes. Measured over 6.4 GB (H200): 8 G points a
// second alone, 24 G together (docs/math/cuda_msm.md).
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/device/code.h"
#include "cuda/msm/bucket_kernels.cuh"
#include "cuda/msm/pairs.h"

namespace cuzk::cuda::msm {

// An entry that is not there: no pair's second, or a lane past the end of its run.
inline constexpr std::uint32_t kNoEntry = 0xffffffff;

// Slots of a warp's lanes in shared memory are an odd number of 16-byte pieces apart, so that
// neighbours meet no common banks.
constexpr int odd_slot(int bytes) { return bytes / 16 % 2 == 1 ? bytes : bytes + 16; }
static_assert(odd_slot(144) == 144 && odd_slot(96) == 112);
// Forward: two x, then a partial product on its way out. Backward: two points and a partial
// product; where the warp works together also a sum on its way out.
template <class T>
inline constexpr int kForwardSlotBytes = odd_slot(3 * sizeof(T));
template <class T>
inline constexpr int kAloneSlotBytes = odd_slot(2 * sizeof(AffinePoint<T>) + sizeof(T));
template <class T>
inline constexpr int kTogetherSlotBytes = odd_slot(3 * sizeof(AffinePoint<T>) + sizeof(T));

// 16 bytes from global to shared memory, not through registers.
__device__ inline void start_copy(void* shared, const void* global) {
#if CUZK_DEVICE_CODE
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<std::uint32_t>(__cvta_generic_to_shared(shared))),
               "l"(global)
               : "memory");
#endif
}
// Waits for the copies that this thread began.
__device__ inline void wait_for_own_copies() {
#if CUZK_DEVICE_CODE
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
// Waits for the copies of all lanes of the warp.
__device__ inline void wait_for_copies() {
  wait_for_own_copies();
  __syncwarp();
}
// The lane, asked anew at each use: what follows from it is cheaper than registers that hold it.
__device__ inline int lane_now() {
  int lane = 0;
#if CUZK_DEVICE_CODE
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
#endif
  return lane;
}

// The entries of one output, as indices into the bases. An index of kNoEntry stands for no point:
// its copy is skipped, and what lies in its slot is never used.
template <class T>
struct PairIndices {
  std::uint32_t index[2] = {kNoEntry, kNoEntry};
  bool is_pair = false;

  template <class Walker>
  __device__ void read(const WindowList<T>& list, const Walker& walker) {
    const std::uint32_t entry = walker.first_entry();
    is_pair = walker.is_pair();
    index[0] = list.index_of(entry);
    index[1] = is_pair ? list.index_of(entry + 1) : kNoEntry;
  }
  // Point i of the lane, which has come to its slot, without and with its sign.
  __device__ static AffinePoint<T> raw_point(const std::byte* slot, int i) {
    return reinterpret_cast<const AffinePoint<T>*>(slot)[i];
  }
  __device__ AffinePoint<T> point(const std::byte* slot, int i) const {
    AffinePoint<T> out = reinterpret_cast<const AffinePoint<T>*>(slot)[i];
    if ((index[i] & kSignBit) != 0) out.y = -out.y;
    return out;
  }
  // What few pairs need, out of the way of a prime field's short code. Over an extension field,
  // whose products are calls in any case, all pairs share one way: with two it is 5 % slower.
  __device__ static CUZK_OUT_OF_LINE PairKind exact_denominator(const AffinePoint<T>& p,
                                                                const AffinePoint<T>& q, T& out) {
    if (!pair_denominator(p, q, out)) return PairKind::kNoSlope;
    return p.x == q.x ? PairKind::kTangent : PairKind::kChord;
  }
  __device__ static CUZK_OUT_OF_LINE void exact_sum(AffinePoint<T>& p, const AffinePoint<T>& q,
                                                    PairKind kind, const T& inverse) {
    p = pair_sum(p, q, kind != PairKind::kNoSlope, inverse.normalised());
  }
  // The pair's kind and a lazy denominator; reads y only where x does not decide.
  __device__ PairKind denominator(const std::byte* slot, T& out) const {
    if (!is_pair) return PairKind::kNoSlope;
    const auto* points = reinterpret_cast<const AffinePoint<T>*>(slot);
    const T p = points[0].x, q = points[1].x;
    out = T::loose_difference(q, p);
    if (!out.may_be_zero() && !p.may_be_zero() && !q.may_be_zero()) return PairKind::kChord;
    if constexpr (!T::kIsLazy) {
      const bool has_slope = pair_denominator(point(slot, 0), point(slot, 1), out);
      return has_slope ? PairKind::kTangent : PairKind::kNoSlope;
    }
    T exact;  // a copy, so that only this rare path takes an address
    const PairKind kind = exact_denominator(point(slot, 0), point(slot, 1), exact);
    out = exact;
    return kind;
  }
  // The sum of the points as they came from the slot, signs not yet applied.
  __device__ AffinePoint<T> sum(PairKind kind, AffinePoint<T> p, AffinePoint<T> q,
                                const T& inverse) const {
    const bool negates_p = (index[0] & kSignBit) != 0, negates_q = (index[1] & kSignBit) != 0;
    if (T::kIsLazy && kind == PairKind::kChord) {
      if (negates_p) p.y = p.y.loose_negated();
      if (negates_q) q.y = q.y.loose_negated();
      return chord_sum(p, q, inverse);
    }
    if (negates_p) p.y = -p.y;
    if (!is_pair) return p;
    if (negates_q) q.y = -q.y;
    if constexpr (!T::kIsLazy) return pair_sum(p, q, kind != PairKind::kNoSlope, inverse);
    const T exact_inverse = inverse;
    AffinePoint<T> other = p;
    exact_sum(other, q, kind, exact_inverse);
    return other;
  }
  // The partial product that came with the points.
  __device__ static T partial(const std::byte* slot) {
    return *reinterpret_cast<const T*>(slot + 2 * sizeof(AffinePoint<T>));
  }
  // Copies the points to the slot, and the partial product if it will be needed.
  __device__ void start_own_points(const AffinePoint<T>* bases, const T* from,
                                   std::byte* slot) const {
    start_own(slot, bases + (index[0] & ~kSignBit));
    if (!is_pair) return;
    start_own(slot + sizeof(AffinePoint<T>), bases + (index[1] & ~kSignBit));
    start_own(slot + 2 * sizeof(AffinePoint<T>), from);
  }
  // Copies the first kBytes bytes of the points of all lanes to their slots. The warp shares the
  // work: neighbouring lanes copy neighbouring pieces of one point, so that a point is one request
  // or two to memory and not one for each piece, which is what limits gathers.
  template <int kBytes, int kSlotBytes>
  __device__ void start_points(const AffinePoint<T>* bases, std::byte* warp_slots) const {
    constexpr int kPieces = kBytes / 16, kPeriod = kPieces % 3 == 0 ? 3 : 1;
    constexpr int kPoints = 32 * kPeriod / kPieces;  // in a period
    static_assert(kBytes % 16 == 0 && 32 * kPeriod % kPieces == 0 && 32 % kPoints == 0);
    constexpr std::uint32_t kNoPlace = kNoEntry & ~kSignBit;
    const std::uint32_t places[2] = {index[0] & ~kSignBit, index[1] & ~kSignBit};
    const int lane = lane_now();
    CUZK_UNROLL for (int b = 0; b < kPeriod; ++b) {
      const int piece = 32 * b + lane, point = piece / kPieces, part = piece % kPieces;
      std::byte* to = warp_slots + point * kSlotBytes + part * 16;
      const std::byte* from = reinterpret_cast<const std::byte*>(bases) + part * 16;
      CUZK_UNROLL for (int a = 0; a < 32; a += kPoints) {
        CUZK_UNROLL for (int i = 0; i < 2; ++i) {
          const std::uint32_t place = __shfl_sync(0xffffffff, places[i], point + a);
          if (place == kNoPlace) continue;
          start_copy(to + a * kSlotBytes + i * kBytes,
                     from + std::size_t{place} * sizeof(AffinePoint<T>));
        }
      }
    }
  }

 private:
  template <class V>
  __device__ static void start_own(std::byte* to, const V* from) {
    CUZK_UNROLL for (std::size_t byte = 0; byte < sizeof(V); byte += 16) {
      start_copy(to + byte, reinterpret_cast<const std::byte*>(from) + byte);
    }
  }
};

// What a warp's lanes hold one after the other in memory, to their slots.
template <class T, int kSlotBytes>
__device__ void start_row(std::byte* warp_slots, const T* row) {
  static_assert(sizeof(T) % 16 == 0 && kSlotBytes % 16 == 0, "copies are of 16 bytes");
  constexpr int kPieces = sizeof(T) / 16;
  const int lane = lane_now();
  CUZK_UNROLL for (int a = 0; a < kPieces; ++a) {
    const int piece = 32 * a + lane;
    start_copy(warp_slots + piece / kPieces * kSlotBytes + piece % kPieces * 16,
               reinterpret_cast<const std::byte*>(row) + 16 * piece);
  }
}

// The other way: lane i's value, which it left in its slot, goes to row[i stride] if i < count.
template <class V, int kSlotBytes>
__device__ void store_row(const std::byte* warp_slots, V* row, std::size_t stride, int count) {
  static_assert(sizeof(V) % 16 == 0 && kSlotBytes % 16 == 0, "copies are of 16 bytes");
  constexpr int kPieces = sizeof(V) / 16;
  __syncwarp();  // all lanes have left their values
  const int lane = lane_now();
  CUZK_UNROLL for (int a = 0; a < kPieces; ++a) {
    const int piece = 32 * a + lane, owner = piece / kPieces, part = piece % kPieces;
    if (owner >= count) continue;
    std::byte* to = reinterpret_cast<std::byte*>(row) + owner * stride * sizeof(V) + part * 16;
    *reinterpret_cast<uint4*>(to) =
        *reinterpret_cast<const uint4*>(warp_slots + owner * kSlotBytes + part * 16);
  }
}

}  // namespace cuzk::cuda::msm

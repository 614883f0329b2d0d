// How a multi-scalar multiplication is cut: window size by cost, chunks and tasks by memory.
//
// With windows of c bits, signed digits and B = 2^(c-1) buckets, W = ceil((bits + 1) / c) windows
// and n points in chunks of m, the number of point additions is
//
//     W n                       one per digit (zero digits are skipped)
//   + W B (ceil(n / m) - 1)     merging each later chunk into the buckets
//   + 2 W B                     turning buckets into the sum (reduce.h)
//   + W B                       touching the buckets' memory at all, about an addition each
//
// and the plan takes the c in [3, 16] with the least. Everything else (256 doublings, one inversion
// a batch) is small and does not depend on c.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuzk::msm {

struct MultiplyPlan {
  std::size_t window_bits = 0;   // c
  std::size_t window_count = 0;  // W
  std::size_t bucket_count = 0;  // B, per window
  std::size_t chunk_points = 0;  // m
  std::size_t slice_count = 0;   // pieces of a chunk that are sorted side by side
  std::size_t task_entries = 0;  // digits summed by one task
  std::uint64_t addition_count = 0;
};

// What a plan depends on besides the number of points.
struct PlanInputs {
  std::size_t scalar_bits = 0;
  std::size_t chunk_points_max = std::size_t{1} << 19;
  std::size_t thread_count = 1;
};

// Pure arithmetic: the same numbers give the same plan on every machine, so a plan's memory can be
// asked for before the work. Any count of points, 0 included.
MultiplyPlan plan_multiply(std::size_t point_count, const PlanInputs& inputs);

// Number of windows of c bits for signed digits of scalars below 2^bits. One spare bit holds the
// carry into the sign.
constexpr std::size_t window_count(std::size_t scalar_bits, std::size_t c) {
  return (scalar_bits + 1 + c - 1) / c;
}

}  // namespace cuzk::msm

// A counting sort of a chunk's digits by (window, bucket).
//
// Per window and slice of the chunk: count, then scatter. Windows and slices run side by side and
// write disjoint places, so the result does not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/threads.h"
#include "msm/digits.h"
#include "msm/kernels/point_kernel.h"
#include "msm/plan.h"
#include "msm/row_buffer.h"

namespace cuzk::msm {

// All memory is taken by the constructor, which throws base::OutOfMemory.
class BucketSort {
 public:
  explicit BucketSort(const MultiplyPlan& plan)
      : plan_(plan),
        digits_(digit_count()),
        entries_(digit_count()),
        starts_(plan.window_count * plan.bucket_count + 1),
        cursors_(plan.window_count * plan.slice_count * plan.bucket_count) {
    // Places and operands are 32-bit words, the latter with a bit for the sign.
    CUZK_ASSERT(digit_count() <= ~std::uint32_t{0} && plan.chunk_points < std::size_t{1} << 31);
  }

  // What a sort for this plan takes, to be known before it is made.
  static std::size_t byte_count(const MultiplyPlan& plan) {
    const std::size_t digits = plan.window_count * plan.chunk_points;
    const std::size_t keys = plan.window_count * plan.bucket_count;
    using Places = ScratchList<std::uint32_t>;
    return ScratchList<RawDigit>::byte_count(digits) + Places::byte_count(digits) +
           Places::byte_count(keys + 1) + Places::byte_count(keys * plan.slice_count);
  }

  // The raw digits of a window, one per point of the chunk; to be filled before run().
  std::span<RawDigit> digits(std::size_t window) {
    return {digits_.data() + window * plan_.chunk_points, plan_.chunk_points};
  }

  // Sorts the digits of the first `point_count` points.
  template <std::size_t N>
  void run(const DigitReader<N>& reader, std::size_t point_count) {
    CUZK_ASSERT(point_count <= plan_.chunk_points);
    // Count, in cells of one window and one slice.
    const std::size_t cells = plan_.window_count * plan_.slice_count;
    base::parallel_for(0, cells, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t cell = first; cell < last; ++cell) count(reader, point_count, cell);
    });
    // Places within each window, then where each window begins.
    std::vector<std::uint32_t> window_starts(plan_.window_count + 1);
    base::parallel_for(0, plan_.window_count, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t w = first; w < last; ++w) window_starts[w + 1] = place(w);
    });
    for (std::size_t w = 0; w < plan_.window_count; ++w) window_starts[w + 1] += window_starts[w];
    CUZK_ASSERT(window_starts.back() <= plan_.window_count * point_count);
    starts_[starts_.size() - 1] = window_starts.back();
    // Scatter, and only then make the starts absolute: cursors are relative to their window.
    base::parallel_for(0, cells, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t cell = first; cell < last; ++cell) {
        scatter(reader, point_count, cell, window_starts[cell / plan_.slice_count]);
      }
    });
    base::parallel_for(0, plan_.window_count, 1, [&](std::size_t first, std::size_t last) {
      for (std::size_t w = first; w < last; ++w) {
        for (std::uint32_t& start : keys_of(w)) start += window_starts[w];
      }
    });
  }

  // operand() of each point with a digit, ordered by key = window * bucket_count + bucket.
  std::span<const std::uint32_t> entries() const {
    return {entries_.data(), starts_[starts_.size() - 1]};
  }
  // Entries of key k are [starts()[k], starts()[k + 1]).
  std::span<const std::uint32_t> starts() const { return starts_.span(); }

 private:
  std::size_t digit_count() const { return plan_.window_count * plan_.chunk_points; }
  std::span<std::uint32_t> cursors_of(std::size_t cell) {
    return cursors_.span().subspan(cell * plan_.bucket_count, plan_.bucket_count);
  }
  std::span<std::uint32_t> keys_of(std::size_t window) {
    return starts_.span().subspan(window * plan_.bucket_count, plan_.bucket_count);
  }
  // A slice's share of the points; shares differ by one at most.
  struct Range {
    std::size_t first, last;
  };
  Range points_of(std::size_t cell, std::size_t point_count) const {
    const std::size_t slice = cell % plan_.slice_count;
    return {point_count * slice / plan_.slice_count, point_count * (slice + 1) / plan_.slice_count};
  }

  // Into the cell's cursors: how many of its digits go to each bucket.
  template <std::size_t N>
  void count(const DigitReader<N>& reader, std::size_t point_count, std::size_t cell) {
    const auto raw = digits(cell / plan_.slice_count);
    const auto counts = cursors_of(cell);
    std::fill(counts.begin(), counts.end(), 0);
    const auto [first, last] = points_of(cell, point_count);
    for (std::size_t i = first; i < last; ++i) {
      if (raw[i] != reader.zero()) ++counts[reader.bucket(raw[i])];
    }
  }
  // Turns the counts of a window into places relative to the window; returns its total.
  std::uint32_t place(std::size_t window) {
    std::uint32_t total = 0;
    const auto keys = keys_of(window);
    for (std::size_t bucket = 0; bucket < plan_.bucket_count; ++bucket) {
      keys[bucket] = total;
      for (std::size_t slice = 0; slice < plan_.slice_count; ++slice) {
        std::uint32_t& cursor = cursors_of(window * plan_.slice_count + slice)[bucket];
        const std::uint32_t size = cursor;
        cursor = total;
        total += size;
      }
    }
    return total;
  }
  // Each point of the cell to the next place of its bucket. Within a bucket points keep their
  // order.
  template <std::size_t N>
  void scatter(const DigitReader<N>& reader, std::size_t point_count, std::size_t cell,
               std::uint32_t window_start) {
    const auto raw = digits(cell / plan_.slice_count);
    const auto cursors = cursors_of(cell);
    std::uint32_t* out = entries_.data() + window_start;
    const auto [first, last] = points_of(cell, point_count);
    for (std::size_t i = first; i < last; ++i) {
      if (raw[i] == reader.zero()) continue;
      out[cursors[reader.bucket(raw[i])]++] = operand(i, reader.negative(raw[i]));
    }
  }

  const MultiplyPlan plan_;
  // Not cleared: run() writes all of them before it reads them, after the caller's digits.
  ScratchList<RawDigit> digits_;
  ScratchList<std::uint32_t> entries_;
  ScratchList<std::uint32_t> starts_, cursors_;
};

}  // namespace cuzk::msm

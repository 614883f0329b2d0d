// Sums of many segments of points at once, by trees of batched affine additions.
//
// This is the engine under everything in this room: a bucket, a bit sum and a fixed-base product
// are each a segment. In a round, every segment adds its points in pairs and halves its length; all
// pairs of all segments are one batch. A segment of n points costs n - 1 additions whatever its
// points are, so a pile-up into one bucket costs no more than an even spread.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "msm/kernels/point_kernel.h"
#include "msm/row_buffer.h"

namespace cuzk::msm {

// Working memory of one thread for segments of at most `entries_max` points together. Reused for
// any number of calls; not for two threads at once. Memory is taken by the constructor, which
// throws base::OutOfMemory; the lists of a call stay within byte_count and throw std::bad_alloc.
template <class G>
class SegmentSummer {
 public:
  // `source_row_count` rows are set aside for a caller that packs the points of its sums itself.
  SegmentSummer(const PointKernel<G>& kernel, std::size_t entries_max,
                std::size_t source_row_count = 0)
      : kernel_(kernel),
        entries_max_(entries_max),
        rows_(work_rows(entries_max) * kernel.row_bytes),
        scratch_(kernel.scratch_bytes),
        source_rows_(source_row_count * kernel.row_bytes),
        pairs_(entries_max / 2 + 1) {}

  static std::size_t byte_count(const PointKernel<G>& kernel, std::size_t entries_max,
                                std::size_t source_row_count = 0) {
    // Lists of segments, singles and first rows, and those of the caller (keys and lengths).
    constexpr std::size_t kListBytes = 2 * sizeof(Segment) + 3 * sizeof(std::uint32_t);
    return RowBuffer::rounded(work_rows(entries_max) * kernel.row_bytes) +
           RowBuffer::rounded(kernel.scratch_bytes) +
           RowBuffer::rounded(source_row_count * kernel.row_bytes) +
           ScratchList<AddPair>::byte_count(entries_max / 2 + 1) +
           2 * entries_max * kListBytes;  // a growing list may hold twice what it needs
  }
  std::size_t entries_max() const noexcept { return entries_max_; }
  std::uint8_t* source_rows() noexcept { return source_rows_.data(); }

  // Sums each run of `lengths[k]` (positive) consecutive entries; an entry is an operand() into
  // `source_rows`. The sum of segment k is then at row(k), until the next call.
  void sum(const std::uint8_t* source_rows, std::span<const std::uint32_t> entries,
           std::span<const std::uint32_t> lengths) {
    CUZK_ASSERT(entries.size() <= entries_max_ && lengths.size() <= entries.size());
    first_round(source_rows, entries, lengths);
    for (std::size_t stride = 1; !active_.empty(); stride *= 2) later_round(stride);
  }
  const std::uint8_t* row(std::size_t segment) const {
    CUZK_DEBUG_ASSERT(segment < first_rows_.size());
    return rows_.data() + first_rows_[segment] * kernel_.row_bytes;
  }
  // The same as an index into rows().
  std::uint32_t row_index(std::size_t segment) const { return first_rows_[segment]; }
  const std::uint8_t* rows() const { return rows_.data(); }

  // The kernel's additions with this object's scratch.
  void add_pairs(const std::uint8_t* left, const std::uint8_t* right, std::uint8_t* out,
                 std::span<const AddPair> pairs) {
    kernel_.add_pairs(left, right, out, pairs.data(), pairs.size(), scratch_.data());
  }
  const PointKernel<G>& kernel() const noexcept { return kernel_; }

 private:
  // Rows [first, first + (length - 1) * stride] in steps of the round's stride are still to be
  // added.
  struct Segment {
    std::uint32_t first, length;
  };

  // The last point of an odd segment: a caller's operand, and our row that it is copied to.
  struct Single {
    std::uint32_t entry, row;
  };

  // One row for each two entries, one more for each odd segment.
  static std::size_t work_rows(std::size_t entries_max) { return entries_max + 1; }

  // From the caller's rows into our own, which no later round leaves: the caller's may be read by
  // other threads at the same time.
  void first_round(const std::uint8_t* source_rows, std::span<const std::uint32_t> entries,
                   std::span<const std::uint32_t> lengths) {
    active_.clear();
    first_rows_.clear();
    singles_.clear();
    std::size_t pair_count = 0, entry = 0;
    std::uint32_t row = 0;
    for (const std::uint32_t length : lengths) {
      CUZK_DEBUG_ASSERT(length > 0);
      first_rows_.push_back(row);
      const std::uint32_t rows = (length + 1) / 2;
      if (rows > 1) active_.push_back({row, rows});
      for (std::uint32_t j = 0; j < length / 2; ++j, entry += 2) {
        pairs_[pair_count++] = {entries[entry], entries[entry + 1], row++};
      }
      if (length % 2 != 0) singles_.push_back({entries[entry++], row++});
    }
    CUZK_ASSERT(entry == entries.size() && pair_count <= pairs_.size());
    CUZK_ASSERT(row <= work_rows(entries_max_));
    add_pairs(source_rows, source_rows, rows_.data(), {pairs_.data(), pair_count});
    copy_singles(source_rows);
  }

  // Last points of odd segments wait for the next round in their own rows.
  void copy_singles(const std::uint8_t* source_rows) {
    constexpr std::size_t kAhead = 8;  // copies ahead, since the rows lie anywhere in memory
    const auto source = [&](const Single& single) {
      return source_rows + std::size_t{single.entry >> 1} * kernel_.row_bytes;
    };
    for (std::size_t i = 0; i < singles_.size(); ++i) {
      if (i + kAhead < singles_.size()) {
        const std::uint8_t* next = source(singles_[i + kAhead]);
        for (std::size_t byte = 0; byte < kernel_.row_bytes; byte += 64) {
          __builtin_prefetch(next + byte);
        }
      }
      kernel_.copy(source(singles_[i]), (singles_[i].entry & 1) != 0,
                   rows_.data() + std::size_t{singles_[i].row} * kernel_.row_bytes);
    }
  }

  // Sums stay where the left operand was, `stride` rows apart, twice as far in the next round; a
  // last row without a partner is already in its place for it.
  void later_round(std::size_t stride) {
    std::size_t pair_count = 0, kept = 0;
    for (const Segment& segment : active_) {
      for (std::uint32_t j = 0; j + 1 < segment.length; j += 2) {
        const std::size_t left = segment.first + j * stride;
        pairs_[pair_count++] = {operand(left), operand(left + stride),
                                static_cast<std::uint32_t>(left)};
      }
      const std::uint32_t length = (segment.length + 1) / 2;
      const Segment next = {segment.first, length};
      if (length > 1) active_[kept++] = next;
    }
    active_.resize(kept);
    add_pairs(rows_.data(), rows_.data(), rows_.data(), {pairs_.data(), pair_count});
  }

  // Between calls the lists hold what the last one left; each call begins by clearing them, also
  // after one that an exception ended.
  const PointKernel<G>& kernel_;
  std::size_t entries_max_;
  RowBuffer rows_, scratch_, source_rows_;
  ScratchList<AddPair> pairs_;
  std::vector<Segment> active_;
  std::vector<Single> singles_;
  std::vector<std::uint32_t> first_rows_;
};

// Lends summers to the threads of one operation, so that their memory is touched once. A summer is
// made when a thread finds none idle, so there are at most as many as threads at work. Outlives its
// loans; all summers die with it.
template <class G>
class SummerPool {
 public:
  SummerPool(const PointKernel<G>& kernel, std::size_t entries_max,
             std::size_t source_row_count = 0)
      : kernel_(kernel), entries_max_(entries_max), source_row_count_(source_row_count) {}

  // A summer for as long as the loan lives.
  class Loan {
   public:
    explicit Loan(SummerPool& pool) : pool_(pool), summer_(pool.take()) {}
    ~Loan() { pool_.give_back(std::move(summer_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    SegmentSummer<G>& operator*() { return *summer_; }
    SegmentSummer<G>* operator->() { return summer_.get(); }

   private:
    SummerPool& pool_;
    std::unique_ptr<SegmentSummer<G>> summer_;
  };

 private:
  std::unique_ptr<SegmentSummer<G>> take() {
    {
      const base::MutexLock lock(mutex_);
      if (!idle_.empty()) {
        auto summer = std::move(idle_.back());
        idle_.pop_back();
        return summer;
      }
      idle_.reserve(++made_count_);  // so that giving back cannot fail
    }
    return std::make_unique<SegmentSummer<G>>(kernel_, entries_max_, source_row_count_);
  }
  void give_back(std::unique_ptr<SegmentSummer<G>> summer) {
    const base::MutexLock lock(mutex_);
    CUZK_ASSERT(summer != nullptr && idle_.size() < made_count_);
    idle_.push_back(std::move(summer));
  }

  const PointKernel<G>& kernel_;
  const std::size_t entries_max_, source_row_count_;
  base::Mutex mutex_;
  std::vector<std::unique_ptr<SegmentSummer<G>>> idle_ CUZK_GUARDED_BY(mutex_);
  std::size_t made_count_ CUZK_GUARDED_BY(mutex_) = 0;
};

}  // namespace cuzk::msm

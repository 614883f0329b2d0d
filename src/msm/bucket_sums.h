// Pippenger's method over chunks of points: digits, sort, bucket sums, reduction.
//
// N. Pippenger, "On the evaluation of powers and related problems", 1976, with signed digits
// and batched affine additions. Work is cut along the sorted digits, not along windows or points: a
// task takes the next `task_entries` of them whatever buckets they fall into, so 2 threads and 96
// are equally busy, also when all digits fall into one bucket. Buckets cut by a task's border leave
// partial sums ("edges"), which are few and added at the end.
#pragma once

#include <functional>

#include "base/threads.h"
#include "msm/bucket_sort.h"
#include "msm/reduce.h"

namespace cuzk::msm {

template <class G>
using ScalarOf = field::Canonical<typename G::Scalar::Params>;

// Points [first, first + out.size()) of the operation into `out`; called by many threads.
template <class G>
using PointLoader = std::function<void(std::size_t first, std::span<curve::Affine<G>> out)>;

// The buckets of one multiplication. All memory is taken by the constructor, save one summer a
// thread; both throw base::OutOfMemory.
//
// In order: any number of add_chunk(), then finish(), once; after a "no" of the checkpoint nothing
// more. Between chunks row k of buckets_ is the sum so far of the points with key k (window and
// bucket), zero bytes for none. Not for two threads; its own loops are parallel.
template <class G>
class BucketSums {
 public:
  BucketSums(const PointKernel<G>& kernel, const MultiplyPlan& plan)
      : kernel_(kernel),
        plan_(plan),
        reader_(plan.window_bits, plan.window_count),
        sort_(plan),
        points_(plan.chunk_points * kernel.row_bytes),
        buckets_(key_count() * kernel.row_bytes),
        edges_(2 * task_count_max() * kernel.row_bytes),
        edge_keys_(2 * task_count_max()),
        pool_(kernel, std::max({plan.task_entries, plan.bucket_count, 2 * task_count_max()})) {
    const std::size_t window_bytes = plan.bucket_count * kernel.row_bytes;
    base::parallel_for(0, plan.window_count, 1, [&](std::size_t from, std::size_t to) {
      std::memset(buckets_.data() + from * window_bytes, 0, (to - from) * window_bytes);
    });
  }

  static std::size_t byte_count(const PointKernel<G>& kernel, const MultiplyPlan& plan,
                                std::size_t threads) {
    const std::size_t tasks = plan.window_count * plan.chunk_points / plan.task_entries + 1;
    const std::size_t summer_entries = std::max({plan.task_entries, plan.bucket_count, 2 * tasks});
    const auto row_memory = [&](std::size_t rows) {
      return RowBuffer::rounded(rows * kernel.row_bytes);
    };
    return row_memory(plan.chunk_points) + row_memory(plan.window_count * plan.bucket_count) +
           row_memory(2 * tasks) + ScratchList<std::uint32_t>::byte_count(2 * tasks) +
           BucketSort::byte_count(plan) +
           threads * SegmentSummer<G>::byte_count(kernel, summer_entries);
  }

  // Adds scalars[i] times point first + i, for at most chunk_points of them. False where the
  // checkpoint said no; the sums are of no use then.
  [[nodiscard]] bool add_chunk(const PointLoader<G>& load, std::size_t first,
                               std::span<const ScalarOf<G>> scalars,
                               base::Checkpoint* checkpoint = nullptr) {
    CUZK_ASSERT(scalars.size() <= plan_.chunk_points);
    read_points(load, first, scalars);
    if (checkpoint != nullptr && checkpoint->wanted() && !checkpoint->pass()) return false;
    // The sort has no borders of its own: it is a few passes over words.
    sort_.run(reader_, scalars.size());
    const std::size_t entry_count = sort_.entries().size();
    const std::size_t tasks = (entry_count + plan_.task_entries - 1) / plan_.task_entries;
    std::ranges::fill(edge_keys_.span(), kNoKey);
    const bool goes_on = base::parallel_tasks(tasks, checkpoint, [&](std::size_t task) {
      typename SummerPool<G>::Loan summer(pool_);
      run_task(*summer, task);
    });
    if (goes_on) merge_edges(tasks);
    return goes_on;
  }

  // The sum of all chunks; the buckets are spent. Infinity where the checkpoint said no.
  curve::Jacobian<G> finish(base::Checkpoint* checkpoint = nullptr) {
    std::vector<WindowParts<G>> parts(plan_.window_count);
    const auto reduce = [&](std::size_t w) {
      typename SummerPool<G>::Loan summer(pool_);
      std::uint8_t* rows = buckets_.data() + w * plan_.bucket_count * kernel_.row_bytes;
      parts[w] = reduce_window(*summer, rows, plan_.bucket_count);
    };
    if (!base::parallel_tasks(plan_.window_count, checkpoint, reduce)) {
      return curve::Jacobian<G>::infinity();
    }
    return combine_windows<G>(parts, plan_.window_bits);
  }

 private:
  static constexpr std::uint32_t kNoKey = ~std::uint32_t{0};
  static constexpr std::size_t kReadBlock = 64;

  std::size_t key_count() const { return plan_.window_count * plan_.bucket_count; }
  std::size_t task_count_max() const {
    return plan_.window_count * plan_.chunk_points / plan_.task_entries + 1;
  }

  // Rows and raw digits of the chunk; an infinite point has zero digits.
  void read_points(const PointLoader<G>& load, std::size_t first,
                   std::span<const ScalarOf<G>> scalars) {
    base::parallel_for(0, scalars.size(), kReadBlock, [&](std::size_t from, std::size_t to) {
      curve::Affine<G> block[kReadBlock];
      for (std::size_t i = from; i < to; i += kReadBlock) {
        const std::size_t size = std::min(kReadBlock, to - i);
        load(first + i, {block, size});
        kernel_.pack(block, size, points_.data() + i * kernel_.row_bytes);
        for (std::size_t j = 0; j < size; ++j) {
          write_digits(i + j, scalars[i + j], block[j].is_infinity());
        }
      }
    });
  }
  // Digits lie window by window, so that a window's sort reads them in a row.
  void write_digits(std::size_t point, const ScalarOf<G>& scalar, bool is_infinity) {
    const auto shifted = reader_.shifted(is_infinity ? decltype(scalar.value){} : scalar.value);
    for (std::size_t w = 0; w < plan_.window_count; ++w) {
      sort_.digits(w)[point] = reader_.raw_digit(shifted, w);
    }
  }

  // A key that lies whole within the task's entries belongs to it alone and goes straight into its
  // bucket; the first and the last may go on in a neighbour's, and then only their sums here are
  // saved. Slots of edges are in the order of tasks, so parts of one key lie side by side, also
  // when one key fills several tasks from border to border (slot 2 * task then serves for both
  // cuts).
  void run_task(SegmentSummer<G>& summer, std::size_t task) {
    const auto starts = sort_.starts();
    const std::size_t first = task * plan_.task_entries;
    const std::size_t last = std::min(first + plan_.task_entries, sort_.entries().size());
    CUZK_ASSERT(first < last);
    // The last key that starts at `first` or before: of keys with equal starts all but it are
    // empty.
    std::size_t key =
        std::size_t(std::upper_bound(starts.begin(), starts.end(), first) - starts.begin()) - 1;
    std::vector<std::uint32_t> keys, lengths;
    const std::size_t first_key = key;
    for (std::size_t at = first; at < last; ++key) {
      const std::size_t end = std::min<std::size_t>(starts[key + 1], last);
      if (end == at) continue;
      keys.push_back(static_cast<std::uint32_t>(key));
      lengths.push_back(static_cast<std::uint32_t>(end - at));
      at = end;
    }
    CUZK_ASSERT(keys.front() == first_key && keys.back() < key_count());
    const bool cut_in_front = starts[first_key] < first;
    const bool cut_behind = starts[keys.back() + std::size_t{1}] > last;
    summer.sum(points_.data(), sort_.entries().subspan(first, last - first), lengths);
    if (cut_in_front) save_edge(summer.row(0), keys.front(), 2 * task);
    if (cut_behind && (keys.size() > 1 || !cut_in_front)) {
      save_edge(summer.row(keys.size() - 1), keys.back(), 2 * task + 1);
    }
    const std::size_t skip_front = cut_in_front ? 1 : 0;
    const std::size_t skip_back = cut_behind && (keys.size() > 1 || !cut_in_front) ? 1 : 0;
    merge(summer, keys, skip_front, keys.size() - skip_back);
  }

  // Slots 2 * task and 2 * task + 1 are the task's own, so tasks write side by side.
  void save_edge(const std::uint8_t* row, std::uint32_t key, std::size_t slot) {
    CUZK_ASSERT(slot < edge_keys_.size() && edge_keys_[slot] == kNoKey);
    kernel_.copy(row, false, edges_.data() + slot * kernel_.row_bytes);
    edge_keys_[slot] = key;
  }

  // Adds the summer's segments [from, to) to the buckets of their keys. No other task writes to
  // these buckets in the same chunk. A row of zeros is an empty bucket, and infinity.
  void merge(SegmentSummer<G>& summer, std::span<const std::uint32_t> keys, std::size_t from,
             std::size_t to) {
    std::vector<AddPair> pairs;
    for (std::size_t k = from; k < to; ++k) {
      std::uint8_t* bucket = buckets_.data() + keys[k] * kernel_.row_bytes;
      if (row_is_zero(bucket, kernel_.row_bytes)) {
        kernel_.copy(summer.row(k), false, bucket);
      } else {
        pairs.push_back({operand(keys[k]), operand(summer.row_index(k)), keys[k]});
      }
    }
    summer.add_pairs(buckets_.data(), summer.rows(), buckets_.data(), pairs);
  }

  // Edges of one key are neighbours: their tasks follow each other.
  void merge_edges(std::size_t tasks) {
    std::vector<std::uint32_t> entries, keys, lengths;
    for (std::size_t slot = 0; slot < 2 * tasks; ++slot) {
      if (edge_keys_[slot] == kNoKey) continue;
      if (keys.empty() || keys.back() != edge_keys_[slot]) {
        keys.push_back(edge_keys_[slot]);
        lengths.push_back(0);
      }
      ++lengths.back();
      entries.push_back(operand(slot));
    }
    if (keys.empty()) return;
    CUZK_ASSERT(2 * tasks <= edge_keys_.size());
    typename SummerPool<G>::Loan summer(pool_);
    summer->sum(edges_.data(), entries, lengths);
    merge(*summer, keys, 0, keys.size());
  }

  const PointKernel<G>& kernel_;
  const MultiplyPlan plan_;
  const DigitReader<G::Scalar::kLimbCount> reader_;
  BucketSort sort_;
  RowBuffer points_, buckets_, edges_;
  ScratchList<std::uint32_t> edge_keys_;
  SummerPool<G> pool_;
};

}  // namespace cuzk::msm

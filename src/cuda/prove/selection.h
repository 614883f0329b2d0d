// Which points of a query a witness selects, found on a device: the ones as a bitmap over the
// points, the scalars as values with the places of their points.
//
// Twin of groth16/query.h. Pairs come in no fixed order: the sum does not depend on it. Everything
// is queued on the stream; nothing is allocated.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "cuda/device/buffer.h"
#include "cuda/prove/witness_view.h"

namespace cuzk::cuda::prove {

// Words [first_word, last_word) of one run under one query's layout. `first_point` is the query's
// point that places count from.
struct SelectedWords {
  SegmentView segment;
  std::size_t first_word = 0, last_word = 0;
  std::uint32_t first_point = 0;
};

// Sets the bits of selected ones in `bitmap`, which covers the points from words.first_point on and
// one word more, and is clear where nothing was selected before.
template <class F>
base::Status select_ones(const device::Stream& stream, const RunView<F>& run,
                         const SelectedWords& words, std::uint64_t* bitmap);

// Where selected scalars go. `count` on the device says how many are there already.
struct SelectedPairs {
  std::uint32_t* points = nullptr;   // places from words.first_point on
  std::uint32_t* scalars = nullptr;  // places in the run's scalars, kInputsMark for the inputs' run
  std::uint32_t* count = nullptr;
};
inline constexpr std::uint32_t kInputsMark = 0x80000000;

// Appends the pairs of the selected scalars; `mark` is 0 or kInputsMark. The arrays hold as many as
// the host counted (query_pieces.h), which is what the device finds.
template <class F>
base::Status select_scalars(const device::Stream& stream, const RunView<F>& run,
                            const SelectedWords& words, std::uint32_t mark,
                            const SelectedPairs& pairs);

// values[i] = the plain integer of scalar number pairs.scalars[i] of its run, for i < count.
template <class F>
base::Status gather_values(const device::Stream& stream, const SelectedPairs& pairs,
                           std::uint32_t count, const F* input_scalars, const F* aux_scalars,
                           F* values);

}  // namespace cuzk::cuda::prove

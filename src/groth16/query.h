// Which points of a query a witness selects: bits as a bitmap, scalars with their places.
//
// A query holds a point for every variable (snarkjs) or only for those whose density bit is set
// (bellman), inputs first, then aux. The walk finds the place of a variable's point by counting
// density bits, so a variable that is a bit never becomes a field element, and only the scalars of
// one piece are converted at a time. Building a walk and ones() read each word of 64 variables
// once; an index of all points would take 4 bytes a variable instead.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bit_vector.h"
#include "curve/groups.h"
#include "r1cs/assignment.h"

namespace cuzk::groth16 {

// How a query lays out the points of one run of variables (the inputs, or the aux).
struct QuerySegment {
  // The variables that occur; nullptr: all.
  const base::BitVector* density = nullptr;
  // Whether the query omits the others or holds a point (never looked at) for them.
  bool is_packed = false;
};

// The variables of one witness seen through the layout of one query. Borrows everything. Immutable,
// so any number of threads may read one. scalar_count() <= point_count() always.
template <class F>
class QueryWalk {
 public:
  using Canonical = field::Canonical<typename F::Params>;

  // `inputs` is the input run as a compact witness; a density must be as long as its run.
  QueryWalk(const r1cs::CompactWitness<F>& inputs, QuerySegment input_segment,
            const r1cs::CompactWitness<F>& aux, QuerySegment aux_segment);

  // Points that the query must hold.
  std::size_t point_count() const noexcept { return point_count_; }
  // Selected variables that are scalars.
  std::size_t scalar_count() const noexcept { return scalar_count_; }

  // One bit a point: set for the selected boolean variables that are one.
  base::BitVector ones() const;

  // The selected scalars number first ... first + values.size() - 1 in variable order, and the
  // places of their points. Multi-threaded.
  void scalars(std::size_t first, std::span<std::uint32_t> indices,
               std::span<Canonical> values) const;

 private:
  // What precedes a block of kBlockWords words of 64 variables.
  struct Block {
    std::size_t word;             // first word of the block
    std::size_t point_rank;       // place of the first point of the block
    std::size_t scalar_rank;      // scalars of the witness before it, selected or not
    std::size_t selected_before;  // selected scalars before it, over both runs
  };
  // One of the two runs with its notes, one a block, in order.
  struct Run {
    const r1cs::CompactWitness<F>* witness;
    QuerySegment segment;
    std::vector<Block> blocks;
  };

  void append_run(const r1cs::CompactWitness<F>& witness, QuerySegment segment, Run& run);
  void scalars_of_block(const Run& run, const Block& block, std::size_t first,
                        std::span<std::uint32_t> indices, std::span<Canonical> values) const;

  std::array<Run, 2> runs_;
  std::size_t point_count_ = 0;
  std::size_t scalar_count_ = 0;
};

extern template class QueryWalk<field::bls12_381::Fr>;
extern template class QueryWalk<field::bn254::Fr>;

}  // namespace cuzk::groth16

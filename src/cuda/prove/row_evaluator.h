// Rows of a loaded circuit's matrices times a witness on the device: all of them, or a run.
//
// Matrices are resident, or their stored rows come up in tiles. Kernels are behind evaluation.h.
#pragma once

#include <algorithm>

#include "cuda/prove/loaded_circuit.h"
#include "cuda/prove/matrix_tiles.h"

namespace cuzk::cuda::prove {

// For one proof; borrows all that it is given. Everything is queued on the caller's stream.
template <class C>
class RowEvaluator {
 public:
  using Fr = typename C::Fr;

  RowEvaluator(const LoadedCircuit<C>& circuit, const r1cs::Shape<Fr>& shape,
               const WitnessView<Fr>& witness, bool matrices_resident)
      : circuit_(circuit),
        shape_(shape),
        witness_(witness),
        matrices_resident_(matrices_resident) {}

  // Rows [first, first + out.size) of a (0) or b (1), zero past the last; a with the rows of the
  // inputs. With kMultiplyInto b's times what is there. `tile` is for stored rows, where matrices
  // are not resident; one is for one stream.
  base::Status evaluate(const device::Stream& stream, int matrix_id, std::uint64_t first,
                        device::DeviceSpan<Fr> out, device::DeviceSpan<std::byte> tile,
                        RowUse use = RowUse::kStore) const {
    CUZK_ASSERT(use == RowUse::kStore || matrix_id == 1);
    const std::uint64_t rows = matrix(matrix_id).row_count(), end = first + out.size;
    const std::uint64_t stored_end = std::clamp(rows, first, end);
    CUZK_TRY_STATUS(device::clear(stream, out.subset(stored_end - first, end - stored_end)));
    for (const RowBlock& block : circuit_.facts().blocks[matrix_id]) {
      for (const RowBlock& part : rows_within(block, first, end)) {
        CUZK_TRY_STATUS(matrices_resident_
                            ? evaluate_part(stream, matrix_id, part, use, out)
                            : evaluate_in_tiles(stream, matrix_id, part, use, out, tile));
      }
    }
    if (matrix_id == 1 || shape_.has_input_rows) return base::ok_status();
    // Row `rows` + i is input i.
    const std::uint64_t inputs_end = std::clamp(rows + shape_.input_count, first, end);
    if (stored_end >= inputs_end) return base::ok_status();
    return device::copy_bytes_on_device(stream, out.data + (stored_end - first),
                                        witness_.inputs + (stored_end - rows),
                                        (inputs_end - stored_end) * sizeof(Fr));
  }

 private:
  const r1cs::SparseMatrix& matrix(int matrix_id) const {
    return matrix_id == 0 ? shape_.a : shape_.b;
  }

  // Rows of a block, of which `tile` (null: the resident matrix) holds the stored ones.
  base::Status evaluate_part(const device::Stream& stream, int matrix_id, const RowBlock& block,
                             RowUse use, device::DeviceSpan<Fr> out,
                             const MatrixRows* tile = nullptr) const {
    MatrixRows part = circuit_.resident_rows(matrix_id);
    if (tile != nullptr) {
      part = *tile;
    } else {
      part.row_begin += block.first;
    }
    part.block = block;
    const auto& long_rows = circuit_.facts().long_rows[matrix_id];
    const auto first = std::lower_bound(long_rows.begin(), long_rows.end(), block.first);
    const auto last = std::lower_bound(first, long_rows.end(), block.first + block.count);
    part.long_rows = circuit_.long_rows(matrix_id) + (first - long_rows.begin());
    part.long_row_count = static_cast<std::uint32_t>(last - first);
    return evaluate_rows<Fr>(stream, witness_, circuit_.coefficients(), part, use, out.data);
  }

  // Stored rows come up in runs that fit the tile. From pageable memory a copy returns when its
  // source was read, and the next one waits in the stream for the kernel that reads the tile.
  base::Status evaluate_in_tiles(const device::Stream& stream, int matrix_id, const RowBlock& block,
                                 RowUse use, device::DeviceSpan<Fr> out,
                                 device::DeviceSpan<std::byte> tile) const {
    const r1cs::SparseMatrix& matrix = this->matrix(matrix_id);
    const std::size_t end = block.first + block.count;
    for (std::size_t first = block.first; first < end;) {
      const std::size_t last = tile_end(matrix, first, end, tile.size);
      device::Arena arena(tile);
      const std::uint64_t term = matrix.row_begin[first];
      const auto begins = std::span(matrix.row_begin).subspan(first, last - first + 1);
      const auto terms = std::span(matrix.terms).subspan(term, matrix.row_begin[last] - term);
      const auto on_begins = arena.take<std::uint64_t>(begins.size());
      const auto on_terms = arena.take<r1cs::Term>(terms.size());
      CUZK_TRY_STATUS(device::upload<std::uint64_t>(stream, on_begins, begins));
      CUZK_TRY_STATUS(device::upload<r1cs::Term>(stream, on_terms, terms));
      MatrixRows rows;
      rows.row_begin = on_begins.data;
      rows.terms = on_terms.data;
      rows.first_term = term;
      CUZK_TRY_STATUS(evaluate_part(stream, matrix_id, block_part(block, first, last - first), use,
                                    out, &rows));
      first = last;
    }
    return base::ok_status();
  }

  const LoadedCircuit<C>& circuit_;
  const r1cs::Shape<Fr>& shape_;
  const WitnessView<Fr> witness_;
  const bool matrices_resident_;
};

}  // namespace cuzk::cuda::prove

// The scalars of H where the vectors of all rows do not fit the device together.
//
// One vector: each of a, b and a b is transformed on the device in turn while another waits on the
// host; a vector crosses the link four times in all. In tiles: two vectors lie on the host and come
// up tile by tile, with all steps between two changes of direction done while a tile is up; they
// cross the link thirteen times, and the scalars once more. docs/math/cuda_ntt.md counts both.
// Values are the same as those of the plain way, bit for bit.
#pragma once

#include "cuda/prove/field_vectors.h"
#include "cuda/prove/host_vectors.h"
#include "cuda/prove/row_evaluator.h"
#include "groth16/prove.h"

namespace cuzk::cuda::prove {

// For one proof; borrows all of it. The workspace's arrays are those of the plan.
template <class C>
struct SpilledQuotient {
  using Fr = typename C::Fr;
  const LoadedCircuit<C>& circuit;
  Lane& lane;
  const RowEvaluator<C>& rows;
  const ProofPlan& plan;
  const groth16::QapConvention convention;
  const groth16::Control& control;
  HostVectors& host;

  bool has_coefficients() const { return convention == groth16::QapConvention::kCoefficients; }

  // One vector: the scalars, in order, in arrays.values[0] when the compute stream has come here.
  // The host's vector is free then.
  base::Status form_on_device(const EvaluationArrays& arrays) const;

  // In tiles: waits. The scalars are the host's first vector: in order, or with kCoefficients as
  // TiledTransform::reverse_row leaves them. The second vector is given back.
  base::Status form_on_host(const EvaluationArrays& arrays) const;
  // The coefficient of degree m - 1 afterwards.
  Fr top() const { return host.values<Fr>(0).back(); }
  // Queues scalars [first, first + count) on the compute stream, in order, to arrays.scalars.
  base::Status bring_scalars(const QuotientArrays& arrays, std::size_t first,
                             std::size_t count) const;

 private:
  using Kind = typename poly::TiledTransform<Fr>::Kind;
  const device::Stream& stream_of(unsigned turn) const {
    return turn == 0 ? lane.compute : lane.copy;
  }
  template <class Use>
  base::Status meet_host(const EvaluationArrays& arrays, device::DeviceSpan<Fr> values,
                         const Use& use) const;
  template <class Work>
  base::Status each_tile(const EvaluationArrays& arrays, const Work& work) const;
  template <class Work>
  base::Status each_row(const EvaluationArrays& arrays, const Work& work) const;
  base::Status evaluate_tile(const device::Stream& stream, const EvaluationArrays::Turn& turn,
                             std::size_t first, bool is_product) const;
  base::Status form_columns(const EvaluationArrays& arrays, bool is_product) const;
  base::Status rows_to_coset(const EvaluationArrays& arrays, unsigned first, unsigned last) const;
  base::Status multiply_columns(const EvaluationArrays& arrays) const;
  base::Status finish_rows(const EvaluationArrays& arrays) const;
  base::Status finish_columns(const EvaluationArrays& arrays) const;
};

extern template struct SpilledQuotient<cuzk::curve::Bls12_381>;
extern template struct SpilledQuotient<cuzk::curve::Bn254>;

}  // namespace cuzk::cuda::prove

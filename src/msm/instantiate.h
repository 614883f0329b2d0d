// All operations of msm.h for one group; one file per group includes this.
//
// The bodies are large templates. Users of msm.h see declarations only and link to these, so a
// group's code exists once in the program and is compiled once.
#pragma once

#include "msm/fixed_base_impl.h"
#include "msm/multiply_impl.h"

#define CUZK_MSM_INSTANTIATE(G)                                                                    \
  template curve::Jacobian<G> multiply<G>(const PointSource<G>&, std::span<const ScalarOf<G>>,     \
                                          base::Checkpoint*);                                      \
  template curve::Jacobian<G> multiply_indexed<G>(                                                 \
      const PointSource<G>&, std::span<const std::uint32_t>, std::span<const ScalarOf<G>>,         \
      base::Checkpoint*);                                                                          \
  template std::uint64_t multiply_scratch_bytes<G>(std::size_t);                                   \
  template std::uint64_t bitmap_scratch_bytes<G>(std::size_t);                                     \
  template curve::Jacobian<G> sum_by_bitmap<G>(const PointSource<G>&,                              \
                                               std::span<const std::uint64_t>, base::Checkpoint*); \
  template class FixedBase<G>;                                                                     \
  template void to_affine<G>(std::span<const curve::Jacobian<G>>, std::span<curve::Affine<G>>)

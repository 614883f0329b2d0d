// Single operations timed on a device, each checked: behind `cuzk bench ntt` and `cuzk bench msm`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "curve/groups.h"

namespace cuzk::cuda {

struct Measured {
  double median_ms = 0;
  double least_ms = 0;
  bool is_right = false;  // whether the result was what the CPU computes by other means
};

// Transforms of 2^size_log2 elements of C's scalar field on `device` (device_name.h), resident,
// natural to reversed order: the median of `repeats` runs after one to warm up. Checked by the
// polynomial's value at one point.
template <class C>
base::Result<Measured> measure_transform(const std::string& device, std::size_t size_log2,
                                         unsigned repeats);

// Sums of 2^size_log2 random multiples of known bases in G, bases and scalars resident; shared out
// evenly where several devices are named. Checked by the closed form over the bases (i + 1) G.
template <class G>
base::Result<Measured> measure_multiply(const std::vector<std::string>& devices,
                                        std::size_t size_log2, unsigned repeats);

#define CUZK_CUDA_MEASURE(KEYWORD, C)                                                              \
  KEYWORD template base::Result<Measured> measure_transform<C>(const std::string&, std::size_t,    \
                                                               unsigned);                          \
  KEYWORD template base::Result<Measured> measure_multiply<C::G1>(const std::vector<std::string>&, \
                                                                  std::size_t, unsigned);          \
  KEYWORD template base::Result<Measured> measure_multiply<C::G2>(const std::vector<std::string>&, \
                                                                  std::size_t, unsigned);
CUZK_CUDA_MEASURE(extern, cuzk::curve::Bls12_381)
CUZK_CUDA_MEASURE(extern, cuzk::curve::Bn254)

}  // namespace cuzk::cuda

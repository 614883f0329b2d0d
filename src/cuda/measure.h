// Single operations timed on a device, each checked: behind `cuzk bench ntt` and `cuzk bench msm`.
//
// A rate is worth nothing where the result is wrong, so the two come together. Free of CUDA; the
// code is in prove/measure.cpp, and in no_cuda.cpp for builds without.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "curve/groups.h"

namespace cuzk::cuda {

// Host clock times of one operation, queued and waited for.
struct Measured {
  double median_ms = 0;
  double least_ms = 0;
  bool is_right = false;  // whether the result was what the CPU computes by other means
};

// Transforms of 2^size_log2 elements of C's scalar field on `device` (device_name.h), resident,
// natural to reversed order: the median of `repeats` runs after one to warm up. Checked by the
// polynomial's value at one point and by the way back. `repeats` is at least 1. Errors: of the
// device's name, of memory there or here, kUnsupported for sizes that the field has no domain for.
template <class C>
base::Result<Measured> measure_transform(const std::string& device, std::size_t size_log2,
                                         unsigned repeats);

// Sums of 2^size_log2 random multiples of known bases in G, bases and scalars resident; shared out
// evenly where several devices are named (at least one). Checked by the closed form over the bases
// (i + 1) G: the sum is (sum of k_i (i + 1)) G, one scaling on the host. Errors as above.
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

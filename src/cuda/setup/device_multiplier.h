// The multiplier of a development set-up on a device: groth16/setup.h makes the scalars, the device
// the points, so that a key of domain 2^27 takes minutes instead of hours.
#pragma once

#include <memory>
#include <string>

#include "groth16/setup.h"

namespace cuzk::cuda::setup {

// Takes the device's memory for tables and for pieces of `piece_count` (at least 1) products (about
// 700 MiB for 2^20), until it dies. `device` is an index, a UUID or a PCI address. For one thread
// at a time. kNotFound for an unknown name, kResourceExhausted where the memory is not there,
// kUnsupported in a build without CUDA.
template <class C>
base::Result<std::unique_ptr<groth16::GeneratorMultiplier<C>>> make_device_multiplier(
    const std::string& device, std::size_t piece_count = std::size_t{1} << 20);

extern template base::Result<std::unique_ptr<groth16::GeneratorMultiplier<cuzk::curve::Bls12_381>>>
make_device_multiplier(const std::string&, std::size_t);
extern template base::Result<std::unique_ptr<groth16::GeneratorMultiplier<cuzk::curve::Bn254>>>
make_device_multiplier(const std::string&, std::size_t);

}  // namespace cuzk::cuda::setup

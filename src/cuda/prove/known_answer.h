// The known-answer test of a device: whether it computes what the CPU computes.
//
// Cards with faulty memory or too high a clock give wrong sums without any error. A device that
// fails is condemned (device/fault.h), so none of its results is ever used.
#pragma once

#include "cuda/device/device.h"
#include "groth16/backend.h"

namespace cuzk::cuda::prove {

// On the curve C: a transform of 2^20 elements, sums in G1 and G2 through all kinds of additions,
// and whole proofs in both QAP conventions, byte for byte. `backend` runs on `info`, the current
// device. An error of kind kUnavailable says what differed; kResourceExhausted, that there was no
// room for the test.
template <class C>
base::Status known_answer_test(const device::DeviceInfo& info, groth16::Backend<C>& backend);

// Whole proofs in both conventions alone: whether devices that share them pass on what they should.
// kUnavailable when they differ from the CPU's; nothing is condemned.
template <class C>
base::Status test_proofs(groth16::Backend<C>& backend);

}  // namespace cuzk::cuda::prove

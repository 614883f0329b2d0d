// Randomness of the operating system, the only kind that blinds proofs.
//
// A proof hides its witness only while nobody can guess the two scalars that blind it. So there is
// no seed, no generator of our own and no second best: where the kernel gives nothing, no proof is
// made. Reproducible elements for tests come from field/samples.h.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"

namespace cuzk::base {

// Fills `out` with unpredictable bytes (getrandom; waits only before the kernel's pool is first
// ready). Error kUnavailable when the kernel refuses; then `out` must not be used.
Status fill_random(std::span<std::uint8_t> out);

}  // namespace cuzk::base

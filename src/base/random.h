// Randomness of the operating system, the only kind that blinds proofs.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"

namespace cuzk::base {

// Fills `out` with unpredictable bytes (getrandom; waits only before the kernel's pool is first
// ready). Error kUnavailable when the kernel refuses; then `out` must not be used.
Status fill_random(std::span<std::uint8_t> out);

}  // namespace cuzk::base

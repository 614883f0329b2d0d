// Sizes that bound memory, as flags and files give them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace cuzk::base {

// A size as base/byte_size.h reads it. The error kInvalidArgument also for digits alone that are
// less than 1 MiB, but for 0: whoever writes "48" means another unit.
Result<std::uint64_t> parse_memory_size(std::string_view text);

}  // namespace cuzk::base

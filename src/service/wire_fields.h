// Fields that both protocols have, with the same numbers. Clients of either protocol get the same
// sentence for the same mistake.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "engine/policy.h"

namespace cuzk::service {

// 1 (low) to 4 (critical); nothing for 0, which leaves it to the kind. Error kInvalidArgument.
base::Result<std::optional<engine::Priority>> priority_from_wire(int number);

// Milliseconds since 1970; nothing for 0. Error kInvalidArgument: beyond what a clock holds.
base::Result<std::optional<std::int64_t>> deadline_from_wire(std::uint64_t ms);

}  // namespace cuzk::service

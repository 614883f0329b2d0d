// Text that leaves in fields of messages: those must be UTF-8, or foreign clients refuse the whole.
// Ids, errors and names of devices come from outside and may hold any bytes.
#pragma once

#include <string>
#include <string_view>

#include "engine/executor.h"

namespace cuzk::service {

// The same text where it is UTF-8; else with each byte that is not replaced by '?'.
std::string utf8(std::string_view text);

// "queued", "witness", "device queued", "device", "finish queued", "finish", "done", "ended".
std::string_view word(engine::PartitionState state) noexcept;

}  // namespace cuzk::service

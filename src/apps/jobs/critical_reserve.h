// Memory that is kept for critical work when nobody says how much.
#pragma once

#include <cstdint>

#include "apps/jobs/filecoin_keys.h"

namespace cuzk::apps {

// What the largest winning PoSt whose parameters are there takes: its key and one partition, so
// that it never waits for the memory of other jobs. At most a quarter of the budget, and never so
// much that another parameter set that is there would not fit the rest. 0 where there is no budget
// (0) or no such parameters. Files that cannot be read do not count.
std::uint64_t critical_reserve_bytes(FilecoinKeys& keys, std::uint64_t budget_bytes);

}  // namespace cuzk::apps

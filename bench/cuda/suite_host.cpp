// What the host fields ask of base/cpu.cpp, which needs a library that the suite does without: here
// products are portable.
#include "base/cpu.h"

namespace cuzk::base::internal {
constinit std::atomic<bool> adx_in_use{false};
}  // namespace cuzk::base::internal

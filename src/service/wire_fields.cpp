// The numbers are checked against both protocols. A change of one proto file that parts them does
// not compile.
#include "service/wire_fields.h"

#include <fmt/format.h>

#include "service/proto/jobs.pb.h"
#include "service/proto/proving.pb.h"

namespace cuzk::service {

using base::Error;
using base::ErrorKind;

static_assert(v1::PRIORITY_UNSPECIFIED == 0 && jobs::v1::JOB_PRIORITY_UNSPECIFIED == 0);
static_assert(v1::LOW == 1 && jobs::v1::LOW == 1 && v1::NORMAL == 2 && jobs::v1::NORMAL == 2);
static_assert(v1::HIGH == 3 && jobs::v1::HIGH == 3 && v1::CRITICAL == 4 && jobs::v1::CRITICAL == 4);

base::Result<std::optional<engine::Priority>> priority_from_wire(int number) {
  switch (number) {
    case v1::PRIORITY_UNSPECIFIED: return std::optional<engine::Priority>();
    case v1::LOW: return std::optional(engine::Priority::kLow);
    case v1::NORMAL: return std::optional(engine::Priority::kNormal);
    case v1::HIGH: return std::optional(engine::Priority::kHigh);
    case v1::CRITICAL: return std::optional(engine::Priority::kCritical);
    default: break;
  }
  return Error{ErrorKind::kInvalidArgument,
               fmt::format("priority: found {}, expected 0 (the kind's own) or 1 to 4", number)};
}

base::Result<std::optional<std::int64_t>> deadline_from_wire(std::uint64_t ms) {
  if (ms > static_cast<std::uint64_t>(INT64_MAX)) {
    return Error{
        ErrorKind::kInvalidArgument,
        fmt::format("deadline_ms: found {}, expected milliseconds since 1970 below 2^63", ms)};
  }
  if (ms == 0) return std::optional<std::int64_t>();
  return std::optional(static_cast<std::int64_t>(ms));
}

}  // namespace cuzk::service

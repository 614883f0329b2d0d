// Rules on combinations of PoRep parameters. A registered proof cannot break them; a configuration
// that was put together from a record or a command line can.
#include "filecoin/porep/config.h"

#include "base/check.h"

namespace cuzk::filecoin {

base::Status check_porep_config(const PorepConfig& config) {
  CUZK_ASSERT(config.shape != nullptr);
  if (!config.shape->has_porep) {
    return base::Error{base::ErrorKind::kUnsupported,
                       "sectors of " + std::string(config.shape->name) + " have no PoRep"};
  }
  if (config.kind != PorepKind::kInteractive && config.api_version != ApiVersion::kV1_2_0) {
    return base::Error{base::ErrorKind::kInvalidArgument,
                       std::string(to_string(config.kind)) +
                           " PoRep needs API version V1_2_0, not " +
                           std::string(to_string(config.api_version))};
  }
  return base::ok_status();
}

}  // namespace cuzk::filecoin

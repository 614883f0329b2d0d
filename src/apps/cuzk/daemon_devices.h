// What the daemon proves on: cards, the CPU, or both, as its configuration says.
//
// Here alone the daemon meets src/cuda. Asked once, at the start of the process that proves; a card
// that appears later is found by the next process.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/job_type.h"
#include "service/config.h"

namespace cuzk::apps {

struct DaemonDevices {
  std::vector<engine::ProvingDevice> devices;
  std::vector<std::string> remarks;  // for the log: what is used, and what is not and why
};

// The CPU stands first where it is used. Errors: kUnavailable when the configuration forbids the
// CPU and no card can be used, with the reason; kNotFound for a card that is not there.
base::Result<DaemonDevices> find_devices(const service::Config::Gpus& config);

}  // namespace cuzk::apps

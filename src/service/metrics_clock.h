// How long jobs and partitions took, from the order of their events. Events carry when something
// happened; the time between two of them is what histograms are made of.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace cuzk::service {

// One time that ended with an event.
struct Measured {
  enum class What : std::uint8_t {
    kQueueWait,  // accepted to the first start
    kTotal,      // accepted to completed
    kWitness,    // a partition's stages, and its waits between them
    kDeviceWait,
    kDevice,
    kFinishWait,
    kFinish,
  };
  What what = What::kTotal;
  std::int64_t ms = 0;
};

// Not thread-safe. Holds what is not over yet: a job's entry goes with its last event, and all go
// where events were left out.
class EventClock {
 public:
  std::vector<Measured> observe(const engine::EngineEvent& event);
  std::size_t job_count() const { return jobs_.size(); }

 private:
  struct Partition {
    engine::PartitionState state = engine::PartitionState::kQueued;
    std::int64_t since_ms = 0;
  };
  // A job that is not over. `partitions` are those that have moved, each in the state it is in now.
  struct Job {
    std::optional<std::int64_t> accepted_ms;  // none: it was accepted by an earlier process
    bool started = false;
    std::map<std::size_t, Partition> partitions;
  };
  std::map<std::string, Job, std::less<>> jobs_;
};

}  // namespace cuzk::service

// Small jobs and a scheduler with few workers, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/scheduler.h"

namespace cuzk::engine {

inline JobSpec job_of(JobId id, std::size_t partition_count, Priority priority = Priority::kNormal,
                      KeyId key = 1) {
  JobSpec spec;
  spec.id = id;
  spec.name = "job " + std::to_string(id);
  spec.priority = priority;
  spec.key = {key, 0};
  for (std::uint32_t p = 0; p < partition_count; ++p) spec.partitions.push_back({p, 10, 5, 4});
  return spec;
}

inline constexpr WorkerId witness_worker(std::uint32_t index = 0) {
  return {Stage::kWitness, index};
}
inline constexpr WorkerId device_worker(std::uint32_t index = 0) { return {Stage::kDevice, index}; }
inline constexpr WorkerId finish_worker(std::uint32_t index = 0) { return {Stage::kFinish, index}; }

// One witness worker, one device with one worker, one finish worker, no budget.
inline SchedulerConfig small_config() {
  SchedulerConfig config;
  config.devices = {{1}};
  return config;
}

}  // namespace cuzk::engine

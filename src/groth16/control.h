// How a caller follows and stops long work: a progress sink and a stop token.
#pragma once

#include <stop_token>
#include <string_view>

#include "base/progress.h"
#include "base/result.h"

namespace cuzk::groth16 {

// Both parts are optional. The sink is borrowed and must outlive the work.
struct Control {
  base::ProgressSink* progress = nullptr;
  std::stop_token cancel = {};

  void begin_stage(std::string_view name, std::uint64_t total_units) const {
    if (progress != nullptr) progress->begin_stage(name, total_units);
  }
  void advance(std::uint64_t units) const {
    if (progress != nullptr) progress->advance(units);
  }
  // An error of kind kCancelled once a stop was asked for; `stage` says where it was noticed.
  base::Status check(std::string_view stage) const {
    if (!cancel.stop_requested()) return base::ok_status();
    return base::Error{base::ErrorKind::kCancelled,
                       "cancelled while working on " + std::string(stage)};
  }
};

}  // namespace cuzk::groth16

// How a caller follows and stops long work: a progress sink, a stop token, a checkpoint.
//
// Stopping is cooperative. Work asks at the borders of its pieces, some milliseconds apart, and
// then returns kCancelled by the ordinary way of errors, so that destructors free what it held. The
// checkpoint (base/checkpoint.h) is the other reason to pause: more urgent work runs in between.
#pragma once

#include <stop_token>
#include <string_view>

#include "base/checkpoint.h"
#include "base/progress.h"
#include "base/result.h"

namespace cuzk::groth16 {

// All parts are optional. Sink and checkpoint are borrowed and must outlive the work.
struct Control {
  base::ProgressSink* progress = nullptr;
  std::stop_token cancel = {};
  base::Checkpoint* checkpoint = nullptr;

  // Progress. A stage counts in what it likes (points, transforms); watchers see the share done.
  void begin_stage(std::string_view name, std::uint64_t total_units) const {
    if (progress != nullptr) progress->begin_stage(name, total_units);
  }
  void advance(std::uint64_t units) const {
    if (progress != nullptr) progress->advance(units);
  }
  // Whether check() has something to do.
  bool wanted() const noexcept {
    return cancel.stop_requested() || (checkpoint != nullptr && checkpoint->wanted());
  }
  // A border: other work may run inside. An error of kind kCancelled once a stop was asked for;
  // `stage` says where it was noticed. Called by the thread that runs the work, outside of parallel
  // loops.
  base::Status check(std::string_view stage) const {
    const bool goes_on = checkpoint == nullptr || checkpoint->pass();
    if (goes_on && !cancel.stop_requested()) return base::ok_status();
    return base::Error{base::ErrorKind::kCancelled,
                       "cancelled while working on " + std::string(stage)};
  }
};

// A control as the checkpoint of a computation. Borrows it. A "no" ends only the computation, which
// then leaves its values half done: whoever started it asks check() afterwards for the error.
class ControlCheckpoint final : public base::Checkpoint {
 public:
  explicit ControlCheckpoint(const Control& control) : control_(control) {}
  bool wanted() const noexcept override { return control_.wanted(); }
  bool pass() override { return control_.check("a computation").ok(); }

 private:
  const Control& control_;
};

}  // namespace cuzk::groth16

// A checkpoint that interrupts at chosen moments, for tests of computations that have borders.
#pragma once

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "base/checkpoint.h"

namespace cuzk::base::testing {

// Wants something after every `every` questions; says no at pass number `stop_at`.
class CountingCheckpoint final : public Checkpoint {
 public:
  CountingCheckpoint(int every, int stop_at) : every_(every), stop_at_(stop_at) {}
  bool wanted() const noexcept override { return stopped_ || ++asked_ % every_ == 0; }
  bool pass() override {
    EXPECT_EQ(std::this_thread::get_id(), owner_) << "passed by another thread than the caller";
    ++pass_count;
    stopped_ = stopped_ || pass_count == stop_at_;
    return !stopped_;
  }
  int pass_count = 0;
  int asked_count() const { return asked_.load(); }

 private:
  const int every_, stop_at_;
  const std::thread::id owner_ = std::this_thread::get_id();
  mutable std::atomic<int> asked_{0};
  std::atomic<bool> stopped_{false};
};

}  // namespace cuzk::base::testing

// A lane that failed is dropped rather than given back: its streams may never become idle.
#include "cuda/prove/lane.h"

namespace cuzk::cuda::prove {
namespace {

base::Result<base::Permit> pinned_permit(std::uint64_t bytes, const char* owner) {
  return base::Ledger::process().admit(
      {bytes, base::MemoryCategory::kOther, owner, base::Account::pinned()});
}

base::Result<SharedEvent> shared_event() {
  CUZK_TRY(auto event, device::Event::create());
  return std::make_shared<const device::Event>(std::move(event));
}

}  // namespace

base::Result<std::unique_ptr<Lane>> Lane::create() {
  auto lane = std::make_unique<Lane>();
  CUZK_TRY(lane->compute, device::Stream::create());
  CUZK_TRY(lane->copy, device::Stream::create());
  for (auto& event : lane->slot_free) {
    CUZK_TRY(event, device::Event::create());
  }
  CUZK_TRY(lane->pass_entered, shared_event());
  for (auto& event : lane->block_filled) {
    CUZK_TRY(event, shared_event());
  }
  for (auto& event : lane->piece_read) {
    CUZK_TRY(event, shared_event());
  }
  constexpr std::uint64_t kBytes = kSlotCount * kSlotBytes;
  CUZK_TRY(lane->slots_permit, pinned_permit(kBytes + kResultBytes, "staging of points"));
  CUZK_TRY(lane->slots, device::PinnedBuffer::create(kBytes));
  CUZK_TRY(lane->results, device::PinnedBuffer::create(kResultBytes));
  return lane;
}

base::Status Lane::grow_staging(std::uint64_t bytes) {
  if (staging.size_bytes() >= bytes) return base::ok_status();
  staging = {};
  staging_permit = {};
  CUZK_TRY(staging_permit, pinned_permit(bytes, "staging of witnesses"));
  CUZK_TRY(staging, device::PinnedBuffer::create(bytes));
  return base::ok_status();
}

LanePool::Lease::~Lease() {
  if (lane_ == nullptr) return;
  const bool is_idle = lane_->compute.synchronize().ok() && lane_->copy.synchronize().ok();
  if (!is_idle) lane_.reset();
  pool_->give_back(std::move(lane_));
}

base::Result<LanePool::Lease> LanePool::take(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  const bool is_there =
      changed_.wait(lock, stop, [this] { return !idle_.empty() || made_ < most_; });
  if (!is_there) {
    return base::Error{base::ErrorKind::kCancelled, "cancelled while waiting for the device"};
  }
  if (!idle_.empty()) {
    auto lane = std::move(idle_.back());
    idle_.pop_back();
    return Lease(this, std::move(lane));
  }
  ++made_;
  lock.unlock();
  auto lane = Lane::create();
  if (lane.ok()) return Lease(this, std::move(lane).value());
  give_back(nullptr);
  return lane.error();
}

void LanePool::give_back(std::unique_ptr<Lane> lane) {
  {
    const std::lock_guard lock(mutex_);
    if (lane != nullptr) {
      idle_.push_back(std::move(lane));
    } else {
      --made_;
    }
  }
  changed_.notify_all();
}

}  // namespace cuzk::cuda::prove

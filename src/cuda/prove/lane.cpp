// A lane that failed is dropped rather than given back: its streams may never become idle.
//
// So made_ counts the lanes that are leased or idle, and falls when one is dropped; the next taker
// makes a new one. On a device that is lost that fails with the device's reason.
#include "cuda/prove/lane.h"

#include "base/check.h"
#include "base/memory_limits.h"
#include "base/threads.h"

namespace cuzk::cuda::prove {
namespace {

constexpr std::uint64_t kSlotsBytes = kSlotCount * kSlotBytes;

static_assert(kSlotBytes % 64 == 0, "slots of a whole block begin aligned for any type");
static_assert(kPinnedLeastBytes <= kSlotsBytes);

base::Result<SharedEvent> shared_event() {
  CUZK_TRY(auto event, device::Event::create());
  return std::make_shared<const device::Event>(std::move(event));
}

// A block as near to the wish as can be had; where it is less, the log says so once.
base::Status ensure(Staging& block, const StagingWish& wish, int device_index) {
  CUZK_TRY_STATUS(block.ensure(wish, pinned_source()));
  if (block.shortage()) {
    warn_of_shortage(device_index, PinnedUse::kStaging, wish.owner, *block.shortage());
  }
  return base::ok_status();
}

}  // namespace

PinnedSource pinned_source() {
  PinnedSource source;
  const auto threads = static_cast<unsigned>(base::thread_count());
  // The pointer shares ownership with the buffer, which unpins when the last copy goes.
  source.pin = [threads](std::uint64_t bytes) -> base::Result<std::shared_ptr<std::byte>> {
    CUZK_TRY(auto made, device::PinnedBuffer::create(bytes, threads));
    auto owner = std::make_shared<device::PinnedBuffer>(std::move(made));
    std::byte* const data = owner->data();
    return std::shared_ptr<std::byte>(std::move(owner), data);
  };
  source.spare_bytes = []() -> std::optional<std::uint64_t> {
    const auto limits = base::detect_memory_limits();
    // Not known is no reason to ask for less: the driver and the ledger still say no.
    if (!limits.ok() || limits->available_bytes == 0) return std::nullopt;
    return limits->available_bytes / 2;
  };
  return source;
}

// Streams and events, then memory for copies, which may come out less than wished but not as none.
base::Result<std::unique_ptr<Lane>> Lane::create(int device_index) {
  auto lane = std::make_unique<Lane>();
  lane->device_index = device_index;
  CUZK_TRY(lane->compute, device::Stream::create());
  CUZK_TRY(lane->copy, device::Stream::create());
  for (auto& event : lane->slot_free) {
    CUZK_TRY(event, device::Event::create());
  }
  for (auto& event : lane->staging_free) {
    CUZK_TRY(event, device::Event::create());
  }
  CUZK_TRY(lane->pass_entered, shared_event());
  for (auto& event : lane->block_filled) {
    CUZK_TRY(event, shared_event());
  }
  for (auto& event : lane->piece_read) {
    CUZK_TRY(event, shared_event());
  }
  CUZK_TRY_STATUS(lane->prepare());
  return lane;
}

base::Status Lane::prepare() {
  // The smallest first, while there is something to be had.
  CUZK_TRY_STATUS(ensure(results, {kResultBytes, kResultBytes, kResultBytes, "answers of a device"},
                         device_index));
  return ensure(slots, {kSlotsBytes, kPinnedLeastBytes, kSlotsBytes, "staging of points"},
                device_index);
}

// It may let the old block go, which a copy on the compute stream could still read.
base::Status Lane::grow_staging(std::uint64_t bytes) {
  return ensure(staging, {bytes, kPinnedLeastBytes, kSlotsBytes, "staging of witnesses"},
                device_index);
}

// By now whoever ran here has waited (drain.h), so this takes no time; it is how a lane is found
// out whose streams failed.
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
  std::unique_ptr<Lane> lane;
  if (!idle_.empty()) {
    lane = std::move(idle_.back());
    idle_.pop_back();
  } else {
    ++made_;
  }
  // Outside the lock: making streams and pinning memory takes milliseconds.
  lock.unlock();
  // A lane that cannot be had is not made, however that ends.
  struct Undo {
    LanePool* pool;
    ~Undo() {
      if (pool != nullptr) pool->give_back(nullptr);
    }
  } undo{this};
  const auto status = [&]() -> base::Status {
    if (lane != nullptr) return lane->prepare();
    CUZK_TRY(lane, Lane::create(device_index_));
    return base::ok_status();
  }();
  CUZK_ASSERT(!status.ok() || lane != nullptr);
  if (!status.ok()) return status.error();
  undo.pool = nullptr;
  return Lease(this, std::move(lane));
}

void LanePool::give_back(std::unique_ptr<Lane> lane) {
  {
    const std::lock_guard lock(mutex_);
    CUZK_ASSERT(made_ > idle_.size());
    if (lane != nullptr) {
      idle_.push_back(std::move(lane));
    } else {
      --made_;
    }
  }
  changed_.notify_all();
}

}  // namespace cuzk::cuda::prove

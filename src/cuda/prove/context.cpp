// Contexts by device index; the last user's end closes one.
//
// The ledger says who may have memory, the pool gives it. Memory for long (keys) is admitted or
// refused at once; memory for a proof waits in line, in order of arrival, whatever its size: a
// large proof is not starved by small ones, and as who waits holds no memory of the kind, somebody
// ends.
#include "cuda/prove/context.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/check.h"

namespace cuzk::cuda::prove {
namespace {

// Left of the free memory for what is not counted: tables of transforms, kernels' own stacks.
constexpr std::uint64_t kReserveBytes = std::uint64_t{256} << 20;
// Pools grow by tens of MiB, so a smaller cap would refuse what the ledger lets in.
constexpr std::uint64_t kPoolLimitLeast = std::uint64_t{256} << 20;
// Under a limit, this part of it is left to the pool's own rounding.
constexpr std::uint64_t kRoundingPart = 32;

// One context a device while anybody uses it. The map does not keep them alive; its lock is held
// while one is opened, so that two openers cannot both measure the same free memory.
struct OpenContexts {
  std::mutex mutex;
  std::map<int, std::weak_ptr<Context>> by_index;
};

// Of the process, as the ledger's accounts are.
OpenContexts& open_contexts() {
  static OpenContexts all;
  return all;
}

}  // namespace

base::Result<std::shared_ptr<Context>> Context::open(const device::DeviceInfo& info,
                                                     std::uint64_t limit_bytes) {
  OpenContexts& all = open_contexts();
  const std::lock_guard lock(all.mutex);
  if (auto known = all.by_index[info.index].lock()) {
    if (known->limit_bytes_ == limit_bytes) return known;
    return base::Error{base::ErrorKind::kInvalidArgument,
                       "device " + std::to_string(info.index) + " is in use under a limit of " +
                           std::to_string(known->limit_bytes_) +
                           " bytes, so it cannot have one of " + std::to_string(limit_bytes)};
  }
  CUZK_TRY_STATUS(device::use_device(info));
  std::shared_ptr<Context> context(new Context(info, limit_bytes));
  CUZK_TRY(const std::uint64_t free_bytes, device::memory_free_bytes());
  // What is free now is the budget for good: what others give back later is not counted in.
  const std::uint64_t usable_bytes = free_bytes - std::min(free_bytes, kReserveBytes);
  std::uint64_t pool_limit_bytes = 0;
  context->budget_bytes_ = usable_bytes;
  if (limit_bytes != 0) {
    context->budget_bytes_ = std::min(limit_bytes - limit_bytes / kRoundingPart, usable_bytes);
    pool_limit_bytes = std::max(limit_bytes, kPoolLimitLeast);
  }
  CUZK_TRY(context->pool_, device::MemoryPool::create(info.index, pool_limit_bytes));
  CUZK_ASSERT(context->budget_bytes_ <= usable_bytes);
  base::Ledger::process().set_budget(context->account_, context->budget_bytes_);
  all.by_index[info.index] = context;
  return context;
}

void MemoryRelease::operator()(Context* context) const noexcept {
  context->memory_is_free(is_spare);
}

// The permit goes back by its own destructor where the pool refuses what the ledger let in.
base::Result<CountedBuffer> Context::take(base::Permit permit, const device::Stream& stream,
                                          std::uint64_t bytes) const {
  CountedBuffer out;
  out.permit_ = std::move(permit);
  CUZK_TRY(out.buffer_, device::Buffer::create(pool_, stream, bytes));
  return out;
}

// The ledger before the pool, here and below: what it refuses never touches the device.
// A spare that was dropped is free when the proofs that use it have ended, and those wait for
// nobody who waits here: they have their memory, and no key is loaded while a proof runs.
base::Result<base::Permit> Context::admit_or_drop(const base::MemoryRequest& request) const {
  base::Ledger& ledger = base::Ledger::process();
  auto permit = ledger.admit(request);
  if (permit.ok()) return permit;
  spares_.drop_all();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    permit = ledger.admit(request);
    return permit.ok() || spare_count_ == 0;
  });
  return permit;
}

base::Result<CountedBuffer> Context::allocate(const device::Stream& stream, std::uint64_t bytes,
                                              base::MemoryCategory category,
                                              std::string_view owner) const {
  CUZK_TRY(auto permit, admit_or_drop({bytes, category, std::string(owner), account_}));
  return take(std::move(permit), stream, bytes);
}

base::Result<CountedBuffer> Context::allocate_spare(const device::Stream& stream,
                                                    std::uint64_t bytes, std::string_view owner) {
  CUZK_TRY(auto permit, base::Ledger::process().admit({bytes, base::MemoryCategory::kMsmScratch,
                                                       std::string(owner), account_}));
  {
    const std::lock_guard lock(mutex_);
    ++spare_count_;
  }
  std::unique_ptr<Context, MemoryRelease> release(this, {true});
  CUZK_TRY(CountedBuffer out, take(std::move(permit), stream, bytes));
  out.release_ = std::move(release);
  return out;
}

base::Result<CountedBuffer> Context::wait_allocate(const device::Stream& stream,
                                                   std::uint64_t bytes, std::stop_token stop) {
  base::MemoryRequest request{bytes, base::MemoryCategory::kEvaluation, "a proof on the device",
                              account_};
  std::unique_lock lock(mutex_);
  const auto place = line_.insert(line_.end(), ++arrival_count_);
  // The first in line asks the ledger at each change. With no holder left nobody's end can help,
  // and the refusal is the answer; the next in line then asks for itself.
  base::Result<base::Permit> permit = base::Permit();
  const auto decides = [&] {
    if (line_.begin() != place) return false;
    permit = base::Ledger::process().admit(request);
    if (!permit.ok() && spare_count_ != 0) {
      // Whoever frees memory takes the lock.
      lock.unlock();
      spares_.drop_all();
      lock.lock();
      permit = base::Ledger::process().admit(request);
    }
    return permit.ok() || (holder_count_ == 0 && spare_count_ == 0);
  };
  bool is_decided = false;
  try {
    is_decided = changed_.wait(lock, stop, decides);
  } catch (...) {  // the ledger found no memory for its own lists: the next in line goes on
    if (!lock.owns_lock()) lock.lock();
    line_.erase(place);
    lock.unlock();
    changed_.notify_all();
    throw;
  }
  line_.erase(place);
  // Counted before the lock is given up: else the next in line could take "no holder" for true.
  if (is_decided && permit.ok()) ++holder_count_;
  lock.unlock();
  changed_.notify_all();
  if (!is_decided) {
    return base::Error{base::ErrorKind::kCancelled, "cancelled while waiting for device memory"};
  }
  if (!permit.ok()) return permit.error();
  // From here on a failure, too, ends as a holder: the count goes down and those who wait look
  // again.
  std::unique_ptr<Context, MemoryRelease> release(this, {false});
  CUZK_TRY(CountedBuffer out, take(std::move(permit).value(), stream, bytes));
  out.release_ = std::move(release);
  return out;
}

void Context::memory_is_free(bool is_spare) noexcept {
  {
    const std::lock_guard lock(mutex_);
    unsigned& count = is_spare ? spare_count_ : holder_count_;
    CUZK_ASSERT(count > 0);
    --count;
  }
  changed_.notify_all();
}

// By the ledger's own figures, so that a key that another backend of the device holds counts. A
// moment's answer: what is planned by it is admitted, or not, later.
std::uint64_t Context::used_bytes(bool by_spares) const {
  std::uint64_t used = 0;
  for (const auto& owner : base::Ledger::process().snapshot().owners) {
    if (owner.account != account_ || owner.category == base::MemoryCategory::kEvaluation) continue;
    if ((owner.category == base::MemoryCategory::kMsmScratch) == by_spares)
      used += owner.used_bytes;
  }
  return used;
}

std::uint64_t Context::room_bytes() const {
  return budget_bytes_ - std::min(budget_bytes_, used_bytes(false));
}

std::uint64_t Context::spare_bytes() const { return used_bytes(true); }

}  // namespace cuzk::cuda::prove

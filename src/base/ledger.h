// The memory ledger: one account of every large buffer, and the gate that new work passes.
//
// A buffer is admitted against the budget before its pages exist, comes straight from the kernel
// (so the allocator's arenas keep nothing that nobody owns) and leaves the account when it is
// unmapped. What is counted is what was asked for, rounded up to pages. The account can be read at
// any moment.
//
// New work enters by wait_admit() or try_admit(). Waiting is fair: in order of priority, then of
// arrival; a request that does not fit keeps everybody behind it out of the accounts that it lacks
// room in, so a large one is not starved by small ones; one that was passed often rises a class, so
// a low one is not starved by high ones. A request that can never fit is refused at once with the
// arithmetic. admit() is for work that has already entered: it takes what is free and never waits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"

namespace cuzk::base {

// What a buffer is for. The words of to_string are stable: status pages and traces show them.
enum class MemoryCategory {
  kSrs,         // proving keys in memory; of the engine's, mapped files too, while they are loaded
  kMatrices,    // circuit shapes
  kInput,       // job bytes as they arrived
  kWitness,     // assignments
  kEvaluation,  // a, b, h
  kMsmScratch,  // buckets, digits, tables of multiples
  kPending,     // what a started proof holds until it is finished
  kPool,        // pages that are kept for reuse and belong to nobody
  kOther,
};
inline constexpr std::size_t kMemoryCategoryCount = 9;
static_assert(static_cast<std::size_t>(MemoryCategory::kOther) + 1 == kMemoryCategoryCount);
std::string_view to_string(MemoryCategory category) noexcept;

// Whose memory it is: the host's, the host's locked into place for a device, or a device's own.
// Pinned memory is host memory too, so it is charged to both.
class Account {
 public:
  static constexpr Account host() noexcept { return Account(0); }
  static constexpr Account pinned() noexcept { return Account(1); }
  static constexpr Account device(std::uint16_t index) noexcept { return Account(2u + index); }
  constexpr auto operator<=>(const Account&) const = default;
  // "host", "pinned", "device:0".
  std::string name() const;

 private:
  explicit constexpr Account(std::uint32_t slot) noexcept : slot_(slot) {}
  std::uint32_t slot_;
};

// What new work asks for.
struct MemoryRequest {
  static constexpr int kPriorityNormal = 2, kPriorityLast = 3;

  std::uint64_t bytes = 0;
  MemoryCategory category = MemoryCategory::kOther;
  std::string owner;
  Account account = Account::host();
  int priority = kPriorityNormal;  // 0 is first, kPriorityLast is last
};

struct MemoryUse {
  std::uint64_t used_bytes = 0;
  std::uint64_t peak_bytes = 0;
};

// A consistent reading of a ledger.
struct LedgerSnapshot {
  struct Owner {
    MemoryCategory category = MemoryCategory::kOther;
    std::string name;
    std::uint64_t used_bytes = 0;
    Account account = Account::host();
  };
  struct AccountUse {
    Account account = Account::host();
    std::uint64_t budget_bytes = 0;  // 0: no budget
    MemoryUse use;
  };
  std::uint64_t budget_bytes = 0;                           // of the host; 0: no budget
  MemoryUse total;                                          // of the host
  std::array<MemoryUse, kMemoryCategoryCount> by_category;  // of the host
  std::vector<Owner> owners;         // those that hold something, largest first
  std::vector<AccountUse> accounts;  // the host first
  std::uint64_t waiting_count = 0;   // requests in wait_admit()
  std::uint64_t waiting_bytes = 0;

  const MemoryUse& of(MemoryCategory category) const {
    return by_category[static_cast<std::size_t>(category)];
  }
};

class Permit;

// The accounts of one process. Thread-safe. Outlives its permits.
class Ledger {
 public:
  // The ledger that buffers use unless told otherwise.
  static Ledger& process();

  explicit Ledger(std::uint64_t budget_bytes = 0);
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  ~Ledger();

  // 0 removes the budget. What is already held stays, even above a smaller budget; waiting requests
  // that can no longer fit are refused.
  void set_budget(std::uint64_t budget_bytes) { set_budget(Account::host(), budget_bytes); }
  void set_budget(Account account, std::uint64_t budget_bytes) CUZK_EXCLUDES(mutex_);

  // Counts `bytes` for `owner` until the permit dies. Error kResourceExhausted with need, budget
  // and holders when the budget cannot hold it now. For buffers of work that was let in before: it
  // passes requests that wait, which cannot starve them because such work ends.
  Result<Permit> admit(std::uint64_t bytes, MemoryCategory category, std::string_view owner);
  Result<Permit> admit(const MemoryRequest& request) CUZK_EXCLUDES(mutex_);

  // For new work. The same, but refused (kUnavailable) while an earlier or more urgent request
  // waits for the same account.
  Result<Permit> try_admit(const MemoryRequest& request) CUZK_EXCLUDES(mutex_);

  // For new work. Waits in order of priority, then of arrival. Errors: kResourceExhausted at once
  // when the whole budget is too small, also when the budget shrinks below the request later;
  // kCancelled when `stop` asks first.
  Result<Permit> wait_admit(const MemoryRequest& request, std::stop_token stop = {})
      CUZK_EXCLUDES(mutex_);

  // Pages given back by PageRun::reuse are kept up to this many bytes, counted as kPool, and are
  // unmapped as soon as a request needs their room. Starts as 0: nothing is kept.
  void set_pool_limit(std::uint64_t limit_bytes) CUZK_EXCLUDES(mutex_);

  LedgerSnapshot snapshot() const CUZK_EXCLUDES(mutex_);
  // Makes the peaks equal to what is held now, so that a stage's own peak can be read after it.
  void reset_peaks() CUZK_EXCLUDES(mutex_);

 private:
  friend class Permit;
  friend class PageRun;
  struct Key {
    Account account = Account::host();
    MemoryCategory category = MemoryCategory::kOther;
    std::string owner;
    auto operator<=>(const Key&) const = default;
  };
  struct AccountState {
    std::uint64_t budget_bytes = 0;
    MemoryUse use;
  };
  struct Waiter;

  // The rest of the account, all under mutex_ (ledger.cpp says what each keeps true). Those that
  // take it themselves are called by permits and page runs, never by each other.
  Result<Permit> admit_now(const MemoryRequest& request) CUZK_REQUIRES(mutex_);
  bool fits(Account account, std::uint64_t bytes) const CUZK_REQUIRES(mutex_);
  bool lacks_room(Account charged, std::uint64_t bytes) const CUZK_REQUIRES(mutex_);
  bool can_ever_fit(const MemoryRequest& request) const CUZK_REQUIRES(mutex_);
  Error refusal(const MemoryRequest& request) const CUZK_REQUIRES(mutex_);
  void charge(const Key& key, std::uint64_t bytes) CUZK_REQUIRES(mutex_);
  void discharge(const Key& key, std::uint64_t bytes) CUZK_REQUIRES(mutex_);
  void release(std::uint64_t bytes, const Key& key) noexcept CUZK_EXCLUDES(mutex_);
  void reassign(std::uint64_t bytes, const Key& from, const Key& to) CUZK_EXCLUDES(mutex_);
  void insert(Waiter& waiter) CUZK_REQUIRES(mutex_);
  Waiter* first_grantable() CUZK_REQUIRES(mutex_);
  void count_passing(std::uint64_t arrival) CUZK_REQUIRES(mutex_);
  void grant_waiting() CUZK_REQUIRES(mutex_);
  void shed_pool(std::uint64_t needed_bytes) CUZK_REQUIRES(mutex_);
  void* take_pooled(std::uint64_t bytes, const Key& key) CUZK_EXCLUDES(mutex_);
  bool keep_pooled(void* pages, std::uint64_t bytes, const Key& key) CUZK_EXCLUDES(mutex_);

  // Invariants: the use of an account is the sum over the keys charged to it (pinned keys are
  // charged to the host too), by_category_ is the host's use split up, no key holds 0. Nothing that
  // could be granted waits: whatever makes room or leaves the queue grants before it unlocks, so no
  // wake-up can be lost. waiters_ is ordered by class, then arrival.
  mutable Mutex mutex_;
  std::map<Account, AccountState> accounts_ CUZK_GUARDED_BY(mutex_);
  std::array<MemoryUse, kMemoryCategoryCount> by_category_ CUZK_GUARDED_BY(mutex_){};
  std::map<Key, std::uint64_t> owners_ CUZK_GUARDED_BY(mutex_);
  std::vector<Waiter*> waiters_ CUZK_GUARDED_BY(mutex_);
  std::uint64_t arrival_count_ CUZK_GUARDED_BY(mutex_) = 0;
  std::multimap<std::uint64_t, void*> pool_ CUZK_GUARDED_BY(mutex_);  // by byte count
  std::uint64_t pool_bytes_ CUZK_GUARDED_BY(mutex_) = 0;
  std::uint64_t pool_limit_bytes_ CUZK_GUARDED_BY(mutex_) = 0;
};

// A share of a ledger, released when it dies. Move-only; travels with the data it pays for.
class Permit {
 public:
  Permit() = default;
  Permit(Permit&& other) noexcept { swap(other); }
  Permit& operator=(Permit&& other) noexcept {
    Permit taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Permit();
  std::uint64_t bytes() const noexcept { return bytes_; }

  // Takes `bytes` (at most bytes()) out of this permit into one of their own. The sum stays, so
  // this is how a stage's reservation becomes its buffers, and how part of one is given back early.
  Permit split(std::uint64_t bytes);
  // The same bytes, from now on for another purpose.
  void reassign(MemoryCategory category, std::string_view owner);

 private:
  friend class Ledger;
  friend class PageRun;
  Permit(Ledger* ledger, std::uint64_t bytes, Ledger::Key key)
      : ledger_(ledger), bytes_(bytes), key_(std::move(key)) {}
  void swap(Permit& other) noexcept {
    std::swap(ledger_, other.ledger_);
    std::swap(bytes_, other.bytes_);
    std::swap(key_, other.key_);
  }

  // Empty (no ledger, no bytes), or bytes_ of key_ are charged to the ledger. Moving leaves an
  // empty one behind; the pool empties one whose pages it keeps.
  Ledger* ledger_ = nullptr;
  std::uint64_t bytes_ = 0;
  Ledger::Key key_;
};

// Pages from the kernel under a permit. Move-only.
class PageRun {
 public:
  PageRun() = default;
  PageRun(PageRun&& other) noexcept { swap(other); }
  PageRun& operator=(PageRun&& other) noexcept {
    PageRun taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~PageRun();

  // At least `bytes` zero bytes; huge pages are asked for from 2 MiB on. Errors: the ledger's
  // refusal, or kResourceExhausted when the kernel has no memory.
  static Result<PageRun> map(std::uint64_t bytes, MemoryCategory category, std::string_view owner,
                             Ledger& ledger = Ledger::process());
  // The same out of a reservation, which shrinks by the pages taken. Error kResourceExhausted when
  // the reservation is too small: a plan that was wrong.
  static Result<PageRun> map_within(Permit& reservation, std::uint64_t bytes,
                                    MemoryCategory category, std::string_view owner);
  // Like map, but the content is anything: pages of the same size that were given back before are
  // used again, and these are kept for reuse (Ledger::set_pool_limit) when the run dies.
  static Result<PageRun> reuse(std::uint64_t bytes, MemoryCategory category, std::string_view owner,
                               Ledger& ledger = Ledger::process());
  void* data() const noexcept { return data_; }
  std::uint64_t byte_count() const noexcept { return permit_.bytes(); }

 private:
  static Result<PageRun> map_under(Permit permit);
  void swap(PageRun& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(permit_, other.permit_);
    std::swap(reusable_, other.reusable_);
  }

  // Empty, or data_ points at exactly permit_.bytes() mapped bytes, whole pages.
  Permit permit_;
  void* data_ = nullptr;
  bool reusable_ = false;  // goes to the ledger's pool, not to the kernel
};

// A fixed-size array of T in its own pages, counted in a ledger. All bytes start as zero, which
// must be a valid T. Move-only.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept
      : pages_(std::move(other.pages_)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    pages_ = std::move(other.pages_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  // `count` elements; 0 is an empty buffer without pages. Errors as PageRun::map.
  static Result<Buffer> allocate(std::size_t count, MemoryCategory category, std::string_view owner,
                                 Ledger& ledger = Ledger::process()) {
    Buffer buffer;
    if (count == 0) return buffer;
    if (count > std::numeric_limits<std::uint64_t>::max() / sizeof(T)) {
      return Error{ErrorKind::kResourceExhausted,
                   std::string(owner) + ": the byte count of its elements exceeds 64 bits"};
    }
    CUZK_TRY(buffer.pages_,
             PageRun::map(std::uint64_t{count} * sizeof(T), category, owner, ledger));
    buffer.size_ = count;
    return buffer;
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* data() noexcept { return static_cast<T*>(pages_.data()); }
  const T* data() const noexcept { return static_cast<const T*>(pages_.data()); }
  T& operator[](std::size_t i) noexcept {
    CUZK_DEBUG_ASSERT(i < size_);
    return data()[i];
  }
  const T& operator[](std::size_t i) const noexcept {
    CUZK_DEBUG_ASSERT(i < size_);
    return data()[i];
  }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size_; }
  std::span<T> span() noexcept { return {data(), size_}; }
  std::span<const T> span() const noexcept { return {data(), size_}; }
  std::uint64_t byte_count() const noexcept { return pages_.byte_count(); }

 private:
  PageRun pages_;
  std::size_t size_ = 0;
};

}  // namespace cuzk::base

// The accounts, the queue in front of them, and the pages behind them.
//
// One mutex guards it all: requests are for large buffers, each worth milliseconds of work, so
// finer locks would gain nothing, and sums over several accounts are exact. The queue is a sorted
// list that is walked from the front whenever room appears; it has an entry for each thread
// that waits in wait_admit().
//
// Memory that is refused to the ledger itself changes no number: what charges bytes has all the
// entries it needs before the first one changes, and what gives them back or grants them (in
// destructors) takes none at all.
#include "base/ledger.h"

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <new>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"

namespace cuzk::base {
namespace {

constexpr std::uint64_t kHugePageBytes = std::uint64_t{2} << 20;
// Far above any machine, far below where rounding up to pages could wrap.
constexpr std::uint64_t kRequestBytesMax = std::uint64_t{1} << 56;
// A waiting request rises a class each time that so many later ones were let in before it.
constexpr int kPassesPerClass = 16;
// Short enough to lie in the string itself: giving idle pages back must not need memory.
constexpr char kPoolOwner[] = "idle pages";
static_assert(sizeof kPoolOwner <= 16);
static_assert(kHugePageBytes < kRequestBytesMax);
static_assert(kRequestBytesMax < std::numeric_limits<std::uint64_t>::max() / 2,
              "rounding up to pages stays within 64 bits");

// Requests above the bound come back as they are, to be refused with the number that was asked for.
std::uint64_t round_up_to_pages(std::uint64_t bytes) {
  if (bytes > kRequestBytesMax) return bytes;
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

void raise_to(MemoryUse& use, std::uint64_t bytes) {
  use.used_bytes += bytes;
  use.peak_bytes = std::max(use.peak_bytes, use.used_bytes);
}

void lower_by(MemoryUse& use, std::uint64_t bytes) {
  CUZK_ASSERT(use.used_bytes >= bytes);
  use.used_bytes -= bytes;
}

// The accounts that a request for `account` is charged to; the second may repeat the first.
std::array<Account, 2> charged_accounts(Account account) {
  return {account, account == Account::pinned() ? Account::host() : account};
}

// The class that a request starts in.
int class_of(const MemoryRequest& request) {
  return std::clamp(request.priority, 0, MemoryRequest::kPriorityLast);
}

bool on_host(Account account) { return charged_accounts(account)[1] == Account::host(); }

}  // namespace

// Lives on the stack of the thread that waits; everything but `changed` belongs to the ledger's
// mutex. In waiters_ exactly while it waits: whoever grants or refuses takes it out, and a thread
// that gives up takes itself out. order_class starts as the priority and only goes down, towards 0,
// which is first.
struct Ledger::Waiter {
  enum class State { kWaiting, kGranted, kRefused };

  // An account that this one closes to all behind it, in the list of them (first_grantable()).
  struct Closed {
    Account account = Account::host();
    Closed* next = nullptr;
  };

  const MemoryRequest* request;
  int order_class;
  std::uint64_t arrival;
  // What the grant charges and its entry among the owners, which it then need not allocate.
  Key key;
  std::map<Key, std::uint64_t>::node_type entry;
  std::array<Closed, 2> closed{};
  int passed_count = 0;
  State state = State::kWaiting;
  std::condition_variable_any changed;

  bool before(const Waiter& other) const {
    return std::pair(order_class, arrival) < std::pair(other.order_class, other.arrival);
  }
};

std::string_view to_string(MemoryCategory category) noexcept {
  switch (category) {
    case MemoryCategory::kSrs: return "srs";
    case MemoryCategory::kMatrices: return "matrices";
    case MemoryCategory::kInput: return "input";
    case MemoryCategory::kWitness: return "witness";
    case MemoryCategory::kEvaluation: return "evaluation";
    case MemoryCategory::kMsmScratch: return "msm-scratch";
    case MemoryCategory::kPending: return "pending";
    case MemoryCategory::kPool: return "pool";
    case MemoryCategory::kOther: return "other";
  }
  return "other";
}

std::string Account::name() const {
  if (*this == host()) return "host";
  if (*this == pinned()) return "pinned";
  return fmt::format("device:{}", slot_ - 2);
}

Ledger& Ledger::process() {
  // Never destroyed: buffers of static lifetime may outlive every other static.
  static Ledger* const ledger = new Ledger();
  return *ledger;
}

Ledger::Ledger(std::uint64_t budget_bytes) {
  const MutexLock lock(mutex_);
  accounts_[Account::host()].budget_bytes = budget_bytes;
}

Ledger::~Ledger() {
  set_pool_limit(0);
  const MutexLock lock(mutex_);
  CUZK_ASSERT(pool_.empty() && pool_bytes_ == 0);
  CUZK_ASSERT(waiters_.empty() && owners_.empty());
  for (const auto& [account, state] : accounts_) CUZK_ASSERT(state.use.used_bytes == 0);
}

void Ledger::set_budget(Account account, std::uint64_t budget_bytes) {
  const MutexLock lock(mutex_);
  accounts_[account].budget_bytes = budget_bytes;
  shed_pool(0);  // idle pages must not stay above a budget that shrank
  for (Waiter* waiter : waiters_) {
    if (can_ever_fit(*waiter->request)) continue;
    waiter->state = Waiter::State::kRefused;
    waiter->changed.notify_one();
  }
  std::erase_if(waiters_, [](const Waiter* w) { return w->state == Waiter::State::kRefused; });
  grant_waiting();
}

// Whether `bytes` more would not fit this one account. `charged` is a real account, not pinned
// memory's pair; an account that was never named or has no budget has room for anything.
bool Ledger::lacks_room(Account charged, std::uint64_t bytes) const {
  const auto found = accounts_.find(charged);
  if (found == accounts_.end() || found->second.budget_bytes == 0) return false;
  const std::uint64_t budget = found->second.budget_bytes;
  // Idle pages give way, so they do not take room.
  const std::uint64_t idle = charged == Account::host() ? pool_bytes_ : 0;
  CUZK_ASSERT(found->second.use.used_bytes >= idle);
  const std::uint64_t used = found->second.use.used_bytes - idle;
  return used > budget || bytes > budget - used;
}

bool Ledger::fits(Account account, std::uint64_t bytes) const {
  const auto charged = charged_accounts(account);
  return !lacks_room(charged[0], bytes) && !lacks_room(charged[1], bytes);
}

// Whether the request would fit if nothing else were held. The border between "wait" and "no".
bool Ledger::can_ever_fit(const MemoryRequest& request) const {
  if (request.bytes > kRequestBytesMax) return false;
  for (const Account account : charged_accounts(request.account)) {
    const auto found = accounts_.find(account);
    if (found == accounts_.end() || found->second.budget_bytes == 0) continue;
    if (request.bytes > found->second.budget_bytes) return false;
  }
  return true;
}

// The sentence for a request that does not fit now, or never: need, budget, what is free and who
// holds the rest. Of the accounts charged it speaks of the last one that lacks room.
Error Ledger::refusal(const MemoryRequest& request) const {
  const std::string what = fmt::format("{} ({}) needs {} bytes", request.owner,
                                       to_string(request.category), request.bytes);
  if (request.bytes > kRequestBytesMax) {
    return {ErrorKind::kResourceExhausted,
            what + " and can never fit: no machine has that much memory"};
  }
  Account short_one = request.account;
  for (const Account account : charged_accounts(request.account)) {
    if (lacks_room(account, request.bytes)) short_one = account;
  }
  const AccountState& state = accounts_.at(short_one);
  const std::string of =
      short_one == Account::host() ? std::string() : fmt::format(" of {}", short_one.name());
  if (request.bytes > state.budget_bytes) {
    return {ErrorKind::kResourceExhausted,
            fmt::format("{} and can never fit: the whole budget{} is {} bytes", what, of,
                        state.budget_bytes)};
  }
  std::string held;
  for (std::size_t i = 0; i < kMemoryCategoryCount && on_host(short_one); ++i) {
    if (by_category_[i].used_bytes == 0) continue;
    held += fmt::format("{}{} {}", held.empty() ? "" : ", ",
                        to_string(static_cast<MemoryCategory>(i)), by_category_[i].used_bytes);
  }
  if (held.empty()) held = std::to_string(state.use.used_bytes);
  const std::uint64_t free_bytes =
      state.budget_bytes - std::min(state.budget_bytes, state.use.used_bytes);
  return {ErrorKind::kResourceExhausted,
          fmt::format("{}, {} of the budget{} of {} are free (held: {})", what, free_bytes, of,
                      state.budget_bytes, held)};
}

// Counts the bytes, over the budget too: whether they fit is the caller's question. Idle pages make
// way first, so that the peak never shows them beside what took their room; they themselves are
// there already. Takes no memory where the key and its accounts have their entries.
void Ledger::charge(const Key& key, std::uint64_t bytes) {
  if (bytes == 0) return;
  const auto charged = charged_accounts(key.account);
  for (const Account account : charged) accounts_.try_emplace(account);
  std::uint64_t& owned = owners_[key];
  // Nothing throws from here on.
  if (on_host(key.account) && key.category != MemoryCategory::kPool) shed_pool(bytes);
  owned += bytes;
  raise_to(accounts_[charged[0]].use, bytes);
  if (charged[1] != charged[0]) raise_to(accounts_[charged[1]].use, bytes);
  if (on_host(key.account)) {
    MemoryUse& category = by_category_[static_cast<std::size_t>(key.category)];
    raise_to(category, bytes);
    CUZK_DEBUG_ASSERT(category.used_bytes <= accounts_[Account::host()].use.used_bytes);
  }
}

// Takes back part or all of what the key was charged. Grants nobody: callers do, once all is done.
void Ledger::discharge(const Key& key, std::uint64_t bytes) {
  if (bytes == 0) return;
  const auto owner = owners_.find(key);
  CUZK_ASSERT(owner != owners_.end() && owner->second >= bytes);
  owner->second -= bytes;
  if (owner->second == 0) owners_.erase(owner);
  const auto charged = charged_accounts(key.account);
  lower_by(accounts_[charged[0]].use, bytes);
  if (charged[1] != charged[0]) lower_by(accounts_[charged[1]].use, bytes);
  if (on_host(key.account)) {
    lower_by(by_category_[static_cast<std::size_t>(key.category)], bytes);
  }
}

// The part of admit() and try_admit() that is the same: charge what fits, refuse what does not.
Result<Permit> Ledger::admit_now(const MemoryRequest& request) {
  if (request.bytes > kRequestBytesMax || !fits(request.account, request.bytes)) {
    return refusal(request);
  }
  Key key{request.account, request.category, request.owner};
  charge(key, request.bytes);
  return Permit(this, request.bytes, std::move(key));
}

Result<Permit> Ledger::admit(std::uint64_t bytes, MemoryCategory category, std::string_view owner) {
  return admit(MemoryRequest{bytes, category, std::string(owner)});
}

Result<Permit> Ledger::admit(const MemoryRequest& request) {
  const MutexLock lock(mutex_);
  return admit_now(request);
}

Result<Permit> Ledger::try_admit(const MemoryRequest& request) {
  const MutexLock lock(mutex_);
  if (!can_ever_fit(request)) return refusal(request);
  const auto wanted = charged_accounts(request.account);
  const int order_class = class_of(request);
  for (const Waiter* waiter : waiters_) {
    const auto theirs = charged_accounts(waiter->request->account);
    const bool shared = std::find_first_of(wanted.begin(), wanted.end(), theirs.begin(),
                                           theirs.end()) != wanted.end();
    if (!shared || waiter->order_class > order_class) continue;
    return Error{ErrorKind::kUnavailable,
                 fmt::format("{} ({}) needs {} bytes; {} earlier requests wait for {}",
                             request.owner, to_string(request.category), request.bytes,
                             waiters_.size(), request.account.name())};
  }
  auto permit = admit_now(request);
  // Who is let in ahead of a waiter counts as passing it, whether or not it waited itself.
  if (permit.ok()) count_passing(arrival_count_++);
  return permit;
}

Result<Permit> Ledger::wait_admit(const MemoryRequest& request, std::stop_token stop) {
  const MutexLock lock(mutex_);
  if (!can_ever_fit(request)) return refusal(request);
  const Key key{request.account, request.category, request.owner};
  Permit granted(this, 0, key);
  std::map<Key, std::uint64_t> one{{key, 0}};
  for (const Account account : charged_accounts(request.account)) accounts_.try_emplace(account);
  Waiter self{&request, class_of(request), arrival_count_++, key, one.extract(one.begin())};
  insert(self);
  grant_waiting();  // it may be the first, and then does not sleep at all
  self.changed.wait(mutex_, std::move(stop),
                    [&self] { return self.state != Waiter::State::kWaiting; });
  switch (self.state) {
    case Waiter::State::kGranted:
      granted.bytes_ = request.bytes;
      return Result<Permit>(std::move(granted));
    case Waiter::State::kRefused: return refusal(request);
    case Waiter::State::kWaiting: break;
  }
  // Stopped. A grant that came first would have been taken above, so nothing is held here.
  std::erase(waiters_, &self);
  grant_waiting();  // those behind may have waited for this one only
  return Error{ErrorKind::kCancelled,
               fmt::format("{} ({}) no longer waits for {} bytes", request.owner,
                           to_string(request.category), request.bytes)};
}

void Ledger::insert(Waiter& waiter) {
  const auto place =
      std::upper_bound(waiters_.begin(), waiters_.end(), &waiter,
                       [](const Waiter* x, const Waiter* y) { return x->before(*y); });
  waiters_.insert(place, &waiter);
  CUZK_DEBUG_ASSERT(std::is_sorted(waiters_.begin(), waiters_.end(),
                                   [](const Waiter* x, const Waiter* y) { return x->before(*y); }));
}

// A waiter that lacks room in an account closes that account to all behind it. One that waits for
// pinned memory leaves the host open: when pinned memory is there and the host is full, it closes
// the host, and nobody can take the pinned memory meanwhile without the host.
Ledger::Waiter* Ledger::first_grantable() {
  // As many as there are accounts, linked through those who close them.
  Waiter::Closed* closed = nullptr;
  const auto is_closed = [&closed](Account account) {
    for (const auto* each = closed; each != nullptr; each = each->next) {
      if (each->account == account) return true;
    }
    return false;
  };
  for (Waiter* waiter : waiters_) {
    bool grantable = true;
    auto own = waiter->closed.begin();
    for (const Account account : charged_accounts(waiter->request->account)) {
      const bool lacking = lacks_room(account, waiter->request->bytes);
      grantable = grantable && !lacking && !is_closed(account);
      if (!lacking || is_closed(account)) continue;
      *own = {account, closed};
      closed = &*own++;
    }
    if (grantable) return waiter;
  }
  return nullptr;
}

// Every waiter that came before `arrival` was passed once more. Those of class 0 cannot rise, and
// the order among the others changes only here.
void Ledger::count_passing(std::uint64_t arrival) {
  for (Waiter* waiter : waiters_) {
    if (waiter->arrival > arrival || waiter->order_class == 0) continue;
    if (++waiter->passed_count < kPassesPerClass) continue;
    waiter->passed_count = 0;
    --waiter->order_class;
  }
  std::sort(waiters_.begin(), waiters_.end(),
            [](const Waiter* x, const Waiter* y) { return x->before(*y); });
}

// One at a time, since each grant changes what fits and who is first. The memory is charged here,
// by the thread that let it go, so nobody can take it before the waiter wakes up.
void Ledger::grant_waiting() {
  while (Waiter* waiter = first_grantable()) {
    CUZK_ASSERT(waiter->state == Waiter::State::kWaiting);
    const std::uint64_t bytes = waiter->request->bytes;
    if (bytes > 0) owners_.insert(std::move(waiter->entry));
    charge(waiter->key, bytes);
    std::erase(waiters_, waiter);
    count_passing(waiter->arrival);
    waiter->state = Waiter::State::kGranted;
    waiter->changed.notify_one();  // it cannot return, and vanish, before we unlock
  }
}

void Ledger::release(std::uint64_t bytes, const Key& key) noexcept {
  if (bytes == 0) return;
  const MutexLock lock(mutex_);
  discharge(key, bytes);
  grant_waiting();
}

void Ledger::reassign(std::uint64_t bytes, const Key& from, const Key& to) {
  if (bytes == 0 || from == to) return;
  CUZK_ASSERT(from.account == to.account);
  // Under one lock: no waiter gets what only changes its owner.
  const MutexLock lock(mutex_);
  owners_[to];  // the entry first, while nothing has changed
  discharge(from, bytes);
  charge(to, bytes);
}

void Ledger::set_pool_limit(std::uint64_t limit_bytes) {
  const MutexLock lock(mutex_);
  pool_limit_bytes_ = limit_bytes;
  shed_pool(0);
}

// Unmaps idle pages until `needed_bytes` fit the host's budget or none are left. Under the mutex,
// because the account must not say free what is still resident.
void Ledger::shed_pool(std::uint64_t needed_bytes) {
  const AccountState& host = accounts_[Account::host()];
  while (!pool_.empty()) {
    const bool over_limit = pool_bytes_ > pool_limit_bytes_;
    const bool has_room =
        host.budget_bytes == 0 || (host.use.used_bytes <= host.budget_bytes &&
                                   needed_bytes <= host.budget_bytes - host.use.used_bytes);
    if (has_room && !over_limit) return;
    const auto largest = std::prev(pool_.end());  // fewest calls for the bytes
    const std::uint64_t bytes = largest->first;
    ::munmap(largest->second, bytes);
    pool_.erase(largest);
    CUZK_ASSERT(pool_bytes_ >= bytes);
    pool_bytes_ -= bytes;
    discharge(Key{Account::host(), MemoryCategory::kPool, kPoolOwner}, bytes);
  }
}

// Neither asks for room nor waits: what was counted as idle is counted as the key's, so the total
// stays as it was.
void* Ledger::take_pooled(std::uint64_t bytes, const Key& key) {
  const MutexLock lock(mutex_);
  const auto found = pool_.find(bytes);
  if (found == pool_.end()) return nullptr;
  CUZK_ASSERT(key.category != MemoryCategory::kPool);
  owners_[key];  // the entry first, while nothing has changed
  void* const pages = found->second;
  pool_.erase(found);
  pool_bytes_ -= bytes;
  discharge(Key{Account::host(), MemoryCategory::kPool, kPoolOwner}, bytes);
  charge(key, bytes);
  return pages;
}

// Takes over pages that would be unmapped, with what they are charged; false leaves both to the
// caller. Only the host's: pages that a device has pinned or owns are not plain memory.
bool Ledger::keep_pooled(void* pages, std::uint64_t bytes, const Key& key) try {
  CUZK_ASSERT(pages != nullptr && bytes > 0);
  const MutexLock lock(mutex_);
  const AccountState& host = accounts_[Account::host()];
  // Where running work is over its budget, pages go back to the system at once.
  const bool over_budget = host.budget_bytes != 0 && host.use.used_bytes > host.budget_bytes;
  if (bytes > pool_limit_bytes_ || pool_bytes_ > pool_limit_bytes_ - bytes || over_budget ||
      key.account != Account::host()) {
    return false;
  }
  std::multimap<std::uint64_t, void*> one;
  auto entry = one.extract(one.emplace(bytes, pages));
  const Key idle{Account::host(), MemoryCategory::kPool, kPoolOwner};
  owners_[idle];  // the last that takes memory
  discharge(key, bytes);
  charge(idle, bytes);
  pool_.insert(std::move(entry));
  pool_bytes_ += bytes;
  CUZK_ASSERT(pool_bytes_ <= pool_limit_bytes_);
  grant_waiting();  // idle pages count as room
  return true;
} catch (const std::bad_alloc&) {
  return false;  // a system this short of memory wants the pages back
}

LedgerSnapshot Ledger::snapshot() const {
  LedgerSnapshot result;
  const MutexLock lock(mutex_);
  const AccountState& host = accounts_.at(Account::host());
  result.budget_bytes = host.budget_bytes;
  result.total = host.use;
  result.by_category = by_category_;
  for (const auto& [account, state] : accounts_) {
    result.accounts.push_back({account, state.budget_bytes, state.use});
  }
  for (const auto& [key, bytes] : owners_) {
    result.owners.push_back({key.category, key.owner, bytes, key.account});
  }
  std::stable_sort(result.owners.begin(), result.owners.end(),
                   [](const auto& x, const auto& y) { return x.used_bytes > y.used_bytes; });
  result.waiting_count = waiters_.size();
  for (const Waiter* waiter : waiters_) result.waiting_bytes += waiter->request->bytes;
  return result;
}

void Ledger::reset_peaks() {
  const MutexLock lock(mutex_);
  for (auto& [account, state] : accounts_) state.use.peak_bytes = state.use.used_bytes;
  for (MemoryUse& use : by_category_) use.peak_bytes = use.used_bytes;
}

Permit::~Permit() {
  if (ledger_ != nullptr) ledger_->release(bytes_, key_);
}

Permit Permit::split(std::uint64_t bytes) {
  CUZK_ASSERT(bytes <= bytes_);
  // The ledger is not asked: what it counts for the key is the sum, and that stays.
  Permit part(ledger_, 0, key_);
  part.bytes_ = bytes;
  bytes_ -= bytes;
  return part;
}

void Permit::reassign(MemoryCategory category, std::string_view owner) {
  if (ledger_ == nullptr) return;
  Ledger::Key key{key_.account, category, std::string(owner)};
  ledger_->reassign(bytes_, key_, key);
  key_ = std::move(key);
}

// Where the kernel refuses, the permit dies on the way out and its bytes are free again.
Result<PageRun> PageRun::map_under(Permit permit) {
  const std::uint64_t bytes = permit.bytes();
  CUZK_ASSERT(bytes > 0 && bytes == round_up_to_pages(bytes));
  void* const pages =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    return Error{ErrorKind::kResourceExhausted,
                 fmt::format("{} ({}) needs {} bytes and the operating system has none to give",
                             permit.key_.owner, to_string(permit.key_.category), bytes)};
  }
  // A wish, not a need: where huge pages are off the buffer works with small ones.
  if (bytes >= kHugePageBytes) ::madvise(pages, bytes, MADV_HUGEPAGE);
  PageRun run;
  run.permit_ = std::move(permit);
  run.data_ = pages;
  return run;
}

Result<PageRun> PageRun::map(std::uint64_t bytes, MemoryCategory category, std::string_view owner,
                             Ledger& ledger) {
  if (bytes == 0) return PageRun();
  CUZK_TRY(Permit permit, ledger.admit(round_up_to_pages(bytes), category, owner));
  return map_under(std::move(permit));
}

Result<PageRun> PageRun::map_within(Permit& reservation, std::uint64_t bytes,
                                    MemoryCategory category, std::string_view owner) {
  if (bytes == 0) return PageRun();
  const std::uint64_t rounded = round_up_to_pages(bytes);
  if (rounded > reservation.bytes()) {
    return Error{ErrorKind::kResourceExhausted,
                 fmt::format("{} ({}) needs {} bytes of a reservation that has {} left", owner,
                             to_string(category), rounded, reservation.bytes())};
  }
  Permit permit = reservation.split(rounded);
  permit.reassign(category, owner);
  return map_under(std::move(permit));
}

Result<PageRun> PageRun::reuse(std::uint64_t bytes, MemoryCategory category, std::string_view owner,
                               Ledger& ledger) {
  if (bytes == 0) return PageRun();
  // Only an exact fit is taken: a longer run in its place would hold pages that nobody counts on.
  const std::uint64_t rounded = round_up_to_pages(bytes);
  Ledger::Key key{Account::host(), category, std::string(owner)};
  PageRun run;
  if (void* const pages = ledger.take_pooled(rounded, key); pages != nullptr) {
    run.permit_ = Permit(&ledger, rounded, std::move(key));
    run.data_ = pages;
  } else {
    CUZK_TRY(run, map(bytes, category, owner, ledger));
  }
  run.reusable_ = true;
  return run;
}

PageRun::~PageRun() {
  if (data_ == nullptr) return;
  CUZK_ASSERT(permit_.ledger_ != nullptr && permit_.bytes() > 0);
  if (reusable_ && permit_.ledger_->keep_pooled(data_, permit_.bytes(), permit_.key_)) {
    permit_.bytes_ = 0;  // the pool holds them now
    return;
  }
  ::munmap(data_, permit_.bytes());
}

}  // namespace cuzk::base

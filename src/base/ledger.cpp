// The account, and the pages behind it.
#include "base/ledger.h"

#include <algorithm>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cuzk::base {
namespace {

constexpr std::uint64_t kHugePageBytes = std::uint64_t{2} << 20;
// Far above any machine, far below where rounding up to pages could wrap.
constexpr std::uint64_t kRequestBytesMax = std::uint64_t{1} << 56;

std::uint64_t round_up_to_pages(std::uint64_t bytes) {
  const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

void raise_to(MemoryUse& use, std::uint64_t bytes) {
  use.used_bytes += bytes;
  use.peak_bytes = std::max(use.peak_bytes, use.used_bytes);
}

}  // namespace

std::string_view to_string(MemoryCategory category) noexcept {
  switch (category) {
    case MemoryCategory::kSrs: return "srs";
    case MemoryCategory::kMatrices: return "matrices";
    case MemoryCategory::kInput: return "input";
    case MemoryCategory::kWitness: return "witness";
    case MemoryCategory::kEvaluation: return "evaluation";
    case MemoryCategory::kMsmScratch: return "msm-scratch";
    case MemoryCategory::kPending: return "pending";
    case MemoryCategory::kOther: return "other";
  }
  return "other";
}

Ledger& Ledger::process() {
  // Never destroyed: buffers of static lifetime may outlive every other static.
  static Ledger* const ledger = new Ledger();
  return *ledger;
}

Ledger::~Ledger() { CUZK_CHECK(total_.used_bytes == 0); }

void Ledger::set_budget(std::uint64_t budget_bytes) {
  const std::lock_guard lock(mutex_);
  budget_bytes_ = budget_bytes;
}

Result<Permit> Ledger::admit(std::uint64_t bytes, MemoryCategory category, std::string_view owner) {
  const std::lock_guard lock(mutex_);
  const bool over_budget = budget_bytes_ != 0 && (total_.used_bytes > budget_bytes_ ||
                                                  bytes > budget_bytes_ - total_.used_bytes);
  if (over_budget || bytes > kRequestBytesMax) return refusal(bytes, category, owner);
  OwnerKey key{category, std::string(owner)};
  if (bytes > 0) owners_[key] += bytes;
  raise_to(total_, bytes);
  raise_to(by_category_[static_cast<std::size_t>(category)], bytes);
  return Permit(this, bytes, std::move(key));
}

Error Ledger::refusal(std::uint64_t bytes, MemoryCategory category, std::string_view owner) const {
  if (budget_bytes_ == 0 || bytes > budget_bytes_) {
    const std::string limit = budget_bytes_ == 0
                                  ? std::string("no machine has that much memory")
                                  : fmt::format("the whole budget is {} bytes", budget_bytes_);
    return Error{ErrorKind::kResourceExhausted,
                 fmt::format("{} ({}) needs {} bytes and can never fit: {}", owner,
                             to_string(category), bytes, limit)};
  }
  std::string held;
  for (std::size_t i = 0; i < kMemoryCategoryCount; ++i) {
    if (by_category_[i].used_bytes == 0) continue;
    held += fmt::format("{}{} {}", held.empty() ? "" : ", ",
                        to_string(static_cast<MemoryCategory>(i)), by_category_[i].used_bytes);
  }
  const std::uint64_t free_bytes = budget_bytes_ - std::min(budget_bytes_, total_.used_bytes);
  return Error{ErrorKind::kResourceExhausted,
               fmt::format("{} ({}) needs {} bytes, {} of the budget of {} are free (held: {})",
                           owner, to_string(category), bytes, free_bytes, budget_bytes_, held)};
}

void Ledger::release(std::uint64_t bytes, const OwnerKey& key) noexcept {
  if (bytes == 0) return;
  const std::lock_guard lock(mutex_);
  MemoryUse& category = by_category_[static_cast<std::size_t>(key.first)];
  const auto owner = owners_.find(key);
  CUZK_CHECK(owner != owners_.end() && owner->second >= bytes);
  CUZK_CHECK(total_.used_bytes >= bytes && category.used_bytes >= bytes);
  owner->second -= bytes;
  if (owner->second == 0) owners_.erase(owner);
  total_.used_bytes -= bytes;
  category.used_bytes -= bytes;
}

LedgerSnapshot Ledger::snapshot() const {
  LedgerSnapshot result;
  const std::lock_guard lock(mutex_);
  result.budget_bytes = budget_bytes_;
  result.total = total_;
  result.by_category = by_category_;
  for (const auto& [key, bytes] : owners_) result.owners.push_back({key.first, key.second, bytes});
  std::stable_sort(result.owners.begin(), result.owners.end(),
                   [](const auto& x, const auto& y) { return x.used_bytes > y.used_bytes; });
  return result;
}

void Ledger::reset_peaks() {
  const std::lock_guard lock(mutex_);
  total_.peak_bytes = total_.used_bytes;
  for (MemoryUse& use : by_category_) use.peak_bytes = use.used_bytes;
}

Permit::~Permit() {
  if (ledger_ != nullptr) ledger_->release(bytes_, key_);
}

Result<PageRun> PageRun::map(std::uint64_t bytes, MemoryCategory category, std::string_view owner,
                             Ledger& ledger) {
  PageRun run;
  if (bytes == 0) return run;
  const std::uint64_t rounded = bytes > kRequestBytesMax ? bytes : round_up_to_pages(bytes);
  CUZK_TRY(run.permit_, ledger.admit(rounded, category, owner));
  void* const pages =
      ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) {
    return Error{ErrorKind::kResourceExhausted,
                 fmt::format("{} ({}) needs {} bytes and the operating system has none to give",
                             owner, to_string(category), rounded)};
  }
  // A wish, not a need: where huge pages are off the buffer works with small ones.
  if (rounded >= kHugePageBytes) ::madvise(pages, rounded, MADV_HUGEPAGE);
  run.data_ = pages;
  return run;
}

PageRun::~PageRun() {
  if (data_ != nullptr) ::munmap(data_, permit_.bytes());
}

}  // namespace cuzk::base

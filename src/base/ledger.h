// The memory ledger: one account of every large buffer, by category and owner.
//
// A buffer is admitted against the budget before its pages exist, comes straight from the kernel
// (so the allocator's arenas keep nothing that nobody owns) and leaves the account when it is
// unmapped. What is counted is what was asked for, rounded up to pages. The account can be read at
// any moment. Admission never waits: what does not fit is refused with the arithmetic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cuzk::base {

// What a buffer is for. The words of to_string are stable: status pages and traces show them.
enum class MemoryCategory {
  kSrs,         // proving keys held in memory (mapped files are the kernel's, not counted)
  kMatrices,    // circuit shapes
  kInput,       // job bytes as they arrived
  kWitness,     // assignments
  kEvaluation,  // a, b, h
  kMsmScratch,  // buckets, digits, tables of multiples
  kPending,     // what a started proof holds until it is finished
  kOther,
};
inline constexpr std::size_t kMemoryCategoryCount = 8;
std::string_view to_string(MemoryCategory category) noexcept;

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
  };
  std::uint64_t budget_bytes = 0;  // 0: no budget
  MemoryUse total;
  std::array<MemoryUse, kMemoryCategoryCount> by_category;
  std::vector<Owner> owners;  // those that hold something, largest first

  const MemoryUse& of(MemoryCategory category) const {
    return by_category[static_cast<std::size_t>(category)];
  }
};

class Permit;

// One account. Thread-safe. Outlives its permits.
class Ledger {
 public:
  // The account that buffers use unless told otherwise.
  static Ledger& process();

  explicit Ledger(std::uint64_t budget_bytes = 0) : budget_bytes_(budget_bytes) {}
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  ~Ledger();

  // 0 removes the budget. What is already held stays, even above a smaller budget.
  void set_budget(std::uint64_t budget_bytes);

  // Counts `bytes` for `owner` until the permit dies. Error kResourceExhausted with need, budget
  // and holders when the budget cannot hold it.
  Result<Permit> admit(std::uint64_t bytes, MemoryCategory category, std::string_view owner);

  LedgerSnapshot snapshot() const;
  // Makes the peaks equal to what is held now, so that a stage's own peak can be read after it.
  void reset_peaks();

 private:
  friend class Permit;
  using OwnerKey = std::pair<MemoryCategory, std::string>;
  Error refusal(std::uint64_t bytes, MemoryCategory category, std::string_view owner) const;
  void release(std::uint64_t bytes, const OwnerKey& key) noexcept;

  // Invariant: total_.used_bytes is the sum of by_category_ and of owners_; no owner holds 0.
  mutable std::mutex mutex_;
  std::uint64_t budget_bytes_ = 0;
  MemoryUse total_;
  std::array<MemoryUse, kMemoryCategoryCount> by_category_{};
  std::map<OwnerKey, std::uint64_t> owners_;
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

 private:
  friend class Ledger;
  Permit(Ledger* ledger, std::uint64_t bytes, Ledger::OwnerKey key)
      : ledger_(ledger), bytes_(bytes), key_(std::move(key)) {}
  void swap(Permit& other) noexcept {
    std::swap(ledger_, other.ledger_);
    std::swap(bytes_, other.bytes_);
    std::swap(key_, other.key_);
  }

  Ledger* ledger_ = nullptr;
  std::uint64_t bytes_ = 0;
  Ledger::OwnerKey key_{MemoryCategory::kOther, {}};
};

// Pages from the kernel under a permit. Zero-filled. Move-only.
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

  // At least `bytes` bytes; huge pages are asked for from 2 MiB on. Errors: the ledger's refusal,
  // or kResourceExhausted when the kernel has no memory.
  static Result<PageRun> map(std::uint64_t bytes, MemoryCategory category, std::string_view owner,
                             Ledger& ledger = Ledger::process());
  void* data() const noexcept { return data_; }
  std::uint64_t byte_count() const noexcept { return permit_.bytes(); }

 private:
  void swap(PageRun& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(permit_, other.permit_);
  }

  Permit permit_;
  void* data_ = nullptr;
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
  T& operator[](std::size_t i) noexcept { return data()[i]; }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }
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

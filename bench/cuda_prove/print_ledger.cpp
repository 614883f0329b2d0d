// What the ledger knows, as a table: each account with its peak and budget, then who holds what.
//
// Printed at points where the amount should be known (before, between and after proofs), so that
// memory that is left behind is seen with its owner's name.
#include "base/ledger.h"
#include "bench/cuda_prove/stage_times.h"

namespace cuzk::bench::cuda_prove {
namespace {

constexpr double kMiB = 1 << 20, kGiB = 1 << 30;

}  // namespace

std::uint64_t device_bytes(base::MemoryCategory category) {
  std::uint64_t bytes = 0;
  for (const auto& owner : base::Ledger::process().snapshot().owners) {
    const bool is_on_device = owner.account >= base::Account::device(0);
    if (is_on_device && owner.category == category) bytes += owner.used_bytes;
  }
  return bytes;
}

void print_ledger(const char* when) {
  const auto now = base::Ledger::process().snapshot();
  std::printf("ledger %s:\n", when);
  for (const auto& account : now.accounts) {
    std::printf("  %-9s %7.3f GiB, peak %7.3f, budget %.2f\n", account.account.name().c_str(),
                double(account.use.used_bytes) / kGiB, double(account.use.peak_bytes) / kGiB,
                double(account.budget_bytes) / kGiB);
  }
  for (const auto& owner : now.owners) {
    std::printf("    %-9s %-11s %-28s %8.2f MiB\n", owner.account.name().c_str(),
                std::string(base::to_string(owner.category)).c_str(), owner.name.c_str(),
                double(owner.used_bytes) / kMiB);
  }
}

}  // namespace cuzk::bench::cuda_prove

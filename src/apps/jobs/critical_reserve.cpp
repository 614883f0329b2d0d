// Winning PoSt is the one kind that people send as critical: it has an epoch of 30 seconds.
#include "apps/jobs/critical_reserve.h"

#include <algorithm>

namespace cuzk::apps {
namespace {

using filecoin::CircuitKind;

// A job's input beside its key and partition: a commit phase 1 of 32 GiB sectors is 50 MB.
constexpr std::uint64_t kInputBytes = std::uint64_t{128} << 20;

// Of the largest parameter set of a kind that is there; 0: none.
std::uint64_t largest_need(FilecoinKeys& keys, CircuitKind kind) {
  std::uint64_t largest = 0;
  for (const filecoin::SectorShape& shape : filecoin::all_sector_shapes()) {
    const auto circuit = keys.circuit(kind, shape);
    if (!circuit.ok()) continue;
    largest = std::max(largest, (*circuit)->key.bytes + (*circuit)->plan.peak_bytes());
  }
  return largest;
}

}  // namespace

std::uint64_t critical_reserve_bytes(FilecoinKeys& keys, std::uint64_t budget_bytes) {
  const std::uint64_t wanted = largest_need(keys, CircuitKind::kWinningPost);
  std::uint64_t others = 0;
  for (const CircuitKind kind :
       {CircuitKind::kPorep, CircuitKind::kWindowPost, CircuitKind::kUpdate}) {
    others = std::max(others, largest_need(keys, kind));
  }
  if (others != 0) others += kInputBytes;
  const std::uint64_t spare = budget_bytes > others ? budget_bytes - others : 0;
  return std::min({wanted, budget_bytes / 4, spare});
}

}  // namespace cuzk::apps

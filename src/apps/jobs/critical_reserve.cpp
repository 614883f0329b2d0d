// Winning PoSt is the one kind that people send as critical: it has an epoch of 30 seconds.
//
// Its need is known before any job comes, from the parameters that lie there: so much is kept free
// when nobody says how much. Large jobs pay for it by waiting longer for each other, hence the
// borders. Where winning PoSts are proved elsewhere the configuration says 0.
#include "apps/jobs/critical_reserve.h"

#include <algorithm>

namespace cuzk::apps {
namespace {

using filecoin::CircuitKind;

// A job's input beside its key and partition: a commit phase 1 of 32 GiB sectors is 50 MB.
constexpr std::uint64_t kInputBytes = std::uint64_t{128} << 20;

// Of the largest parameter set of a kind that is there; 0: none. Opens each file that is there, so
// it is asked once, when a pipeline is made.
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
  // What must never happen is a job that can never start: so the largest of the others still fits.
  const std::uint64_t reserve = std::min({wanted, budget_bytes / 4, spare});
  CUZK_ASSERT(reserve == 0 || reserve + others <= budget_bytes);
  return reserve;
}

}  // namespace cuzk::apps

// Tables of multiples of a loaded key's points as they lie on its device: table_plan.h says which,
// msm/multiples_table.h what they are.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "cuda/backend.h"
#include "cuda/device/stream.h"
#include "cuda/prove/context.h"
#include "cuda/prove/table_plan.h"
#include "curve/groups.h"

namespace cuzk::cuda::prove {

// Of some queries of a key. Queued when it is made; complete once `filled` has passed.
struct KeyTables {
  CountedBuffer memory;
  device::Event filled;
  std::array<int, kQueryCount> counts = {1, 1, 1, 1, 1};
  std::array<std::byte*, kQueryCount> points = {};
  std::array<std::size_t, kQueryCount> point_counts = {};  // of one table
  mutable std::atomic<bool> is_filled = false;             // seen by somebody

  // All tables of a query.
  template <class G>
  device::DeviceSpan<const cuzk::curve::Affine<G>> points_of(int query) const {
    return {reinterpret_cast<const cuzk::curve::Affine<G>*>(points[query]),
            point_counts[query] * static_cast<std::size_t>(counts[query])};
  }
};

// Where the tables of a loaded circuit lie, and when they are made. Thread-safe.
class CircuitTables {
 public:
  explicit CircuitTables(Spares& spares) : slot_(spares) {}
  // For a proof that begins now, for as long as it runs; null where there are none, or not yet.
  std::shared_ptr<const KeyTables> ready() const {
    auto tables = std::static_pointer_cast<const KeyTables>(slot_.get());
    if (tables == nullptr || tables->is_filled) return tables;
    const auto has_passed = tables->filled.has_passed();
    if (!has_passed.ok() || !*has_passed) return nullptr;
    tables->is_filled = true;
    return tables;
  }
  Spares::Slot& slot() { return slot_; }
  TableSchedule& schedule() { return schedule_; }

 private:
  Spares::Slot slot_;
  TableSchedule schedule_;
};

}  // namespace cuzk::cuda::prove

// Vectors of all rows that a proof has on the host, where the device has no room for them.
//
// Pinned where that can be had, else ordinary memory; counted in the ledger as "vectors of a
// quotient" (evaluation), from when the transforms begin until H's scalars are on the device.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "cuda/prove/lane.h"

namespace cuzk::cuda::prove {

// One or two vectors with the events of what passes between them and the device, all of one proof.
// Whatever copies from or to them must have ended before they go: a Drain is declared after them.
struct HostVectors {
  static constexpr std::string_view kOwner = "vectors of a quotient";

  std::optional<Staging> vectors[2];  // dropped rather than assigned: bytes go before their permit
  device::Event filled[2], free[2];   // of the two turns (EvaluationArrays::Turn)

  // `count` vectors of vector_bytes each. kResourceExhausted, with the ledger's or the machine's
  // sentence, when the host has no room either.
  base::Status take(unsigned count, std::uint64_t vector_bytes, int device_index) {
    for (auto* events : {&filled, &free}) {
      for (device::Event& event : *events) {
        CUZK_TRY(event, device::Event::create());
      }
    }
    // Whole or not at all: neither is of use in parts.
    const StagingWish wish{vector_bytes, vector_bytes, vector_bytes, kOwner,
                           base::MemoryCategory::kEvaluation};
    for (unsigned i = 0; i < count; ++i) {
      Staging& vector = vectors[i].emplace();
      CUZK_TRY_STATUS(vector.ensure(wish, pinned_source()));
      if (vector.shortage()) {
        warn_of_shortage(device_index, PinnedUse::kStaging, kOwner, *vector.shortage());
      }
    }
    return base::ok_status();
  }
  // Gives back those from number `first` on; nothing uses them any more.
  void release(unsigned first = 0) {
    for (unsigned i = first; i < 2; ++i) vectors[i].reset();
  }

  template <class F>
  std::span<F> values(unsigned i) const {
    CUZK_ASSERT(vectors[i].has_value());
    const std::span<std::byte> bytes = vectors[i]->bytes();
    return {reinterpret_cast<F*>(bytes.data()), bytes.size() / sizeof(F)};
  }
};

}  // namespace cuzk::cuda::prove

// Which proving keys (with their matrices) the budget pays for, who refers to them, and which of
// those that nobody refers to goes first. Bytes and decisions only; the store holds the pages.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/policy.h"

namespace cuzk::engine {

using KeyId = std::uint64_t;

// What the partitions of a job share: a proving key and the matrices of its circuit.
// The id stands for the name and the files of one time; equal ids have equal bytes.
struct SharedKey {
  KeyId id = 0;
  std::uint64_t bytes = 0;  // resident, mapped pages too; 0 where somebody else accounts for it
};

// Not thread-safe.
// A key is absent, idle or referred to: refer() makes it referred from either, the last unrefer()
// idle, and only drop_ functions make it absent. So what is referred to is never dropped.
class SharedKeys {
 public:
  // Counts a reference. True when the key was not there: the caller pays for its bytes.
  bool refer(const SharedKey& key);
  // Takes a reference back. True when it was the last: the key is idle from now on.
  bool unrefer(KeyId id, std::int64_t now_ms);
  // Whether somebody refers to it; whether it is there at all.
  bool referred(KeyId id) const;
  bool present(KeyId id) const { return keys_.count(id) != 0; }
  bool any_referred() const;
  // Drops a key that is there and idle.
  SharedKey drop_idle(KeyId id);
  // Drops the idle key that was used longest ago; nothing when none is idle.
  std::optional<SharedKey> drop_oldest_idle();

 private:
  // last_used_ms is when the last reference went; it means nothing while there is one.
  struct Entry {
    std::uint64_t bytes = 0;
    std::uint64_t reference_count = 0;
    std::int64_t last_used_ms = 0;
  };
  std::map<KeyId, Entry> keys_;
};

}  // namespace cuzk::engine

// References and least-recently-used order.
//
// Keys are few, each of megabytes to many gigabytes, so the oldest one is searched for: a list in
// order of use would save nothing and could disagree with the times.
#include "engine/shared_keys.h"

#include "base/check.h"

namespace cuzk::engine {

bool SharedKeys::refer(const SharedKey& key) {
  const auto [found, inserted] = keys_.try_emplace(key.id, Entry{key.bytes});
  // The store gives files of another size another id.
  CUZK_ASSERT(found->second.bytes == key.bytes);
  ++found->second.reference_count;
  CUZK_ASSERT(found->second.reference_count > 0);
  return inserted;
}

bool SharedKeys::unrefer(KeyId id, std::int64_t now_ms) {
  Entry& entry = keys_.at(id);
  CUZK_ASSERT(entry.reference_count > 0);
  entry.last_used_ms = now_ms;
  return --entry.reference_count == 0;
}

bool SharedKeys::referred(KeyId id) const {
  const auto found = keys_.find(id);
  return found != keys_.end() && found->second.reference_count > 0;
}

bool SharedKeys::any_referred() const {
  for (const auto& [id, entry] : keys_) {
    if (entry.reference_count > 0) return true;
  }
  return false;
}

SharedKey SharedKeys::drop_idle(KeyId id) {
  const auto found = keys_.find(id);
  CUZK_ASSERT(found != keys_.end() && found->second.reference_count == 0);
  const SharedKey dropped{id, found->second.bytes};
  keys_.erase(found);
  return dropped;
}

std::optional<SharedKey> SharedKeys::drop_oldest_idle() {
  auto oldest = keys_.end();
  for (auto entry = keys_.begin(); entry != keys_.end(); ++entry) {
    if (entry->second.reference_count > 0) continue;
    // At the same time the smaller id goes: the one that was met first.
    if (oldest == keys_.end() || entry->second.last_used_ms < oldest->second.last_used_ms) {
      oldest = entry;
    }
  }
  if (oldest == keys_.end()) return std::nullopt;
  return drop_idle(oldest->first);
}

}  // namespace cuzk::engine

// Derivation of PoRep challenges. Interactive and non-interactive challenges are hashed one by one;
// synthetic ones come in two stages, a pool drawn once per sector and a selection from it per seed.
#include "filecoin/porep/challenges.h"

#include <algorithm>
#include <string_view>

#include "base/check.h"
#include "hash/blake2.h"
#include "hash/chacha.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

// Domain tags, as FIP-0059 and FIP-0092 fix them.
constexpr std::string_view kNonInteractiveTag = "filecoin.io|PoRep|1|NonInteractive|1";
constexpr std::string_view kGenerationTag = "filecoin.io|PoRep|1|Synthetic|1|Generation";
constexpr std::string_view kSelectionTag = "filecoin.io|PoRep|1|Synthetic|1|Selection";
constexpr std::uint64_t kSyntheticCountMax = std::uint64_t{1} << 18;

base::ByteSpan bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// A node other than 0, which has no parents: the bias of the reduction is part of the protocol.
std::uint32_t challenge_of(const Node& random, std::uint64_t node_count) {
  return static_cast<std::uint32_t>(mod_u64(random, node_count - 1) + 1);
}

// The key stream of one stage: ChaCha20 under BLAKE2b-256 keyed with the stage's tag.
hash::ChaChaStream synthetic_stream(std::string_view tag, const Node& replica_id,
                                    const Node& second) {
  std::array<std::uint8_t, 64> message;
  std::copy(second.begin(), second.end(),
            std::copy(replica_id.begin(), replica_id.end(), message.begin()));
  constexpr std::array<std::uint8_t, 12> kNonce = {'s', 'y', 'n', 't', 'h', '-',
                                                   'p', 'o', 'r', 'e', 'p', 0};
  return hash::ChaChaStream::ietf(20, hash::blake2b_256_keyed(bytes_of(tag), message), kNonce);
}

// Challenge number `number` of the kinds that hash each challenge on its own.
std::uint32_t hashed_challenge(const PorepChallengeSource& source, std::uint64_t node_count,
                               std::uint32_t number) {
  CUZK_ASSERT(source.kind != PorepKind::kSynthetic);
  std::array<std::uint8_t, 4> bytes{};
  base::store_u32_le(bytes.data(), number);
  hash::Sha256 hasher;
  if (source.kind == PorepKind::kInteractive) {
    hasher.update(source.replica_id);
    hasher.update(source.seed);
  } else {
    hasher.update(bytes_of(kNonInteractiveTag));
    hasher.update(source.replica_id);
    hasher.update(source.comm_r);
  }
  hasher.update(bytes);
  return challenge_of(hasher.finish(), node_count);
}

// The challenges of one partition of the synthetic kind: the selected places of the pool.
std::vector<std::uint32_t> selected_synthetic(const PorepChallengeSource& source,
                                              std::uint64_t node_count, unsigned count,
                                              unsigned partition) {
  const auto indexes =
      synthetic_selection(source.replica_id, source.seed, synthetic_challenge_count(node_count),
                          std::uint64_t{count} * partition, count);
  // The pool is a stream: it is drawn only as far as the farthest selected place.
  const std::uint64_t last = *std::max_element(indexes.begin(), indexes.end());
  const auto challenges = synthetic_challenges(source.replica_id, source.comm_r, node_count,
                                               static_cast<std::size_t>(last) + 1);
  std::vector<std::uint32_t> out;
  for (const std::uint64_t index : indexes) out.push_back(challenges[index]);
  return out;
}

}  // namespace

std::vector<std::uint32_t> porep_challenges(const PorepChallengeSource& source,
                                            std::uint64_t node_count, unsigned count,
                                            unsigned partition) {
  CUZK_ASSERT(node_count >= 2 && count > 0);
  CUZK_ASSERT(node_count <= std::uint64_t{1} << 32);  // nodes are 32-bit numbers
  if (source.kind == PorepKind::kSynthetic) {
    return selected_synthetic(source, node_count, count, partition);
  }
  std::vector<std::uint32_t> out;
  for (unsigned i = 0; i < count; ++i) {
    out.push_back(hashed_challenge(source, node_count, count * partition + i));
  }
  return out;
}

std::vector<std::uint32_t> synthetic_challenges(const Node& replica_id, const Node& comm_r,
                                                std::uint64_t node_count, std::size_t count) {
  CUZK_ASSERT(node_count >= 2);
  hash::ChaChaStream stream = synthetic_stream(kGenerationTag, replica_id, comm_r);
  std::vector<std::uint32_t> out(count);
  for (std::uint32_t& challenge : out) {
    Node random;
    stream.fill(random);
    challenge = challenge_of(random, node_count);
  }
  return out;
}

std::vector<std::uint64_t> synthetic_selection(const Node& replica_id, const Node& seed,
                                               std::uint64_t pool, std::uint64_t first,
                                               unsigned count) {
  CUZK_ASSERT(pool > 0);
  hash::ChaChaStream draws = synthetic_stream(kSelectionTag, replica_id, seed);
  // All partitions draw from one stream; this one's begin behind those of the partitions before it.
  for (std::uint64_t skipped = 0; skipped < first; ++skipped) draws.next_u32();
  std::vector<std::uint64_t> out(count);
  // The bias of the reduction is part of the protocol here, too.
  for (std::uint64_t& index : out) index = draws.next_u32() % pool;
  return out;
}

std::uint64_t synthetic_challenge_count(std::uint64_t node_count) {
  return std::min(node_count, kSyntheticCountMax);
}

}  // namespace cuzk::filecoin

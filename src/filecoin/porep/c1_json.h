// Commit-phase-1 output as JSON: the inner object of the proofs API and the outer one of Curio.
//
// Inner: registered_proof, vanilla_proofs, comm_r, comm_d, replica_id, seed, ticket; hashes are
// arrays of 32 integers. Outer: SectorNum, Phase1Out (the inner bytes in base64), SectorSize. The
// writer emits upstream's bytes. The reader takes members in any order and passes over unknown
// ones, as upstream does; it is strict on types, lengths, counts and canonical hashes. Source:
// rust-filecoin-proofs-api 19.0, src/seal.rs, and its serde derivations; curio, lib/proof.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "filecoin/porep/vanilla_proof.h"

namespace cuzk::filecoin {

// Longest accepted file: more than twice a non-interactive 32 GiB sector's.
inline constexpr std::uint64_t kC1ByteCountMax = std::uint64_t{1} << 30;

// What a file held.
struct C1File {
  PorepC1 c1;
  // Present in the outer form only.
  std::optional<std::uint64_t> sector_number;
};

// Reads either form. `source` names the file in errors; an error of a member begins with its path,
// e.g. vanilla_proofs.StackedDrg2KiBV1[0][1].comm_d_proofs.data.Single.path.path[3].hashes[0].
// What the proofs state is not checked here: see verify_vanilla.h.
base::Result<C1File> read_c1(base::ByteSpan json, const std::string& source);

// Upstream's bytes, without a newline at the end.
std::string write_c1_inner(const PorepC1& c1);
std::string write_c1_outer(const PorepC1& c1, std::uint64_t sector_number);

}  // namespace cuzk::filecoin

// Checking vanilla proofs before they are proved in zero knowledge.
//
// The circuit ignores part of what a vanilla proof carries (labelling parents, leaves, roots); here
// all of it must agree with itself and with what follows from public data: challenges, parents,
// columns, labels, encoding, paths, roots, comm_r. What upstream's own vanilla verification refuses
// is refused. What commit-phase-1 output does not bind without the prover's identity is named at
// C1Identity.
#pragma once

#include <optional>

#include "filecoin/porep/vanilla_proof.h"

namespace cuzk::filecoin {

// Who is said to have sealed the sector. Only with it can the ticket and the sector number be
// checked: they enter nothing but replica_id = H(prover_id, sector, ticket, comm_d, porep_id).
struct C1Identity {
  Node prover_id{};
  std::uint64_t sector_number = 0;
};

// Errors begin with the path of the member, as in c1_json.h: kMismatch where values do not belong
// together, kMalformed for a node that is not canonical, else what check_porep_config says. Runs on
// all threads; about 17 arity-8 Poseidon paths and L labels a challenge.
base::Status verify_c1(const PorepC1& c1, const std::optional<C1Identity>& identity = {});

// What a partition's proofs are checked against.
struct PorepClaim {
  PorepConfig config;
  Node replica_id{}, comm_d{}, comm_r{}, seed{};
};

// What upstream demands of a claim before anything is proved or verified: a kind that the API
// version knows, canonical commitments, and comm_d, comm_r, replica_id and (where it counts) seed
// not all zero.
base::Status check_porep_claim(const PorepClaim& claim);

// The same over proofs that did not come from a file; `where` is put before "[k][i]" in errors.
base::Status verify_vanilla_proofs(const PorepClaim& claim,
                                   const std::vector<PorepPartition>& partitions,
                                   const std::string& where);

}  // namespace cuzk::filecoin

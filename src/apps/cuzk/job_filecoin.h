// The work behind the Filecoin commands, free of any command line.
//
// Each request has text where a user types text, because what is wrong with it should be told with
// the flag's name; filecoin/ itself knows no flags. Folders and files are checked before the work.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/cuzk/backend_choice.h"
#include "apps/cuzk/session.h"
#include "filecoin/identity.h"
#include "filecoin/parameter_name.h"
#include "filecoin/porep/config.h"
#include "filecoin/registered_proof.h"
#include "formats/key_check.h"

namespace cuzk::apps {

// The registered seal proof `number`, or, where none is given, the interactive one of API version
// V1_1 for the size. Error when the number's size is another.
base::Result<filecoin::RegisteredSeal> choose_seal_proof(const filecoin::SectorShape& shape,
                                                         std::optional<unsigned> number);

// 32 bytes of hex, or random ones below 2^254 where the text is empty.
base::Result<filecoin::Node> node_or_random(const std::string& hex, std::string_view what);

// Data beyond the sector's room is an error; what is short is filled up with zeros.
struct SealSectorRequest {
  std::string sector_size;
  std::optional<unsigned> registered_proof;
  std::filesystem::path folder, data;  // without data: a sample text, repeated
  std::uint64_t miner_id = 1000, sector = 1;
  std::string ticket_hex;  // empty: random
  bool force = false;
};
// Errors: kAlreadyExists where the folder holds a sector and `force` is not given; kUnsupported for
// a size that is not sealed here; those of seal() and of writing.
base::Result<Answer> seal_sector(const SealSectorRequest& request, Session& session);

// One set a call: the circuit follows from kind and size, the names from the circuit.
struct MakeParamsRequest {
  std::string sector_size, kind;
  std::filesystem::path folder;
  bool force = false;
};
// Development parameters under the names that the network's tools look for, and a mark beside them.
base::Result<Answer> make_params(const MakeParamsRequest& request, Session& session);

// The challenges follow from the seed; the outer form is Curio's wrapper around the inner one.
struct WriteC1Request {
  std::filesystem::path folder, out;
  std::string seed_hex;  // empty: random
  bool inner_form = false;
};
// Errors: those of reading the sector, which is rebuilt and compared; kUnsupported for a sector of
// a porep id that no registered proof has.
base::Result<Answer> write_c1(const WriteC1Request& request, Session& session);

// The parameters are looked for in `params_folder` by name; `out` gets 192 bytes a partition.
struct ProveC1Request {
  std::filesystem::path c1, params_folder, out;
  // Who is said to have sealed the sector. With a prover (one of the two), replica_id must follow
  // from it, the sector number and the ticket; without, ticket and sector number stand unchecked,
  // because nothing else in a C1 depends on them. The outer form carries its sector number.
  std::optional<std::uint64_t> miner_id, sector;
  std::string prover_id_hex;
  formats::KeyCheck query_check = formats::KeyCheck::kNone;
  BackendChoice backend = {};
};
// Checks the vanilla proofs, proves each partition with the parameters found by name, verifies with
// the public inputs derived from seed and commitments, and writes 192 bytes a partition. Errors:
// those of read_c1, verify_c1 and open_params; kNotFound for parameters that are not in the folder;
// kMismatch where what is said of who sealed contradicts the C1.
base::Result<Answer> prove_c1(const ProveC1Request& request, Session& session);

// Public statements as the chain has them; what a kind does not use stays empty.
struct VerifyFilecoinRequest {
  // The circuit, and with it which of the following are used; a flag that is not used is refused.
  std::string kind, sector_size;
  std::optional<unsigned> registered_proof;
  std::string porep_id_hex, api_version;
  std::filesystem::path verifying_key, proof;
  // 32 bytes each. Of an update comm_r and comm_d are the new ones.
  std::string comm_r_hex, comm_d_hex, comm_r_old_hex, prover_id_hex, ticket_hex, seed_hex,
      randomness_hex;
  std::optional<std::uint64_t> miner_id, sector;
  std::vector<std::string> replicas;  // "SECTOR:COMM_R_HEX"
};
// Exit code "no" for a proof that does not verify, or has not the length of its partitions; errors
// for statements that are missing, contradict each other, or are not of this kind.
base::Result<Answer> verify_filecoin(const VerifyFilecoinRequest& request);

// Which PoRep the request is about: the registered proof's, or that of the registered proof whose
// porep_id and API version are given, with its kind of challenges. Errors: kInvalidArgument for too
// few or exclusive flags, kMismatch for a number of another size, a version that is not the
// number's, a porep_id that no registered proof has.
base::Result<filecoin::PorepConfig> porep_config_of(const VerifyFilecoinRequest& request,
                                                    const filecoin::SectorShape& shape);

}  // namespace cuzk::apps

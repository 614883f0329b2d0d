// The Filecoin kinds of jobs: their inputs and how each is read and checked.
//
// Input: docs/formats/job_input.md. "porep" takes commit-phase-1 JSON, outer or inner, as it is;
// everything else is a job input (job_input.h) with fields and parts. Fields that say what the
// parts say too are compared with it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apps/jobs/filecoin_keys.h"
#include "engine/job_type.h"
#include "filecoin/porep/c1_json.h"
#include "filecoin/porep/verify_vanilla.h"

namespace cuzk::apps {

// "porep", "winning-post", "window-post", "update".
base::Status add_filecoin_jobs(engine::JobTypes& types, std::shared_ptr<FilecoinKeys> keys);

// A PoRep whose C1 was read already: verifies the vanilla proofs, finds the parameters. With an
// identity, replica_id must follow from it.
base::Result<std::unique_ptr<engine::JobWork>> porep_work(
    FilecoinKeys& keys, filecoin::PorepC1 c1, const std::optional<filecoin::C1Identity>& identity,
    std::uint64_t input_bytes);

// The readers of the kinds. Each checks the frame and the fields, finds the parameters, and
// verifies every vanilla proof against the claim before it answers: a proof that does not verify
// later is then the device's fault or the key's. The parameters are looked for first, because
// verifying is the longer work.
base::Result<std::unique_ptr<engine::JobWork>> read_porep_job(FilecoinKeys& keys,
                                                              const engine::SharedBytes& input);
base::Result<std::unique_ptr<engine::JobWork>> read_post_job(FilecoinKeys& keys,
                                                             filecoin::PostKind kind,
                                                             const engine::SharedBytes& input);
base::Result<std::unique_ptr<engine::JobWork>> read_update_job(FilecoinKeys& keys,
                                                               const engine::SharedBytes& input);

// Error kMismatch where an input's "sector_size" (bytes) is not the one of its registered proof.
class JobInput;
base::Status check_sector_size(const JobInput& input, const filecoin::SectorShape& shape);

}  // namespace cuzk::apps

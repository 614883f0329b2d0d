// Requests of the daemon's clients as jobs of the engine: the fields of the wire become a job
// input.
//
// service/ knows the wire and no kind of job, apps/jobs the kinds and no wire; the two meet here.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apps/jobs/circom_jobs.h"
#include "base/result.h"
#include "engine/engine.h"
#include "service/backend.h"

namespace cuzk::apps {

// Errors (kInvalidArgument) name the field as the client knows it. What the bytes of the proofs say
// is checked when the engine reads the job. A zero that stands for "not said" on the wire (miner,
// sector size, for PoRep the registered proof, which its C1 tells too) is left out.
base::Result<engine::SubmitRequest> proof_job(service::ProofRequest request);

// Error kNotFound with the circuits that there are.
base::Result<engine::SubmitRequest> circuit_job(service::CircuitRequest request,
                                                const CircomCircuits& circuits);

// "porep-c2", "snap-update", "window-post", "winning-post"; other kinds keep their name.
std::string public_kind_name(std::string_view engine_kind);

}  // namespace cuzk::apps

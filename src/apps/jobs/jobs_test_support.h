// Parameters, sectors and inputs for tests of job kinds, made on the spot.
//
// All of 2 KiB, the smallest size with registered proofs, whose PoSts take a moment to prove.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apps/jobs/job_input.h"
#include "apps/jobs/job_kinds.h"
#include "apps/jobs/proof_stages.h"
#include "filecoin/job.h"
#include "filecoin/vanilla/seal.h"
#include "formats/bellperson/params.h"
#include "groth16/setup.h"

namespace cuzk::apps {

inline const filecoin::SectorShape& small_sector() {
  return *filecoin::sector_shape_by_name("2KiB").value();
}

// Development parameters under their name in `folder`.
inline void make_test_params(const std::filesystem::path& folder, filecoin::CircuitKind kind) {
  const auto circuit = filecoin::circuit_shape(kind, small_sector());
  const auto waste = groth16::random_toxic_waste<curve::Bls12_381>();
  ASSERT_TRUE(circuit.ok() && waste.ok());
  const auto key =
      groth16::setup<curve::Bls12_381>(*circuit, *waste, groth16::QapConvention::kCoefficients);
  ASSERT_TRUE(key.ok()) << key.error().message;
  const auto path = folder / (filecoin::parameter_set_name(kind, small_sector()) + ".params");
  const auto written = formats::write_params(path, **key);
  ASSERT_TRUE(written.ok()) << written.error().message;
}

inline filecoin::SealedSector test_sector(std::uint64_t sector_number, unsigned registered = 5) {
  filecoin::SealRequest request;
  request.config = filecoin::PorepConfig::of(filecoin::registered_seal(registered).value());
  request.prover_id = filecoin::prover_id_of_miner(1000);
  request.sector_number = sector_number;
  request.ticket[3] = 7;
  auto sector = filecoin::seal(request, base::Bytes(100, static_cast<std::uint8_t>(sector_number)));
  EXPECT_TRUE(sector.ok());
  return std::move(sector).value();
}

inline engine::SharedBytes shared(base::Bytes bytes) {
  return std::make_shared<const base::Bytes>(std::move(bytes));
}
inline engine::SharedBytes shared(std::string_view text) {
  return shared(base::Bytes(text.begin(), text.end()));
}

inline engine::SharedBytes job_input(const InputFields& fields,
                                     const std::vector<base::Bytes>& parts) {
  const std::vector<base::ByteSpan> spans(parts.begin(), parts.end());
  return shared(encode_job_input(fields, spans));
}

// A window or winning PoSt of these sectors.
inline engine::SharedBytes post_input(const std::vector<filecoin::SealedSector>& sectors,
                                      filecoin::PostKind kind, std::uint64_t registered,
                                      InputFields extra = {}) {
  filecoin::PostClaim claim;
  claim.shape = &small_sector();
  claim.kind = kind;
  claim.api_version = filecoin::registered_post(registered)->api_version;
  claim.randomness[0] = 9;
  for (const auto& sector : sectors) {
    claim.sectors.push_back({sector.identity.sector_number, sector.comm_r});
  }
  std::vector<base::Bytes> parts;
  for (std::size_t i = 0; i < sectors.size(); ++i) {
    parts.push_back(filecoin::write_post_sector_proof(
        filecoin::open_post_sector(sectors[i], claim, i), small_sector()));
  }
  extra.try_emplace("registered_proof", registered);
  extra.try_emplace("randomness", filecoin::to_hex(claim.randomness));
  return job_input(extra, parts);
}

// Reads a job; records a failure with the error's sentence.
inline std::unique_ptr<engine::JobWork> read_job(const JobKinds& kinds, std::string_view kind,
                                                 const engine::SharedBytes& input) {
  auto work = kinds.types->find(kind).value()->read(input);
  if (!work.ok()) {
    ADD_FAILURE() << work.error().message;
    return nullptr;
  }
  return std::move(work).value();
}

inline base::Error refusal_of(const JobKinds& kinds, std::string_view kind,
                              const engine::SharedBytes& input) {
  const auto work = kinds.types->find(kind).value()->read(input);
  if (work.ok()) {
    ADD_FAILURE() << "it was accepted";
    return {};
  }
  return work.error();
}

}  // namespace cuzk::apps

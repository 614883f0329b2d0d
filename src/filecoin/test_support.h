// What the room's tests share: golden values, upstream's instances, and sectors sealed like them.
//
// Sealing is slow, so sectors are kept for the life of the process. Missing data throws, which
// fails a test rather than skipping it. Not for use from several threads.
#pragma once

#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "filecoin/porep/prove_vanilla.h"
#include "filecoin/vanilla/seal.h"
#include "hash/sha256.h"
#include "tests/support/data.h"

namespace cuzk::filecoin::testing {

inline nlohmann::json read_json(const std::string& relative) {
  const auto path = cuzk::testing::find_data(relative);
  if (!path) throw std::runtime_error("no test data " + relative);
  std::ifstream stream(*path);
  return nlohmann::json::parse(stream);
}

inline const nlohmann::json& golden() {
  static const nlohmann::json values = read_json("golden.json");
  return values;
}

inline base::Bytes read_data(const std::string& relative) {
  const auto path = cuzk::testing::find_data(relative);
  if (!path) throw std::runtime_error("no test data " + relative);
  return cuzk::testing::read_bytes(*path);
}

inline Node node_of(const nlohmann::json& hex) {
  return node_from_hex(hex.get<std::string>(), "a test value").value();
}

inline base::ByteSpan as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// Upstream's rule for sample data: byte i = (7 i + 3) mod 256.
inline base::Bytes sample_data(std::size_t size) {
  base::Bytes out(size);
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::uint8_t>(7 * i + 3);
  return out;
}

// 0102..20 and 5a..5a1a, as upstream's instances have them.
inline Node sample_ticket() {
  Node out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(i + 1);
  return out;
}
inline Node sample_seed() {
  Node out;
  out.fill(0x5a);
  out[31] = 0x1a;
  return out;
}

// Sector 42 of miner 1000 under a registered 2 KiB proof, sealed once per process.
inline const SealedSector& sample_sector(unsigned registered_number = 5) {
  static std::array<std::unique_ptr<SealedSector>, kRegisteredSealCount> sectors;
  auto& slot = sectors.at(registered_number);
  if (!slot) {
    SealRequest request;
    request.config = PorepConfig::of(registered_seal(registered_number).value());
    request.prover_id = prover_id_of_miner(1000);
    request.sector_number = 42;
    request.ticket = sample_ticket();
    slot = std::make_unique<SealedSector>(
        seal(request, sample_data(request.config.shape->unpadded_byte_count())).value());
  }
  return *slot;
}

inline PorepC1 sample_c1(unsigned registered_number = 5) {
  return commit_phase_1(sample_sector(registered_number),
                        registered_seal(registered_number).value(), sample_seed())
      .value();
}

// Upstream's stream(label): SHA-256(label || i), i = 0, 1, ... as u32 little-endian, cut to `size`.
inline base::Bytes stream_data(const std::string& label, std::size_t size) {
  base::Bytes out;
  for (std::uint32_t i = 0; out.size() < size; ++i) {
    std::array<std::uint8_t, 4> index;
    base::store_u32_le(index.data(), i);
    hash::Sha256 hasher;
    hasher.update(as_bytes(label));
    hasher.update(index);
    const auto digest = hasher.finish();
    out.insert(out.end(), digest.begin(), digest.end());
  }
  out.resize(size);
  return out;
}

// Sector 42, 43 or 44 of upstream's first instance, sealed once per process.
inline const SealedSector& instance_sector(std::size_t place) {
  if (place == 0) return sample_sector();
  static std::array<std::unique_ptr<SealedSector>, 3> sectors;
  auto& slot = sectors.at(place);
  if (!slot) {
    const auto upstream = read_json("upstream/instance1/instance.json")["sectors"][place];
    SealRequest request;
    request.config = PorepConfig::of(registered_seal(upstream["registered_seal_proof"]).value());
    request.prover_id = node_of(upstream["prover_id"]);
    request.sector_number = upstream["sector_id"];
    request.ticket = node_of(upstream["ticket"]);
    const auto data = stream_data("instance1/piece/" + std::to_string(place), 2032);
    slot = std::make_unique<SealedSector>(seal(request, data).value());
  }
  return *slot;
}

// A sector of a size without registered proofs (or of any size), with sample ids and data.
inline SealedSector sealed_sector_of(std::string_view size_name) {
  SealRequest request;
  request.config.shape = sector_shape_by_name(size_name).value();
  request.config.porep_id = node_of_u64(5);
  request.prover_id = prover_id_of_miner(1000);
  request.sector_number = 7;
  request.ticket = sample_ticket();
  return seal(request, sample_data(request.config.shape->unpadded_byte_count())).value();
}

}  // namespace cuzk::filecoin::testing

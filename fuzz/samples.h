// Small keys, circuits and witnesses for seeds: made by our own set-up, a few kilobytes each.
//
// Made on each start and not stored, so they follow the formats. Their toxic waste is that of the
// tests and known: they are good for nothing else.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/file.h"
#include "formats/snarkjs/r1cs_file.h"
#include "groth16/setup.h"
#include "groth16/test_circuits.h"

namespace cuzk::fuzz {

// A small circuit with public inputs, bits and elements.
template <class C>
groth16::testing::Circuit<typename C::Fr> sample_circuit() {
  return groth16::testing::mixed<typename C::Fr>(6, 4);
}

// Keys of that circuit, the same on each run.
template <class C>
std::shared_ptr<const groth16::ProvingKey<C>> sample_key(groth16::QapConvention convention) {
  const auto circuit = sample_circuit<C>();
  return groth16::setup<C>(*circuit.shape(), groth16::testing::test_waste<C>(), convention).value();
}

// What `write` writes to the path it is given, as bytes.
template <class Write>
base::Bytes written_bytes(const Write& write) {
  std::string pattern = (std::filesystem::temp_directory_path() / "cuzk-fuzz-seed-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return {};
  const auto path = std::filesystem::path(pattern) / "seed";
  base::Bytes bytes;
  if (write(path).ok()) bytes = base::read_file(path, std::uint64_t{1} << 26).value();
  std::filesystem::remove_all(pattern);
  return bytes;
}

}  // namespace cuzk::fuzz

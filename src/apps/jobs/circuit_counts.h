// How large the Filecoin circuits are: what byte plans need before anything is recorded.
//
// A circuit follows from its kind and the sector's size, so its counts are constants. Tests compare
// them with the circuits themselves and with counts of others.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "filecoin/parameter_name.h"
#include "filecoin/sector_shape.h"

namespace cuzk::apps {

// Of one partition's circuit. What is stored counts each repeated run of rows once, so from 32 GiB
// on it is far less than what a prover goes through.
struct CircuitCounts {
  std::uint32_t input_count = 0;  // with ONE
  std::uint32_t aux_count = 0;
  std::uint32_t scalar_count = 0;  // of aux: what is no bit
  std::uint32_t constraint_count = 0;
  std::uint64_t term_count = 0;  // of A, B and C
  // What is kept of them where rows repeat.
  std::uint64_t stored_term_count = 0, stored_row_count = 0;
  std::uint32_t coefficient_count = 0;

  // What a recorded shape takes once its vectors are trimmed.
  std::uint64_t shape_bytes() const;
  // What a compact assignment takes.
  std::uint64_t assignment_bytes() const;
};

// Error kUnsupported for sizes without published parameters.
base::Result<CircuitCounts> circuit_counts(filecoin::CircuitKind kind,
                                           const filecoin::SectorShape& shape);

// What a compact assignment of so many variables takes.
std::uint64_t assignment_bytes(std::uint64_t input_count, std::uint64_t aux_count,
                               std::uint64_t scalar_count);

}  // namespace cuzk::apps

// What one device does of a proof: all of it, or a part where several devices share the proof.
//
// The work lies on a line: transforms, then the sums over H, L, A, B in G1, B in G2. The line is
// cut once between each device and the next, where the work done so far stands in the ratio of
// their speeds, so a device takes at most two queries in part. Host arithmetic only.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cuda/prove/proof_plan.h"
#include "cuda/prove/query_pieces.h"

namespace cuzk::cuda::prove {

// A run of one query's points.
struct QueryPart {
  WordRange words;  // of the query's layout; not used for H
  std::size_t first_point = 0, point_count = 0;
  bool is_used = true;  // false: summed elsewhere

  bool operator==(const QueryPart&) const = default;
};

// A device's part of each proof of a key. Fixed while the key is loaded: what is resident follows
// from it. The parts of all devices cover each query's points once, and one of them forms the
// quotient.
struct ProofPart {
  bool forms_quotient = true;  // evaluates, transforms and hands H's scalars to the other devices
  std::array<QueryPart, kQueryCount> queries;
  std::uint64_t streamed_piece_points = 0;  // ProofSizes: for tests
  unsigned evaluation_buffers_most = 3;     // the same

  // Whether the witness is needed: only a part of H alone does without.
  bool reads_witness() const {
    bool reads = forms_quotient;
    for (int q = kQueryH + 1; q < kQueryCount; ++q) reads = reads || queries[q].is_used;
    return reads;
  }
  bool operator==(const ProofPart&) const = default;
};

// What a division goes by. `layouts` and `masks` are borrowed.
struct SharedWork {
  unsigned domain_log2 = 0;
  std::size_t h_count = 0;
  const std::array<QueryLayout, kQueryCount>* layouts = nullptr;
  ScalarMasks masks;
  std::array<std::uint64_t, kQueryCount> point_bytes = {};
  bool b_g2_on_device = true;
};

// What a device counts for in a division.
struct SharingDevice {
  double speed = 1;                                   // in any unit, not negative
  std::uint64_t point_bytes_max = ~std::uint64_t{0};  // of key that it can keep
};

// The part of a device that is alone.
ProofPart whole_part(const SharedWork& work);

// Parts for the devices, of which the first forms the quotient. A device whose memory is full takes
// less than its speed allows, and those after it more; the last takes what is left. With
// `cuts_finely` even work that is not worth a cut is shared out: for tests.
std::vector<ProofPart> share_proof(const SharedWork& work, std::span<const SharingDevice> devices,
                                   bool cuts_finely = false);

}  // namespace cuzk::cuda::prove

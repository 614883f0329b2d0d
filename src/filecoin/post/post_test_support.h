// The PoSt proofs of upstream's first instance as claims. For tests.
//
// Claims and bytes come from the same recorded run, so that circuits, public inputs and readers are
// compared on one set of cases. Values that do not parse stop the test.
#pragma once

#include "filecoin/post/vanilla_post.h"
#include "filecoin/test_support.h"

namespace cuzk::filecoin::testing {

struct PostCase {
  const char* name;
  unsigned registered_number;
  std::size_t sector_count;
};

inline constexpr PostCase kPostCases[] = {{"winning-1sectors", 0, 1},
                                          {"window-1sectors", 10, 1},
                                          {"window-2sectors", 10, 2},
                                          {"window-3sectors", 10, 3},
                                          {"windowV1_0-2sectors", 5, 2}};

inline PostClaim claim_of(const PostCase& c) {
  const RegisteredPost proof = registered_post(c.registered_number).value();
  PostClaim claim{proof.shape, proof.kind, proof.api_version};
  const auto instance = read_json("upstream/instance1/instance.json");
  claim.randomness = node_of(instance["post_randomness"]);
  for (std::size_t i = 0; i < c.sector_count; ++i) {
    const auto& sector = instance["sectors"][i];
    claim.sectors.push_back({sector["sector_id"], node_of(sector["comm_r"])});
  }
  return normalized(claim).value();
}

inline base::Bytes vanilla_bytes(const PostCase& c, std::size_t sector) {
  return read_data("upstream/instance1/" + std::string(c.name) + ".vanilla" +
                   std::to_string(sector) + ".bin");
}

inline std::vector<PostSectorProof> proofs_of(const PostCase& c) {
  const PostClaim claim = claim_of(c);
  std::vector<PostSectorProof> out;
  for (std::size_t i = 0; i < c.sector_count; ++i) {
    out.push_back(
        read_post_sector_proof(vanilla_bytes(c, i), *claim.shape, claim.kind, c.name).value());
  }
  return out;
}

}  // namespace cuzk::filecoin::testing

// Registered proof types: the numbers and names under which the network knows a circuit.
//
// Source: rust-filecoin-proofs-api 19.0, src/registry.rs. A number's place in its table is the
// value used in requests. A PoRep number fixes size, graph version and kind of challenges; it also
// forms the porep_id that seeds the graph, so sectors of different numbers differ even in equal
// data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "filecoin/node.h"
#include "filecoin/sector_shape.h"

namespace cuzk::filecoin {

// Which rules for graph and PoSt challenges hold.
enum class ApiVersion { kV1_0_0, kV1_1_0, kV1_2_0 };
// "V1_1_0".
std::string_view to_string(ApiVersion version) noexcept;
// Accepts "V1_1_0" and the short "V1_1".
base::Result<ApiVersion> api_version_by_name(std::string_view text);

// One row of the table of seal proofs. `shape` points into all_sector_shapes().
struct RegisteredSeal {
  unsigned number;
  const SectorShape* shape;
  ApiVersion api_version;
  PorepKind kind;

  // "StackedDrg2KiBV1_1_Feat_SyntheticPoRep". The names of the synthetic types say V1_1 while their
  // API version is V1_2_0: a known mistake that is part of the wire format.
  std::string name() const;
  // "StackedDrg2KiBV1" whatever the version: the key under which C1 JSON stores vanilla proofs.
  std::string vanilla_name() const;
  // number as u64 little-endian, nonce 0 as u64, zeros.
  Node porep_id() const { return node_of_u64(number); }
};

inline constexpr unsigned kRegisteredSealCount = 20;
// The row of this number or name; kInvalidArgument outside the table.
base::Result<RegisteredSeal> registered_seal(std::uint64_t number);
base::Result<RegisteredSeal> registered_seal_by_name(std::string_view name);

enum class PostKind { kWinning, kWindow };
std::string_view to_string(PostKind kind) noexcept;

// One row of the table of PoSt proofs.
struct RegisteredPost {
  unsigned number;
  const SectorShape* shape;
  ApiVersion api_version;
  PostKind kind;

  // "StackedDrgWindow2KiBV1_2"; the Go and C interfaces call the last five V1_1.
  std::string name() const;
};

inline constexpr unsigned kRegisteredPostCount = 15;
// kInvalidArgument outside the table.
base::Result<RegisteredPost> registered_post(std::uint64_t number);

// One row of the table of update proofs. Its names are also those of the first seal proofs.
struct RegisteredUpdate {
  unsigned number;
  const SectorShape* shape;

  std::string name() const;  // "StackedDrg2KiBV1"
};

inline constexpr unsigned kRegisteredUpdateCount = 5;
// kInvalidArgument outside the table.
base::Result<RegisteredUpdate> registered_update(std::uint64_t number);

}  // namespace cuzk::filecoin

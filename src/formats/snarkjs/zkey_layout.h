// The pieces of a zkey that reader and writer share: section numbers and the located sections.
//
// Not for others: zkey.h is the door. docs/formats/snarkjs.md has the layout with its meaning.
#pragma once

#include "formats/snarkjs/section_file.h"
#include "formats/snarkjs/zkey.h"

namespace cuzk::formats::zkey_layout {

// The numbers of the format; files need not have them in this order.
enum SectionId : std::uint32_t {
  kProtocol = 1,
  kHeader = 2,
  kIc = 3,
  kCoefficients = 4,
  kA = 5,
  kB1 = 6,
  kB2 = 7,
  kL = 8,
  kH = 9,
  kContributions = 10,
};

inline constexpr std::uint32_t kProtocolGroth16 = 1, kProtocolPlonk = 2, kProtocolFflonk = 10;
// matrix, row, wire: u32 each; then the value.
inline constexpr std::size_t kRecordHeadBytes = 12;
inline constexpr std::size_t kScalarBytes = 32;
inline constexpr std::size_t kRecordBytes = kRecordHeadBytes + kScalarBytes;
static_assert(curve::Bn254::Fr::kByteCount == kScalarBytes &&
              curve::Bls12_381::Fr::kByteCount == kScalarBytes);

// A header with the bytes behind it, all borrowed from the file: the six points of the verifying
// key and the sections.
struct LocatedZkey {
  ZkeyHeader header;
  base::ByteSpan vk_points;  // alpha_g1 beta_g1 beta_g2 gamma_g2 delta_g1 delta_g2
  base::ByteSpan ic, coefficients, a, b1, b2, l, h;
};

// Errors as read_zkey_header. What it returns borrows `bytes`, and all lengths fit each other.
base::Result<LocatedZkey> locate(base::ByteSpan bytes, std::string source);

}  // namespace cuzk::formats::zkey_layout

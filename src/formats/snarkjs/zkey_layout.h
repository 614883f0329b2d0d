// The pieces of a zkey that reader and writer share: section numbers and the located sections.
#pragma once

#include "formats/snarkjs/section_file.h"
#include "formats/snarkjs/zkey.h"

namespace cuzk::formats::zkey_layout {

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

// A header with the bytes behind it: the six points of the verifying key and the sections.
struct LocatedZkey {
  ZkeyHeader header;
  base::ByteSpan vk_points;  // alpha_g1 beta_g1 beta_g2 gamma_g2 delta_g1 delta_g2
  base::ByteSpan ic, coefficients, a, b1, b2, l, h;
};

base::Result<LocatedZkey> locate(base::ByteSpan bytes, std::string source);

}  // namespace cuzk::formats::zkey_layout

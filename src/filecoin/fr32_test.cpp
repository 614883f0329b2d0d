// Fr32 padding: upstream's answer, a bit-by-bit twin, borders; piece alignment.
//
// Lengths run past whole groups of 127 bytes, since the last group is cut where its data ends.
#include "filecoin/fr32.h"

#include "filecoin/test_support.h"

namespace cuzk::filecoin {
namespace {

// One bit at a time: the definition.
base::Bytes pad_naive(base::ByteSpan data) {
  std::vector<bool> bits;
  for (std::size_t i = 0; i < 8 * data.size(); ++i) {
    bits.push_back((data[i / 8] >> (i % 8)) & 1);
    if (i % 254 == 253) bits.insert(bits.end(), 2, false);
  }
  base::Bytes out((bits.size() + 7) / 8);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    out[i / 8] = static_cast<std::uint8_t>(out[i / 8] | (bits[i] ? 1 << (i % 8) : 0));
  }
  return out;
}

TEST(Fr32, PadsAsUpstreamDoes) {
  const auto& test = testing::golden()["fr32"];
  const auto input = base::from_hex(test["input_hex"].get<std::string>(), "input").value();
  EXPECT_EQ(base::to_hex(fr32_pad(input)), test["output_hex"].get<std::string>());
}

TEST(Fr32, EqualsItsDefinitionAtEveryLength) {
  for (std::size_t size = 0; size < 400; ++size) {
    base::Bytes data = testing::sample_data(size);
    EXPECT_EQ(fr32_pad(data), pad_naive(data)) << size;
    std::fill(data.begin(), data.end(), 0xff);
    EXPECT_EQ(fr32_pad(data), pad_naive(data)) << size;
  }
}

TEST(Fr32, UnpadsWhatItPadded) {
  for (const std::size_t size : {std::size_t{127}, std::size_t{2032}, std::size_t{127 * 64}}) {
    const base::Bytes data = testing::sample_data(size);
    const base::Bytes padded = fr32_pad(data);
    EXPECT_EQ(padded.size(), size / 127 * 128);
    EXPECT_EQ(fr32_unpad(padded).value(), data);
  }
}

TEST(Fr32, RefusesPaddingBitsThatAreSet) {
  base::Bytes padded = fr32_pad(testing::sample_data(254));
  for (const std::uint8_t bit : {0x40, 0x80}) {
    base::Bytes changed = padded;
    changed[32 * 5 + 31] = static_cast<std::uint8_t>(changed[32 * 5 + 31] | bit);
    const auto result = fr32_unpad(changed);
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find("node 5"), std::string::npos);
  }
  padded.pop_back();
  EXPECT_FALSE(fr32_unpad(padded).ok());
}

TEST(PieceAlignment, IsUpstreamsTable) {
  for (const auto& row : testing::golden()["piece_alignment"]["cases"]) {
    EXPECT_EQ(piece_alignment(row[0], row[1]),
              (PieceAlignment{row[2].get<std::uint64_t>(), row[3].get<std::uint64_t>()}))
        << row;
  }
}

}  // namespace
}  // namespace cuzk::filecoin

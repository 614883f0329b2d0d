// Fr32 padding as a bit stream. Simple rather than fast: one pass in steps of 48 bits, which never
// straddle more than the 8 bytes that a step loads. Sample sectors are small; sealers have their
// own.
#include "filecoin/fr32.h"

#include "base/check.h"
#include "filecoin/node.h"

namespace cuzk::filecoin {
namespace {

// Data bits of a node; the two bits above them are zero, which keeps the node below r.
constexpr unsigned kDataBits = 254;
static_assert(kDataBits < Fr::kBitCount);
static_assert(4 * kDataBits == 8 * 127);  // four nodes hold 127 bytes

// Appends bits, least significant first, to a byte string. Between calls fewer than eight are held.
class BitWriter {
 public:
  explicit BitWriter(base::Bytes& out) : out_(out) {}
  void push(std::uint64_t bits, unsigned count) {
    CUZK_DEBUG_ASSERT(count <= 64 && held_ < 8);
    accumulator_ |= static_cast<unsigned __int128>(bits) << held_;
    held_ += count;
    while (held_ >= 8) {
      out_.push_back(static_cast<std::uint8_t>(accumulator_));
      accumulator_ >>= 8;
      held_ -= 8;
    }
  }
  void flush() {
    if (held_ > 0) out_.push_back(static_cast<std::uint8_t>(accumulator_));
    accumulator_ = 0;
    held_ = 0;
  }

 private:
  base::Bytes& out_;
  unsigned __int128 accumulator_ = 0;
  unsigned held_ = 0;
};

// `count` (at most 56) bits of `bytes` from bit `first` on; positions past the end read as zero.
std::uint64_t bits_at(base::ByteSpan bytes, std::uint64_t first, unsigned count) {
  CUZK_DEBUG_ASSERT(count <= 56);  // with the seven bits in front of them, one load of eight bytes
  std::uint64_t out = 0;
  const std::size_t begin = static_cast<std::size_t>(first / 8);
  for (std::size_t i = 0; i < 8 && begin + i < bytes.size(); ++i) {
    out |= std::uint64_t{bytes[begin + i]} << (8 * i);
  }
  return (out >> (first % 8)) & ((std::uint64_t{1} << count) - 1);
}

// Copies `count` bits from bit `first` on.
void copy_bits(base::ByteSpan bytes, std::uint64_t first, std::uint64_t count, BitWriter& out) {
  while (count > 0) {
    const unsigned step = count > 48 ? 48 : static_cast<unsigned>(count);
    out.push(bits_at(bytes, first, step), step);
    first += step;
    count -= step;
  }
}

}  // namespace

base::Bytes fr32_pad(base::ByteSpan data) {
  base::Bytes out;
  out.reserve(data.size() / 127 * 128 + 160);
  BitWriter writer(out);
  const std::uint64_t bit_count = 8 * std::uint64_t{data.size()};
  for (std::uint64_t first = 0; first < bit_count; first += kDataBits) {
    const std::uint64_t left = bit_count - first;
    copy_bits(data, first, left < kDataBits ? left : kDataBits, writer);
    // Not behind a last, short group: its node is not full.
    if (left >= kDataBits) writer.push(0, 2);
  }
  writer.flush();
  return out;
}

base::Result<base::Bytes> fr32_unpad(base::ByteSpan padded) {
  if (padded.size() % 32 != 0) {
    return base::Error{base::ErrorKind::kInvalidArgument,
                       "padded data of " + std::to_string(padded.size()) +
                           " bytes is not a whole number of 32-byte nodes"};
  }
  base::Bytes out;
  out.reserve(padded.size() / 128 * 127 + 128);
  BitWriter writer(out);
  for (std::size_t node = 0; node < padded.size() / 32; ++node) {
    if ((padded[32 * node + 31] & 0xc0) != 0) {
      return base::Error{base::ErrorKind::kMalformed,
                         "node " + std::to_string(node) +
                             " of the padded data has a padding bit set: its last byte is " +
                             std::to_string(padded[32 * node + 31]) + ", expected below 64"};
    }
    copy_bits(padded, 256 * std::uint64_t{node}, kDataBits, writer);
  }
  // Bits that fill no byte are dropped; the writer was not flushed, so nothing is cut off.
  const std::uint64_t byte_count = std::uint64_t{padded.size() / 32} * kDataBits / 8;
  CUZK_ASSERT(out.size() == byte_count);
  return out;
}

PieceAlignment piece_alignment(std::uint64_t written_byte_count, std::uint64_t piece_byte_count) {
  CUZK_ASSERT(written_byte_count < std::uint64_t{1} << 56);
  CUZK_ASSERT(piece_byte_count < std::uint64_t{1} << 56);
  // The piece's place is that of the smallest buddy that holds it.
  std::uint64_t aligned = 127;
  while (aligned < piece_byte_count) aligned *= 2;
  CUZK_ASSERT(aligned >= piece_byte_count);
  const std::uint64_t past = written_byte_count % aligned;
  return {past == 0 ? 0 : aligned - past, aligned - piece_byte_count};
}

}  // namespace cuzk::filecoin

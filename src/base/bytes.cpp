// Hex and the bounded reader.
//
// The reader compares counts with what is left, by division where there is a product, and never
// adds a count to an offset first: counts come from files and would wrap.
#include "base/bytes.h"

#include <fmt/format.h>

#include "base/check.h"

namespace cuzk::base {
namespace {

// The value of a hex digit of either case, -1 for any other character. No locale has a say.
int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string to_hex(ByteSpan bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (std::uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

Result<Bytes> from_hex(std::string_view text, std::string_view what) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  if (text.size() % 2 != 0) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("{}: hex has an odd number of digits ({})", what, text.size())};
  }
  Bytes bytes(text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int high = hex_digit(text[2 * i]);
    const int low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) {
      return Error{ErrorKind::kInvalidArgument,
                   fmt::format("{}: not a hex digit at position {}", what, 2 * i + (high >= 0))};
    }
    bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return bytes;
}

Result<Bytes> from_hex_sized(std::string_view text, std::size_t size, std::string_view what) {
  CUZK_TRY(Bytes bytes, from_hex(text, what));
  if (bytes.size() != size) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("{}: {} bytes of hex, expected {}", what, bytes.size(), size)};
  }
  return bytes;
}

Error ByteReader::malformed(std::string_view sentence) const {
  return Error{ErrorKind::kMalformed,
               fmt::format("{}: at byte {}: {}", source_, offset_, sentence)};
}

Result<ByteSpan> ByteReader::take(std::uint64_t count, std::string_view field) {
  if (count > remaining()) {
    return malformed(fmt::format("{} needs {} bytes, {} are left", field, count, remaining()));
  }
  const ByteSpan part = bytes_.subspan(offset_, count);
  offset_ += count;
  CUZK_ASSERT(offset_ <= bytes_.size());
  return part;
}

Result<ByteSpan> ByteReader::take_records(std::uint64_t count, std::uint64_t record_size,
                                          std::string_view field) {
  if (record_size != 0 && count > remaining() / record_size) {
    return malformed(fmt::format("{} has {} records of {} bytes, {} bytes are left", field, count,
                                 record_size, remaining()));
  }
  return take(count * record_size, field);
}

Result<std::uint32_t> ByteReader::u32_le(std::string_view field) {
  CUZK_TRY(const ByteSpan raw, take(4, field));
  return load_u32_le(raw.data());
}

Result<std::uint32_t> ByteReader::u32_be(std::string_view field) {
  CUZK_TRY(const ByteSpan raw, take(4, field));
  return load_u32_be(raw.data());
}

Result<std::uint64_t> ByteReader::u64_le(std::string_view field) {
  CUZK_TRY(const ByteSpan raw, take(8, field));
  return load_u64_le(raw.data());
}

Result<std::uint64_t> ByteReader::u64_be(std::string_view field) {
  CUZK_TRY(const ByteSpan raw, take(8, field));
  return load_u64_be(raw.data());
}

}  // namespace cuzk::base

// Bytes in and out: hex, little- and big-endian integers, and a reader that never leaves its span.
//
// Integers are put together from bytes, so alignment and the machine's own byte order do not
// matter; compilers make one load of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cuzk::base {

using Bytes = std::vector<std::uint8_t>;
using ByteSpan = std::span<const std::uint8_t>;

std::string to_hex(ByteSpan bytes);

// Decodes hex of either case, with or without "0x". `what` names the field in the error.
Result<Bytes> from_hex(std::string_view text, std::string_view what);

// As from_hex, and demands exactly `size` bytes.
Result<Bytes> from_hex_sized(std::string_view text, std::size_t size, std::string_view what);

// Of the next four or eight bytes at `p`, which exist: what is not known to exist is read by a
// ByteReader.
inline std::uint32_t load_u32_le(const std::uint8_t* p) {
  return std::uint32_t{p[0]} | std::uint32_t{p[1]} << 8 | std::uint32_t{p[2]} << 16 |
         std::uint32_t{p[3]} << 24;
}
inline std::uint64_t load_u64_le(const std::uint8_t* p) {
  return std::uint64_t{load_u32_le(p)} | std::uint64_t{load_u32_le(p + 4)} << 32;
}
inline std::uint32_t load_u32_be(const std::uint8_t* p) {
  return __builtin_bswap32(load_u32_le(p));
}
inline std::uint64_t load_u64_be(const std::uint8_t* p) {
  return __builtin_bswap64(load_u64_le(p));
}
inline void store_u32_le(std::uint8_t* p, std::uint32_t v) {
  for (int i = 0; i < 4; ++i) p[i] = static_cast<std::uint8_t>(v >> (8 * i));
}
inline void store_u64_le(std::uint8_t* p, std::uint64_t v) {
  for (int i = 0; i < 8; ++i) p[i] = static_cast<std::uint8_t>(v >> (8 * i));
}
inline void store_u32_be(std::uint8_t* p, std::uint32_t v) {
  store_u32_le(p, __builtin_bswap32(v));
}
inline void store_u64_be(std::uint8_t* p, std::uint64_t v) {
  store_u64_le(p, __builtin_bswap64(v));
}

// Reads a span from front to back. Each call names the field it wants, so an error says which field
// of which file ended early, at what offset, with what was left and what was needed. Nothing is
// allocated before the bytes behind it are known to exist. Borrows the span.
class ByteReader {
 public:
  ByteReader(ByteSpan bytes, std::string source) : bytes_(bytes), source_(std::move(source)) {}

  std::size_t offset() const noexcept { return offset_; }
  std::size_t remaining() const noexcept { return bytes_.size() - offset_; }
  const std::string& source() const noexcept { return source_; }

  // The next `count` bytes, borrowed.
  Result<ByteSpan> take(std::uint64_t count, std::string_view field);
  // The next `count` records of `record_size` bytes; count * record_size may not wrap.
  Result<ByteSpan> take_records(std::uint64_t count, std::uint64_t record_size,
                                std::string_view field);
  Result<std::uint32_t> u32_le(std::string_view field);
  Result<std::uint32_t> u32_be(std::string_view field);
  Result<std::uint64_t> u64_le(std::string_view field);
  Result<std::uint64_t> u64_be(std::string_view field);

  // An error of kind kMalformed that begins with source and offset.
  Error malformed(std::string_view sentence) const;

 private:
  ByteSpan bytes_;
  std::string source_;
  std::size_t offset_ = 0;
};

}  // namespace cuzk::base

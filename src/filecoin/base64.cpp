// Base64 encoding and strict decoding: one table each way, three bytes to four characters. Decoding
// accepts exactly what encoding emits, so a text has one meaning and a meaning has one text.
#include "filecoin/base64.h"

#include <array>

#include "base/check.h"

namespace cuzk::filecoin {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static_assert(kAlphabet.size() == 64);
constexpr std::uint8_t kInvalid = 0xff;

// The place of each character in the alphabet, kInvalid for all others.
constexpr std::array<std::uint8_t, 256> decoding_table() {
  std::array<std::uint8_t, 256> table{};
  for (auto& entry : table) entry = kInvalid;
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    table[static_cast<std::uint8_t>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return table;
}

constexpr auto kDecoding = decoding_table();

base::Error malformed(std::string_view what, const std::string& sentence) {
  return {base::ErrorKind::kMalformed, std::string(what) + " is not base64: " + sentence};
}

}  // namespace

std::string base64_encode(base::ByteSpan bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < count; ++j) group |= std::uint32_t{bytes[i + j]} << (16 - 8 * j);
    for (std::size_t j = 0; j < 4; ++j) {
      out.push_back(j <= count ? kAlphabet[(group >> (18 - 6 * j)) & 63] : '=');
    }
  }
  CUZK_ASSERT(out.size() == (bytes.size() + 2) / 3 * 4);
  return out;
}

base::Result<base::Bytes> base64_decode(std::string_view text, std::string_view what) {
  if (text.size() % 4 != 0) {
    return malformed(what, std::to_string(text.size()) + " characters, not a multiple of 4");
  }
  // One or two at the end. Elsewhere '=' is a character like any other that is not in the alphabet.
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  base::Bytes out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  unsigned bits = 0;
  for (std::size_t i = 0; i < text.size() - padding; ++i) {
    const std::uint8_t digit = kDecoding[static_cast<std::uint8_t>(text[i])];
    if (digit == kInvalid) {
      return malformed(what, "character " + std::to_string(i) + " has code " +
                                 std::to_string(static_cast<std::uint8_t>(text[i])));
    }
    group = group << 6 | digit;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out.push_back(static_cast<std::uint8_t>(group >> bits));
      group &= (1u << bits) - 1;
    }
  }
  CUZK_ASSERT(out.size() == text.size() / 4 * 3 - padding);
  // What is left of the last group has to be zero, or several texts would stand for one string.
  if (group != 0) return malformed(what, "bits are set beyond the last byte");
  return out;
}

}  // namespace cuzk::filecoin

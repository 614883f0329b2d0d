// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. One pass; a
// byte that begins no character is replaced alone, so what follows it is kept.
#include "service/wire_text.h"

#include <cstddef>
#include <cstdint>

namespace cuzk::service {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<std::uint8_t>(text[at]) : std::uint8_t{0};
}

bool follows(std::string_view text, std::size_t at) { return (byte_at(text, at) & 0xC0u) == 0x80u; }

// Bytes of the character at `at`; 0 where none is.
std::size_t character_bytes(std::string_view text, std::size_t at) {
  const std::uint8_t first = byte_at(text, at), second = byte_at(text, at + 1);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4 || !follows(text, at + 1)) return 0;
  if (first < 0xE0) return 2;
  if (!follows(text, at + 2)) return 0;
  if (first < 0xF0) {
    const bool overlong = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second > 0x9F;
    return overlong || surrogate ? 0 : 3;
  }
  const bool overlong = first == 0xF0 && second < 0x90;
  const bool beyond = first == 0xF4 && second > 0x8F;
  return overlong || beyond || !follows(text, at + 3) ? 0 : 4;
}

}  // namespace

std::string utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t count = character_bytes(text, at);
    if (count == 0) {
      out += '?';
      ++at;
    } else {
      out += text.substr(at, count);
      at += count;
    }
  }
  return out;
}

std::string_view word(engine::PartitionState state) noexcept {
  switch (state) {
    case engine::PartitionState::kQueued: return "queued";
    case engine::PartitionState::kWitness: return "witness";
    case engine::PartitionState::kDeviceQueued: return "device queued";
    case engine::PartitionState::kDevice: return "device";
    case engine::PartitionState::kFinishQueued: return "finish queued";
    case engine::PartitionState::kFinish: return "finish";
    case engine::PartitionState::kDone: return "done";
    case engine::PartitionState::kEnded: return "ended";
  }
  return "ended";
}

}  // namespace cuzk::service

// The file beside a development key: one line for people, one with the digest of the key.
//
// The digest binds the mark to the verifying key: a real key that takes the place of a development
// one must not be called insecure. Where the file cannot be read or has no digest the answer is
// yes: a warning too many costs less than one too few.
#include "apps/cuzk/insecure_mark.h"

#include <string>

#include <fmt/format.h>

#include "base/file.h"
#include "hash/sha256.h"

namespace cuzk::apps {
namespace {

constexpr std::string_view kDigestLabel = "sha256 of the verifying key: ";
// More than the sentence, the name and the digest take; what is larger is no mark of ours.
constexpr std::uint64_t kMarkBytesMax = 1 << 16;
static_assert(sizeof kInsecureSentence + kDigestLabel.size() + 64 + 255 + 8 < kMarkBytesMax);

std::filesystem::path mark_path(const std::filesystem::path& key) {
  return key.string() + ".INSECURE";
}

std::string digest_line(base::ByteSpan verifying_key) {
  std::string line(kDigestLabel);
  for (const std::uint8_t byte : hash::sha256(verifying_key)) line += fmt::format("{:02x}", byte);
  CUZK_ASSERT(line.size() == kDigestLabel.size() + 64);
  return line + "\n";
}

}  // namespace

base::Status write_insecure_mark(const std::filesystem::path& key, base::ByteSpan verifying_key) {
  const std::string text =
      key.filename().string() + ": " + kInsecureSentence + ".\n" + digest_line(verifying_key);
  return base::write_file(mark_path(key), std::string_view(text));
}

// Never fails: whoever asks has work to do that does not depend on it.
bool has_insecure_mark(const std::filesystem::path& key, base::ByteSpan verifying_key) {
  std::error_code failed;
  if (!std::filesystem::exists(mark_path(key), failed)) return false;
  const auto bytes = base::read_file(mark_path(key), kMarkBytesMax);
  if (!bytes.ok()) return true;
  const std::string text(bytes->begin(), bytes->end());
  const std::size_t line = text.find(kDigestLabel);
  if (line == text.npos) return true;
  return text.substr(line) == digest_line(verifying_key);
}

}  // namespace cuzk::apps

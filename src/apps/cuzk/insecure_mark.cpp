// The file beside a development key: one line for people, one with the digest of the key.
//
// The digest binds the mark to the verifying key: a real key that takes the place of a development
// one must not be called insecure. Where the file cannot be read or has no whole digest the answer
// is yes: a warning too many costs less than one too few. Of what stands around the digest nothing
// is asked: an editor or a transfer may have changed line ends or added lines.
#include "apps/cuzk/insecure_mark.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file.h"
#include "hash/sha256.h"

namespace cuzk::apps {
namespace {

constexpr std::string_view kDigestLabel = "sha256 of the verifying key: ";
constexpr std::size_t kDigestDigits = 64;
// More than the sentence, the name and the digest take; what is larger is no mark of ours.
constexpr std::uint64_t kMarkBytesMax = 1 << 16;
static_assert(sizeof kInsecureSentence + kDigestLabel.size() + kDigestDigits + 255 + 8 <
              kMarkBytesMax);

std::filesystem::path mark_path(const std::filesystem::path& key) {
  return key.string() + ".INSECURE";
}

std::string hex_digest(base::ByteSpan verifying_key) {
  return base::to_hex(hash::sha256(verifying_key));
}

bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

// The digests that the text names, in small letters; nothing where one of them is not whole, or
// there is none.
std::optional<std::vector<std::string>> digests_in(const std::string& text) {
  std::vector<std::string> digests;
  for (std::size_t at = text.find(kDigestLabel); at != text.npos;
       at = text.find(kDigestLabel, at)) {
    at += kDigestLabel.size();
    std::string digest;
    while (at < text.size() && is_hex(text[at])) {
      digest += static_cast<char>(std::tolower(static_cast<unsigned char>(text[at++])));
    }
    if (digest.size() != kDigestDigits) return std::nullopt;
    digests.push_back(std::move(digest));
  }
  if (digests.empty()) return std::nullopt;
  return digests;
}

}  // namespace

base::Status write_insecure_mark(const std::filesystem::path& key, base::ByteSpan verifying_key) {
  const std::string text = fmt::format("{}: {}.\n{}{}\n", key.filename().string(),
                                       kInsecureSentence, kDigestLabel, hex_digest(verifying_key));
  return base::write_file(mark_path(key), std::string_view(text));
}

// Never fails: whoever asks has work to do that does not depend on it.
std::optional<std::string> insecure_mark_warning(const std::filesystem::path& key,
                                                 base::ByteSpan verifying_key) {
  std::error_code failed;
  if (!std::filesystem::exists(mark_path(key), failed)) return std::nullopt;
  const auto damaged = [&](std::string_view why) {
    return fmt::format("{}: {}, so this key counts as the one it is about; {}",
                       mark_path(key).string(), why, kInsecureSentence);
  };
  const auto bytes = base::read_file(mark_path(key), kMarkBytesMax);
  if (!bytes.ok()) return damaged("cannot be read");
  const auto digests = digests_in(std::string(bytes->begin(), bytes->end()));
  if (!digests) return damaged("has no whole digest of a verifying key");
  const bool is_about_it =
      std::find(digests->begin(), digests->end(), hex_digest(verifying_key)) != digests->end();
  return is_about_it ? std::optional<std::string>(kInsecureSentence) : std::nullopt;
}

}  // namespace cuzk::apps

// The library tells a file of another kind by a code at best, and after the connection was tried;
// so the commonest mistakes, a wrong path and the other file of a pair, are found here.
#include "service/pem_file.h"

#include <string_view>

#include <fmt/format.h>

#include "base/file.h"

namespace cuzk::service {
namespace {

// A list of all authorities that a system trusts has about a quarter of this.
constexpr std::uint64_t kPemBytesMax = std::uint64_t{1} << 20;

// Stands in the first line of what the library looks for. Of keys there are several spellings, all
// with this end.
std::string_view mark_of(PemKind kind) {
  return kind == PemKind::kCertificate ? "BEGIN CERTIFICATE" : "PRIVATE KEY";
}

}  // namespace

base::Result<std::string> read_pem(const std::filesystem::path& path, PemKind kind) {
  if (path.empty()) return std::string();
  CUZK_TRY(const base::Bytes bytes, base::read_file(path, kPemBytesMax));
  std::string text(bytes.begin(), bytes.end());
  if (text.find(mark_of(kind)) == std::string::npos) {
    return base::Error{base::ErrorKind::kMalformed,
                       fmt::format("{}: is no PEM file, for it has no line with \"{}\"",
                                   path.string(), mark_of(kind))};
  }
  return text;
}

}  // namespace cuzk::service

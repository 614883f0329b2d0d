// PEM files of both sides of TLS, read and looked at before a library is given them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace cuzk::service {

enum class PemKind : std::uint8_t { kCertificate, kPrivateKey };

// The text of a file of at most a mebibyte that has a line of its kind; whether what that line
// begins is right the TLS library says. An empty path gives an empty text, which the library takes
// for "none" or for the system's authorities. Errors: as base::read_file; kMalformed without the
// line.
base::Result<std::string> read_pem(const std::filesystem::path& path, PemKind kind);

}  // namespace cuzk::service

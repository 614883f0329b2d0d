// Inputs as a command is given them: regular files are mapped, streams are read whole into memory.
//
// A pipe, a socket, /dev/stdin or a shell's <(...) has no length and is gone once it was read, so
// its bytes are kept in pages that the ledger counts. For the command alone: a daemon comes back to
// its files, and uses MappedFile::open, which refuses streams.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stop_token>

#include "base/file.h"
#include "base/ledger.h"
#include "base/result.h"

namespace cuzk::base {

// What ends the reading of a stream before its end. Regular files are bounded by nothing of this:
// they take no memory.
struct StreamLimits {
  // The largest keys in use have less; the ledger mostly says no before.
  static constexpr std::uint64_t kSizeBytesMax = std::uint64_t{1} << 36;

  std::uint64_t size_bytes_max = kSizeBytesMax;
  std::stop_token stop = {};  // looked at ten times a second, also while nothing arrives
  Ledger* ledger = &Ledger::process();
};

// The bytes of a regular file, or of a stream up to its end; a pipe that nobody has opened for
// writing yet is waited for. A name such as /dev/fd/63 is read from that descriptor. Errors: those
// of MappedFile::open; kIo for a device (/dev/zero, a terminal); kMalformed for a stream of more
// than size_bytes_max; kResourceExhausted when the ledger or the system has no room for it;
// kCancelled when `stop` asks first.
Result<std::shared_ptr<const MappedFile>> open_input(const std::filesystem::path& path,
                                                     const StreamLimits& limits = {});

}  // namespace cuzk::base

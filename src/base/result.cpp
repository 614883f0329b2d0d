// Names of error kinds.
//
// Clients compare these words (JSON answers, metrics' labels), so a word stays as it is for ever; a
// kind may be added. The switch has no default, so that a compiler names the kind without a word.
#include "base/result.h"

namespace cuzk::base {

std::string_view to_string(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::kInvalidArgument: return "invalid_argument";
    case ErrorKind::kMalformed: return "malformed";
    case ErrorKind::kMismatch: return "mismatch";
    case ErrorKind::kUnsatisfied: return "unsatisfied";
    case ErrorKind::kVerificationFailed: return "verification_failed";
    case ErrorKind::kNotFound: return "not_found";
    case ErrorKind::kAlreadyExists: return "already_exists";
    case ErrorKind::kIo: return "io";
    case ErrorKind::kResourceExhausted: return "resource_exhausted";
    case ErrorKind::kUnavailable: return "unavailable";
    case ErrorKind::kCancelled: return "cancelled";
    case ErrorKind::kUnsupported: return "unsupported";
    case ErrorKind::kInternal: return "internal";
  }
  return "internal";
}

}  // namespace cuzk::base

// protobuf reads its own JSON; the nesting is looked at first, so that its errors are ours. From
// the message on a request is the same as one that came over gRPC.
#include "service/http_proof_json.h"

#include <string>

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include "service/proto/proving.pb.h"
#include "service/wire_proving.h"

namespace cuzk::service {
namespace {

// The message has two levels.
constexpr int kDepthMax = 8;

base::Status check_depth(std::string_view text) {
  int depth = 0;
  bool quoted = false, escaped = false;
  for (const char c : text) {
    if (quoted) {
      quoted = escaped || c != '"';
      escaped = !escaped && c == '\\';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDepthMax) {
        return base::Error{base::ErrorKind::kMalformed,
                           fmt::format("the JSON is nested deeper than {} levels", kDepthMax)};
      }
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return base::ok_status();
}

}  // namespace

base::Result<ProofRequest> proof_request_from_json(base::ByteSpan bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) {
    return base::Error{base::ErrorKind::kMalformed, "the body is empty, a JSON object is expected"};
  }
  CUZK_TRY_STATUS(check_depth(text));
  v1::SubmitProofRequest message;
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(text.data(), text.size()), &message);
  if (!status.ok()) {
    const std::string reason(status.message().data(), status.message().size());
    return base::Error{base::ErrorKind::kMalformed,
                       fmt::format("the body is no SubmitProofRequest: {}", reason.substr(0, 256))};
  }
  return proof_request_from(message);
}

}  // namespace cuzk::service

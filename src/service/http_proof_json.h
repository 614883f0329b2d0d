// The JSON form of a SubmitProofRequest, as protobuf defines it. It is what gRPC clients write that
// have JSON for their messages, so one text serves both doors.
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "service/backend.h"

namespace cuzk::service {

// Field names as in the proto file or in camel case, enum values by name or number, bytes in
// base64. Errors (kMalformed, kInvalidArgument) name what is wrong.
base::Result<ProofRequest> proof_request_from_json(base::ByteSpan text);

}  // namespace cuzk::service

// Messages to and from the bytes of a call. Calls arrive as raw bytes, so that large ones are
// parsed where that blocks nobody and malformed ones are answered with a sentence.
#pragma once

#include <string_view>

#include <grpcpp/support/byte_buffer.h>

#include "base/result.h"

namespace google::protobuf {
class MessageLite;
}

namespace cuzk::service {

// Error kMalformed names the message and its size. An empty buffer is a message without fields.
base::Status parse_message(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite& message);

grpc::ByteBuffer serialize_message(const google::protobuf::MessageLite& message);

// Takes the bytes out of a request, so that they die when their reader is done and not when the
// call is: a call may wait an hour for its proof.
grpc::ByteBuffer take_request(const grpc::ByteBuffer* request);

}  // namespace cuzk::service

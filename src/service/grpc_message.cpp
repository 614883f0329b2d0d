// Parsing over the slices as they came from the socket. Joined into one piece first, a request
// would be in memory once more.
#include "service/grpc_message.h"

#include <string>

#include <google/protobuf/message_lite.h>
#include <grpcpp/impl/codegen/config_protobuf.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include "base/check.h"

namespace cuzk::service {

// The reader walks the slices; `bytes` stays as it is.
base::Status parse_message(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite& message) {
  if (!bytes.Valid() || bytes.Length() == 0) {
    message.Clear();
    return base::ok_status();
  }
  grpc::ByteBuffer view = bytes;  // shares the slices; the reader wants it mutable
  grpc::ProtoBufferReader reader(&view);
  if (reader.status().ok() && message.ParseFromZeroCopyStream(&reader)) return base::ok_status();
  return base::Error{base::ErrorKind::kMalformed,
                     "the request of " + std::to_string(bytes.Length()) + " bytes is no message " +
                         message.GetTypeName()};
}

grpc::ByteBuffer serialize_message(const google::protobuf::MessageLite& message) {
  std::string text;
  // Of messages of proto3, which have no field that must be set; text in them is UTF-8 already.
  message.SerializeToString(&text);
  const grpc::Slice slice(text);
  return {&slice, 1};
}

grpc::ByteBuffer take_request(const grpc::ByteBuffer* request) {
  CUZK_ASSERT(request != nullptr);
  grpc::ByteBuffer taken;
  // The object itself is not const: the library made it for this call and passes it on to be read.
  taken.Swap(const_cast<grpc::ByteBuffer*>(request));
  return taken;
}

}  // namespace cuzk::service

// A circuit job whose witness comes in pieces.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <grpcpp/alarm.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include "service/grpc_core.h"

namespace cuzk::service {

// Lives until gRPC is done with it. Pieces are counted by the core's upload gate as they come, and
// a stream that takes too long is ended, so that one that stalls keeps others out for a bounded
// time only.
class UploadCall final : public grpc::ServerReadReactor<grpc::ByteBuffer> {
 public:
  static std::shared_ptr<UploadCall> make(GrpcCore& core, grpc::CallbackServerContext* context,
                                          grpc::ByteBuffer* response);
  void begin();
  void refuse(grpc::Status status);

 private:
  UploadCall(GrpcCore& core, grpc::CallbackServerContext* context, grpc::ByteBuffer* response)
      : core_(core), context_(context), response_(response) {}
  void OnReadDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void take_piece();
  base::Status add_piece();
  void submit();
  void run(void (UploadCall::*step)());
  bool finish(grpc::Status status);

  GrpcCore& core_;
  grpc::CallbackServerContext* const context_;
  grpc::ByteBuffer* const response_;
  grpc::ByteBuffer piece_;
  std::optional<CircuitRequest> request_;
  std::uint64_t expected_bytes_ = 0;
  std::vector<ByteGate::Hold> holds_;
  std::mutex mutex_;
  bool finished_ = false;
  grpc::Alarm alarm_;
  std::shared_ptr<UploadCall> self_;
};

}  // namespace cuzk::service

// A circuit job whose witness comes in pieces. So it may be larger than a message, and is refused
// as soon as a piece shows that it is wrong.
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
// time only. begin() --> a piece is read, put away in a lane, the next one asked for --the stream
// ends--> submit() in a lane. The first of these, the alarm and the client's going away to finish
// counts.
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
  // Steps, one at a time: the next is begun by the end of the one before. take_piece() puts a piece
  // away and asks for the next, submit() makes a job of them all.
  void take_piece();
  base::Status add_piece();
  void submit();
  // Has a step done in a lane, unless the call is over.
  void run(void (UploadCall::*step)());
  // False: somebody else was first.
  bool finish(grpc::Status status);

  GrpcCore& core_;
  grpc::CallbackServerContext* const context_;
  grpc::ByteBuffer* const response_;
  // The steps' own, without a lock. request_ is there from the header on, with the witness so far:
  // at most expected_bytes_, and each byte of it is in one of holds_.
  grpc::ByteBuffer piece_;
  std::optional<CircuitRequest> request_;
  std::uint64_t expected_bytes_ = 0;
  std::vector<ByteGate::Hold> holds_;
  std::mutex mutex_;  // of finished_ and self_; Finish is called under it, and StartRead
  bool finished_ = false;
  grpc::Alarm alarm_;
  std::shared_ptr<UploadCall> self_;  // the library's hold, until OnDone
};

}  // namespace cuzk::service

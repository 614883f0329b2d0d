// One unary call: answered once, by whoever comes first of its work, its client's going away and
// the server's stop. Lives until gRPC is done with it and nobody holds it.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include "base/result.h"

namespace google::protobuf {
class MessageLite;
}

namespace cuzk::service {

class UnaryCall : public grpc::ServerUnaryReactor {
 public:
  using Count = std::function<void(std::string_view code)>;
  // `count` (may be empty) hears the code that the call ends with, and outlives it.
  static std::shared_ptr<UnaryCall> make(grpc::CallbackServerContext* context,
                                         grpc::ByteBuffer* response, const Count& count);

  // The first of these counts; the others do nothing and return false.
  bool answer(const google::protobuf::MessageLite& message);
  bool refuse(const base::Error& error);
  // `retry_after`: when to try again; 0: that does not help.
  bool refuse(const base::Error& error, std::chrono::milliseconds retry_after);
  bool refuse(grpc::Status status);
  // Answered, or its client is gone.
  bool over() const { return over_.load(); }

  // Called once when the client goes away before the answer, from a thread of gRPC; at once when
  // it is gone already.
  void when_gone(std::function<void()> gone);

 private:
  UnaryCall(grpc::CallbackServerContext* context, grpc::ByteBuffer* response, const Count& count)
      : context_(context), response_(response), count_(count) {}
  void finish(grpc::Status status);
  void OnCancel() override;
  void OnDone() override;

  // open --answer(), refuse() or OnCancel()--> over --OnDone()--> gone
  //
  // Whoever sets over_ may touch context and response and calls Finish, which the library takes
  // once; both are the library's, and there until OnDone. gone_ and done_ say under the mutex
  // whether a function of when_gone() is still to be kept.
  grpc::CallbackServerContext* const context_;
  grpc::ByteBuffer* const response_;
  const Count& count_;
  std::atomic<bool> over_ = false;
  std::mutex mutex_;
  bool gone_ = false, done_ = false;
  std::function<void()> when_gone_;
  std::shared_ptr<UnaryCall> self_;  // the library's hold, until OnDone
};

// Runs work of a call; what it throws (no memory, a library) becomes its refusal.
void run_guarded(const std::shared_ptr<UnaryCall>& call, const std::function<void()>& work);

}  // namespace cuzk::service

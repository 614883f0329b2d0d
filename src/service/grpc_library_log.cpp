// Lines are told apart by their words: the library has no other way to say that it is deaf.
#include "service/grpc_library_log.h"

#include <atomic>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include "base/log.h"

namespace cuzk::service {
namespace {

// Begins the library's line of an accept that failed. At a server's own end it says nothing.
constexpr std::string_view kClosesListener = "Failed accept4";

std::atomic<std::uint64_t> g_closed_listeners{0};

// Lines of the libraries about what clients do wrong go where ours go, and only when asked for.
// Errors of the library are mostly of clients that go away, so they are no errors of ours.
// But for one: after it the library closes that listener for good, and only a restart opens it.
void log_library_line(gpr_log_func_args* line) {
  const bool is_error = line->severity == GPR_LOG_SEVERITY_ERROR;
  if (is_error && std::string_view(line->message).starts_with(kClosesListener)) {
    ++g_closed_listeners;
    base::log(base::LogLevel::kError,
              fmt::format("gRPC takes no new connection any more at one of its addresses ({}); "
                          "start the daemon anew, with more open files",
                          line->message));
    return;
  }
  const bool is_last = std::string_view(line->message).starts_with(kLastWords);
  base::log(is_last    ? base::LogLevel::kError
            : is_error ? base::LogLevel::kInfo
                       : base::LogLevel::kDebug,
            std::string("grpc: ") + line->message);
}

}  // namespace

void take_library_lines() {
  gpr_set_log_function(log_library_line);
  google::protobuf::SetLogHandler(nullptr);  // says what grpc_message.cpp says anyway
}

std::uint64_t closed_listener_count() { return g_closed_listeners; }

}  // namespace cuzk::service

// Errors as statuses: what a client should do next differs by class (RFC 9110). Every error is the
// same JSON object, whichever step of a request found it.
#include "service/http_message.h"

#include <charconv>

#include <fmt/format.h>

#include "service/retry_hint.h"

namespace cuzk::service {

int http_status(base::ErrorKind kind) {
  using Kind = base::ErrorKind;
  switch (kind) {
    case Kind::kInvalidArgument:
    case Kind::kMalformed:
    case Kind::kMismatch: return 400;
    case Kind::kUnsatisfied:
    case Kind::kUnsupported: return 422;
    case Kind::kNotFound: return 404;
    case Kind::kAlreadyExists:
    case Kind::kCancelled: return 409;
    case Kind::kResourceExhausted: return 429;
    case Kind::kUnavailable: return 503;
    case Kind::kVerificationFailed:
    case Kind::kIo:
    case Kind::kInternal: break;
  }
  return 500;
}

HttpReply json_reply(const nlohmann::ordered_json& value, int status) {
  HttpReply reply;
  reply.status = status;
  // Sentences may quote bytes of a request; what is no UTF-8 is replaced.
  reply.body = value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  return reply;
}

nlohmann::ordered_json error_json(std::string_view kind, std::string_view message) {
  nlohmann::ordered_json body;
  body["error"]["kind"] = std::string(kind);
  body["error"]["message"] = std::string(message);
  return body;
}

HttpReply error_reply(const base::Error& error) { return error_reply(error, retry_after(error)); }

HttpReply error_reply(const base::Error& error, std::chrono::milliseconds delay) {
  HttpReply reply =
      json_reply(error_json(base::to_string(error.kind), error.message), http_status(error.kind));
  if (delay.count() > 0) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(delay).count();
    reply.headers.emplace_back("Retry-After", fmt::format("{}", seconds));
  }
  return reply;
}

std::string last_reply_text(const HttpReply& reply, std::string_view reason) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n",
                                 reply.status, reason, reply.content_type, reply.body.size());
  for (const auto& [name, value] : reply.headers) text += fmt::format("{}: {}\r\n", name, value);
  return text + "Connection: close\r\n\r\n" + reply.body;
}

base::Result<std::optional<std::uint64_t>> query_number(const HttpRequest& request,
                                                        const std::string& name,
                                                        std::uint64_t most) {
  const std::string text = request.parameter(name);
  if (text.empty()) return std::optional<std::uint64_t>();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    return base::Error{
        base::ErrorKind::kInvalidArgument,
        fmt::format("parameter {}: '{}' is not a whole number", name, text.substr(0, 64))};
  }
  if (error != std::errc() || number > most) {
    return base::Error{base::ErrorKind::kInvalidArgument,
                       fmt::format("parameter {}: {} is more than {}, the largest there is", name,
                                   text.substr(0, 64), most)};
  }
  return std::optional(number);
}

}  // namespace cuzk::service

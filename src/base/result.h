// Errors as values: a kind that programs act on and a sentence that people read.
//
// Every fallible function of a room's public face returns Result<T> or Status. A verifier's "no" is
// an answer (a bool), not an error. Exceptions of libraries are caught where the library is called.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"

namespace cuzk::base {

// What went wrong, in classes that a caller can act on. Exit codes and gRPC codes derive from it.
enum class ErrorKind {
  kInvalidArgument,     // the request itself is wrong (a flag, a field, a combination)
  kMalformed,           // bytes that break their format
  kMismatch,            // two inputs, each fine, that do not belong together
  kUnsatisfied,         // a witness that breaks a constraint
  kVerificationFailed,  // a proof that we made does not verify; it is never returned
  kNotFound,
  kAlreadyExists,
  kIo,
  kResourceExhausted,  // memory, disk, queue
  kUnavailable,        // draining, device lost
  kCancelled,
  kUnsupported,  // recognised, but outside what this build proves
  kInternal,
};

// The kind as a stable lower-case word for JSON and metrics, e.g. "malformed".
std::string_view to_string(ErrorKind kind) noexcept;

// One failure. The message names file, field, found and expected where they apply, in a sentence
// without a final full stop.
struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;

  // The same error with "context: " in front of its message.
  [[nodiscard]] Error within(std::string_view context) && {
    message.insert(0, std::string(context) + ": ");
    return std::move(*this);
  }
};

// Either a value or an Error. Asking for the one that is absent is a checked defect.
template <class T>
class [[nodiscard]] Result {
  static_assert(!std::is_same_v<T, Error>, "which of the two it holds would be a riddle");

 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  T& value() & {
    CUZK_ASSERT(ok());
    return std::get<0>(state_);
  }
  const T& value() const& {
    CUZK_ASSERT(ok());
    return std::get<0>(state_);
  }
  T&& value() && {
    CUZK_ASSERT(ok());
    return std::get<0>(std::move(state_));
  }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }

  const Error& error() const& {
    CUZK_ASSERT(!ok());
    return std::get<1>(state_);
  }
  Error&& error() && {
    CUZK_ASSERT(!ok());
    return std::get<1>(std::move(state_));
  }

 private:
  std::variant<T, Error> state_;
};

// A Result without a value.
using Status = Result<std::monostate>;

inline Status ok_status() { return std::monostate{}; }

}  // namespace cuzk::base

// Evaluates a Result expression; returns its error from the enclosing function, or names its value.
#define CUZK_CONCAT_INNER(a, b) a##b
#define CUZK_CONCAT(a, b) CUZK_CONCAT_INNER(a, b)
#define CUZK_TRY_IMPL(temporary, declaration, expression)   \
  auto temporary = (expression);                            \
  if (!temporary.ok()) return std::move(temporary).error(); \
  declaration = std::move(temporary).value()
#define CUZK_TRY(declaration, expression) \
  CUZK_TRY_IMPL(CUZK_CONCAT(cuzk_result_, __LINE__), declaration, expression)
#define CUZK_TRY_STATUS(expression)                               \
  do {                                                            \
    auto cuzk_status = (expression);                              \
    if (!cuzk_status.ok()) return std::move(cuzk_status).error(); \
  } while (false)

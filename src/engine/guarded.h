// The border to code that is not the engine's (readers of jobs, stages, executors): what it throws
// becomes an error like any other, so that it ends a job and not the thread that called.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/scratch.h"

namespace cuzk::engine {

// What stands for refused memory. Where even the sentence finds none, it is one that fits into the
// string itself, so this never fails.
inline base::Error out_of_memory(std::string_view who = {}) noexcept {
  try {
    const std::string prefix = who.empty() ? "" : std::string(who) + ": ";
    return {base::ErrorKind::kResourceExhausted,
            prefix + "the operating system has no memory left"};
  } catch (const std::bad_alloc&) {
    return {base::ErrorKind::kResourceExhausted, "out of memory"};
  }
}

// The exception that is being handled, as an error; called in a handler alone. Where its sentence
// finds no memory, it is that of refused memory, so this never fails either.
inline base::Error error_of_exception() noexcept {
  using base::Error;
  using base::ErrorKind;
  try {
    try {
      throw;
    } catch (const base::OutOfMemory& refused) {
      return refused.error();
    } catch (const std::bad_alloc&) {
      return out_of_memory();
    } catch (const std::exception& exception) {
      return Error{ErrorKind::kInternal, std::string("an exception: ") + exception.what()};
    } catch (...) {
      return Error{ErrorKind::kInternal, "an exception: of unknown type"};
    }
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

// body(), which returns a Result. Refused memory becomes kResourceExhausted, the rest kInternal.
// Throws nothing itself, and costs nothing where nothing is thrown. The body's locals are destroyed
// before the error is made, so permits and buffers of a stage that threw are free by then.
template <class Body>
auto guarded(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    return error_of_exception();
  }
}

}  // namespace cuzk::engine

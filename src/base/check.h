// Assertions for what must hold whatever the user does.
//
// A failed check means a defect of ours: it prints the condition and its place, then aborts. Never
// use one on user input; that is answered with an Error (base/result.h).
#pragma once

namespace cuzk::base {

// Prints "file:line: check failed: condition" to standard error and aborts.
[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace cuzk::base

#define CUZK_CHECK(condition)                                     \
  do {                                                            \
    if (!(condition)) [[unlikely]]                                \
      ::cuzk::base::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)

// Assertions for what must hold whatever the user does.
//
// A failed one means a defect of ours: it prints the condition and its place, then aborts. Never
// use one on user input; that is answered with an Error (base/result.h). Not for functions that
// also run on a device.
#pragma once

namespace cuzk::base {

// Prints "file:line: check failed: condition" to standard error and aborts.
[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace cuzk::base

// In every build: for what costs nothing beside the work it guards.
#define CUZK_ASSERT(condition)                                    \
  do {                                                            \
    if (!(condition)) [[unlikely]]                                \
      ::cuzk::base::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)

// In builds with a sanitizer alone, for conditions inside loops or ones that take a loop
// themselves. Else the condition is compiled and never evaluated.
#ifdef CUZK_DEBUG_ASSERTS
#define CUZK_DEBUG_ASSERT(condition) CUZK_ASSERT(condition)
#else
#define CUZK_DEBUG_ASSERT(condition)   \
  do {                                 \
    if (false) CUZK_ASSERT(condition); \
  } while (false)
#endif

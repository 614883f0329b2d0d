// Descriptors of open files, and what the system says when one of its calls fails.
//
// For the files of this room that call open(2), read(2) and write(2) themselves; others use file.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cuzk::base {

// "path: cannot action: reason", of the kind that says what a caller can do about it.
Error system_error(const std::string& path, const char* action, int error_number);

// A descriptor that is closed when the scope ends.
class Descriptor {
 public:
  explicit Descriptor(int value) noexcept : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
  // Negative when the call that gave it failed.
  int value() const noexcept { return value_; }

 private:
  int value_;
};

// The descriptor of this process that a name such as /dev/stdout or /dev/fd/63 stands for, and
// nothing for other names. Behind these names is a link whose text need not be a path ("pipe:[7]"),
// and a socket cannot be opened through one at all, so the descriptor itself is used.
std::optional<int> descriptor_named_by(std::string_view name);

}  // namespace cuzk::base

// Working memory of computations: counted pages when it is large, the heap when it is small.
//
// Kernels take scratch deep inside parallel loops, where a Result cannot travel. So here alone
// memory that is refused is an exception, OutOfMemory, a std::bad_alloc that carries the ledger's
// sentence. The fallible functions above catch it, together with every other bad_alloc, by
// catch_out_of_memory, and return kResourceExhausted. It never crosses a room's Result functions.
//
// Buffers below kPagedBytesMin stay on the heap and out of the ledger: there are a few a thread,
// and a page's system calls would cost more than their use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/ledger.h"
#include "base/result.h"

namespace cuzk::base {

// Refused memory with its reason.
class OutOfMemory final : public std::bad_alloc {
 public:
  explicit OutOfMemory(Error error) : error_(std::make_shared<const Error>(std::move(error))) {}
  const char* what() const noexcept override { return error_->message.c_str(); }
  const Error& error() const noexcept { return *error_; }

 private:
  std::shared_ptr<const Error> error_;  // shared, so that copies cannot throw
};

// Owns at least `size_bytes` bytes at a 64-byte boundary; their content is anything. Movable, empty
// by default. Throws OutOfMemory when the budget refuses or the system has none.
class ScratchBuffer {
 public:
  static constexpr std::size_t kPagedBytesMin = std::size_t{128} << 10;

  ScratchBuffer() = default;
  ScratchBuffer(std::size_t size_bytes, MemoryCategory category, std::string_view owner);
  ScratchBuffer(ScratchBuffer&& other) noexcept { swap(other); }
  ScratchBuffer& operator=(ScratchBuffer&& other) noexcept {
    ScratchBuffer taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~ScratchBuffer() = default;

  // What a buffer of `size_bytes` really takes; the largest number when it takes more.
  static std::size_t rounded(std::size_t size_bytes);

  std::uint8_t* data() noexcept { return data_; }
  const std::uint8_t* data() const noexcept { return data_; }
  std::size_t size_bytes() const noexcept { return size_bytes_; }
  void fill_zero();

 private:
  struct Free {
    void operator()(std::uint8_t* bytes) const noexcept;
  };
  void swap(ScratchBuffer& other) noexcept {
    std::swap(pages_, other.pages_);
    std::swap(heap_, other.heap_);
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
  }

  PageRun pages_;                             // one of these two holds
  std::unique_ptr<std::uint8_t, Free> heap_;  // what data_ points at
  std::uint8_t* data_ = nullptr;
  std::size_t size_bytes_ = 0;
};

// What a PageRun or Buffer of `size_bytes` takes: whole pages; the largest number when that is
// more.
std::uint64_t page_rounded(std::uint64_t size_bytes);

// A fixed-size array in scratch memory, not initialised. Throws as ScratchBuffer.
template <class T>
class ScratchArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  static_assert(alignof(T) <= 64);

 public:
  ScratchArray() = default;
  ScratchArray(std::size_t count, MemoryCategory category, std::string_view owner)
      : bytes_(size_bytes_of(count), category, owner), size_(count) {}

  static std::size_t byte_count(std::size_t count) {
    return ScratchBuffer::rounded(size_bytes_of(count));
  }
  std::size_t size() const noexcept { return size_; }
  T* data() noexcept { return reinterpret_cast<T*>(bytes_.data()); }
  const T* data() const noexcept { return reinterpret_cast<const T*>(bytes_.data()); }
  T& operator[](std::size_t i) noexcept {
    CUZK_DEBUG_ASSERT(i < size_);
    return data()[i];
  }
  const T& operator[](std::size_t i) const noexcept {
    CUZK_DEBUG_ASSERT(i < size_);
    return data()[i];
  }
  std::span<T> span() noexcept { return {data(), size_}; }
  std::span<const T> span() const noexcept { return {data(), size_}; }

 private:
  // A product that 64 bits do not hold is asked for as the largest number, which nothing grants.
  static std::size_t size_bytes_of(std::size_t count) {
    constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
    return count > kMost / sizeof(T) ? kMost : count * sizeof(T);
  }

  ScratchBuffer bytes_;
  std::size_t size_ = 0;
};

// body(), which returns a Result. Memory that it was refused becomes kResourceExhausted with `work`
// in front; other exceptions pass.
template <class Body>
auto catch_out_of_memory(std::string_view work, const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const OutOfMemory& refused) {
    return Error(refused.error()).within(work);
  } catch (const std::bad_alloc&) {
    return Error{ErrorKind::kResourceExhausted, "the operating system has no memory left"}.within(
        work);
  }
}

}  // namespace cuzk::base

// BLAKE2 (RFC 7693) through OpenSSL, which has no one-call API for the keyed and shortened forms.
//
// The forms that the product needs and no more: 2b-512, keyed 2b-256, 2s-256. One-call functions
// may run on any thread; a stream belongs to one thread at a time. No salt, no personalisation.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "base/bytes.h"

namespace cuzk::hash {

// BLAKE2b with a 64-byte digest and no key.
std::array<std::uint8_t, 64> blake2b_512(base::ByteSpan bytes);

// BLAKE2b with a 32-byte digest and a key of 1 to 64 bytes; other key lengths are a defect of the
// caller.
std::array<std::uint8_t, 32> blake2b_256_keyed(base::ByteSpan key, base::ByteSpan bytes);

// BLAKE2s with a 32-byte digest and no key.
std::array<std::uint8_t, 32> blake2s_256(base::ByteSpan bytes);

// Streaming BLAKE2s-256. finish() may be called once.
class Blake2s256 {
 public:
  Blake2s256();
  ~Blake2s256();
  Blake2s256(const Blake2s256&) = delete;
  Blake2s256& operator=(const Blake2s256&) = delete;

  void update(base::ByteSpan bytes);
  std::array<std::uint8_t, 32> finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace cuzk::hash

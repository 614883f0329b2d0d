// The only caller of OpenSSL's digests. Its failures (out of memory, a build without BLAKE2) leave
// no way to go on, hence checks.
#include "hash/blake2.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "base/check.h"

namespace cuzk::hash {

namespace {

// One call for a whole message.
template <std::size_t size>
std::array<std::uint8_t, size> digest_once(const EVP_MD* algorithm, base::ByteSpan bytes) {
  std::array<std::uint8_t, size> out;
  unsigned written = 0;
  const int status =
      EVP_Digest(bytes.data(), bytes.size(), out.data(), &written, algorithm, nullptr);
  CUZK_ASSERT(status == 1 && written == size);
  return out;
}

}  // namespace

std::array<std::uint8_t, 64> blake2b_512(base::ByteSpan bytes) {
  return digest_once<64>(EVP_blake2b512(), bytes);
}

std::array<std::uint8_t, 32> blake2s_256(base::ByteSpan bytes) {
  return digest_once<32>(EVP_blake2s256(), bytes);
}

std::array<std::uint8_t, 32> blake2b_256_keyed(base::ByteSpan key, base::ByteSpan bytes) {
  CUZK_ASSERT(!key.empty() && key.size() <= 64);
  const std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> algorithm(
      EVP_MAC_fetch(nullptr, "BLAKE2BMAC", nullptr), &EVP_MAC_free);
  CUZK_ASSERT(algorithm != nullptr);
  const std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context(
      EVP_MAC_CTX_new(algorithm.get()), &EVP_MAC_CTX_free);
  CUZK_ASSERT(context != nullptr);
  std::array<std::uint8_t, 32> out;
  std::size_t size = out.size(), written = 0;
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
                                   OSSL_PARAM_construct_end()};
  const int begun = EVP_MAC_init(context.get(), key.data(), key.size(), parameters);
  CUZK_ASSERT(begun == 1);
  const int taken = EVP_MAC_update(context.get(), bytes.data(), bytes.size());
  CUZK_ASSERT(taken == 1);
  const int ended = EVP_MAC_final(context.get(), out.data(), &written, out.size());
  CUZK_ASSERT(ended == 1 && written == out.size());
  return out;
}

struct Blake2s256::Context {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> handle{EVP_MD_CTX_new(),
                                                                 &EVP_MD_CTX_free};
};

Blake2s256::Blake2s256() : context_(std::make_unique<Context>()) {
  CUZK_ASSERT(context_->handle != nullptr);
  const int begun = EVP_DigestInit_ex(context_->handle.get(), EVP_blake2s256(), nullptr);
  CUZK_ASSERT(begun == 1);
}

Blake2s256::~Blake2s256() = default;

void Blake2s256::update(base::ByteSpan bytes) {
  const int taken = EVP_DigestUpdate(context_->handle.get(), bytes.data(), bytes.size());
  CUZK_ASSERT(taken == 1);
}

std::array<std::uint8_t, 32> Blake2s256::finish() {
  std::array<std::uint8_t, 32> out;
  unsigned written = 0;
  const int ended = EVP_DigestFinal_ex(context_->handle.get(), out.data(), &written);
  CUZK_ASSERT(ended == 1 && written == out.size());
  return out;
}

}  // namespace cuzk::hash

// Little-endian integers at the end of a byte string: what writers of formats are made of. Reading
// is ByteReader's (bytes.h).
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace cuzk::base {

inline void append_u32_le(Bytes& out, std::uint32_t value) {
  out.resize(out.size() + sizeof value);
  store_u32_le(out.data() + out.size() - sizeof value, value);
}
inline void append_u64_le(Bytes& out, std::uint64_t value) {
  out.resize(out.size() + sizeof value);
  store_u64_le(out.data() + out.size() - sizeof value, value);
}

}  // namespace cuzk::base

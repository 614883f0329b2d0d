// A target that is broken on purpose: a test demands that the driver finds it. Without it, a driver
// that never calls its target would look like one that never finds anything.
#include <cstring>

#include "fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A length that is trusted: the fault that every parser here has to be free of.
  if (size < 8 || std::memcmp(data, "bird", 4) != 0) return 0;
  CUZK_FUZZ_REQUIRE(cuzk::base::load_u32_le(data + 4) <= size - 8);
  return 0;
}

std::vector<cuzk::base::Bytes> cuzk::fuzz::seeds() {
  return {{'b', 'i', 'r', 'd', 4, 0, 0, 0, 's', 'o', 'n', 'g'}};
}

// The seam between portable code and files built for AVX-512 IFMA: plain functions only.
//
// No template and no inline function crosses it: the linker keeps one copy of such a function, and
// the one built with AVX-512 would then run on machines without.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuzk::msm {
struct AddPair;
}

namespace cuzk::msm::ifma {

using AddPairsFunction = void (*)(const std::uint8_t* left_rows, const std::uint8_t* right_rows,
                                  std::uint8_t* out_rows, const AddPair* pairs, std::size_t count,
                                  std::uint8_t* scratch);

// Affine points, as bytes, into rows or back.
using ConvertFunction = void (*)(const std::uint8_t* from, std::size_t count, std::uint8_t* to);

// A kernel and the scratch it needs; null in builds for other processors.
struct Entry {
  AddPairsFunction add_pairs = nullptr;
  std::size_t scratch_bytes = 0;
  ConvertFunction pack = nullptr, unpack = nullptr;
};
Entry bls12_381_g1();
Entry bls12_381_g2();
Entry bn254_g1();
Entry bn254_g2();

// Field inversion, compiled for every processor and called once a batch: words of x R' to words of
// x^-1 R' (ifma_rows.h).
void invert_bls12_381(const std::uint64_t* in, std::uint64_t* out);
void invert_bn254(const std::uint64_t* in, std::uint64_t* out);

}  // namespace cuzk::msm::ifma

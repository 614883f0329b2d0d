// Serialises rows into a buffer and streams it through BLAKE2s: no copy of the circuit is made.
//
// Columns of a row must ascend (checked), so the digest depends on the circuit alone and not on the
// order in which terms or coefficients were recorded.
#include "r1cs/fingerprint.h"

#include <array>
#include <cstring>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "field/bls12_381.h"
#include "field/bn254.h"
#include "hash/blake2.h"

namespace cuzk::r1cs {

namespace {

// Collects small integers and terms into large pieces for the hash, which is slow on small ones.
class Writer {
 public:
  // Integers are big-endian, as the format has them.
  void u64(std::uint64_t value) {
    room(8);
    base::store_u64_be(&buffer_[used_], value);
    used_ += 8;
  }
  // One term: which kind of variable, its number among its kind, its coefficient big-endian.
  void term(char kind, std::uint64_t index, const std::array<std::uint8_t, 32>& coefficient) {
    room(41);
    buffer_[used_] = static_cast<std::uint8_t>(kind);
    base::store_u64_be(&buffer_[used_ + 1], index);
    std::memcpy(&buffer_[used_ + 9], coefficient.data(), coefficient.size());
    used_ += 41;
  }
  hash::Digest finish() {
    hasher_.update({buffer_.data(), used_});
    return hasher_.finish();
  }

 private:
  // Makes room for `size` bytes by handing over what is there.
  void room(std::size_t size) {
    CUZK_DEBUG_ASSERT(size <= buffer_.size());
    if (used_ + size <= buffer_.size()) return;
    hasher_.update({buffer_.data(), used_});
    used_ = 0;
  }
  hash::Blake2s256 hasher_;
  std::array<std::uint8_t, 1 << 14> buffer_;
  std::size_t used_ = 0;
};

}  // namespace

template <class F>
hash::Digest fingerprint(const Shape<F>& shape) {
  static_assert(F::kByteCount == 32);
  CUZK_ASSERT(shape.has_c);
  std::vector<std::array<std::uint8_t, 32>> coefficients(shape.coefficients.size());
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    field::store_be(shape.coefficients[i].to_canonical().value, coefficients[i].data());
  }
  CUZK_ASSERT(shape.b.row_count() == shape.constraint_count() &&
              shape.c.row_count() == shape.constraint_count());
  Writer writer;
  writer.u64(shape.input_count);
  writer.u64(shape.aux_count);
  writer.u64(shape.constraint_count());
  for (std::size_t r = 0; r < shape.constraint_count(); ++r) {
    for (const SparseMatrix* matrix : {&shape.a, &shape.b, &shape.c}) {
      const Row row = matrix->row(r);
      writer.u64(row.size());
      std::uint64_t next = 0;
      for (const Term term : row) {
        CUZK_ASSERT(term.column >= next);
        next = std::uint64_t{term.column} + 1;
        const bool is_input = term.column < shape.input_count;
        writer.term(is_input ? 'I' : 'A', is_input ? term.column : term.column - shape.input_count,
                    coefficients[term.coefficient]);
      }
    }
  }
  return writer.finish();
}

template hash::Digest fingerprint(const Shape<field::bls12_381::Fr>&);
template hash::Digest fingerprint(const Shape<field::bn254::Fr>&);

}  // namespace cuzk::r1cs

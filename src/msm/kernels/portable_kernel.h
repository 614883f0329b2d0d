// The portable point kernel: rows are affine points as they are, additions one after the other.
//
// Per addition 2 M + 1 S for slope and point and 3 M for its share of the inversion, over the base
// field; for points over Fp2 the inversion is shared on norms, which are in Fp.
#pragma once

#include <cstring>
#include <new>

#include "msm/kernels/point_kernel.h"

namespace cuzk::msm::portable {

using curve::Affine;

// The share of an element in a common inversion: itself in Fp, its norm in Fp2.
template <class P>
const field::PrimeField<P>& norm(const field::PrimeField<P>& x) {
  return x;
}
template <class F>
F norm(const field::Quadratic<F>& x) {
  return x.norm();
}
// x^-1 from norm(x)^-1.
template <class P>
field::PrimeField<P> inverse_from_norm(const field::PrimeField<P>&,
                                       const field::PrimeField<P>& inverse) {
  return inverse;
}
template <class F>
field::Quadratic<F> inverse_from_norm(const field::Quadratic<F>& x, const F& inverse) {
  return x.conjugate().scaled(inverse);
}

template <class F>
struct BaseFieldOf {
  using Type = F;
};
template <class F>
struct BaseFieldOf<field::Quadratic<F>> {
  using Type = F;
};

// How one addition is carried out: by a slope with the given denominator, or by a copy.
enum class AddCase : std::uint8_t { kChord, kTangent, kLeft, kRight, kInfinity };
static_assert(AddCase::kChord < AddCase::kTangent && AddCase::kTangent < AddCase::kLeft,
              "those up to kTangent divide");

// Pairs that share an inversion. It costs as much as some dozens of products and an addition has
// six, so beside a thousand additions it is little; their entries (72 to 152 KiB) stay in a
// second-level cache.
inline constexpr std::size_t kBlockPairs = 1024;

// What the way forward leaves for the way back.
template <class G>
struct BlockEntry {
  typename G::Field denominator;
  typename BaseFieldOf<typename G::Field>::Type prefix;  // product of the norms before this one
  AddCase kind;
};

template <class G>
Affine<G> read(const std::uint8_t* rows, std::uint32_t operand) {
  const Affine<G>& p = reinterpret_cast<const Affine<G>*>(rows)[operand >> 1];
  return (operand & 1) != 0 ? -p : p;
}

// Chooses the case and the denominator of p + q.
template <class G>
AddCase classify(const Affine<G>& p, const Affine<G>& q, typename G::Field& denominator) {
  denominator = q.x - p.x;
  if (p.is_infinity()) return AddCase::kRight;
  if (q.is_infinity()) return AddCase::kLeft;
  if (!denominator.is_zero()) return AddCase::kChord;
  if (p.y != q.y || p.y.is_zero()) return AddCase::kInfinity;
  denominator = p.y.doubled();
  return AddCase::kTangent;
}

// The sum, from the inverse of the denominator that classify() chose.
template <class G>
Affine<G> finish(const Affine<G>& p, const Affine<G>& q, AddCase kind,
                 const typename G::Field& inverse) {
  switch (kind) {
    case AddCase::kLeft: return p;
    case AddCase::kRight: return q;
    case AddCase::kInfinity: return Affine<G>::infinity();
    case AddCase::kChord:
    case AddCase::kTangent: break;
  }
  using Field = typename G::Field;
  Field numerator = q.y - p.y;
  if (kind == AddCase::kTangent) {
    const Field square = p.x.squared();
    numerator = square.doubled() + square;
  }
  const Field slope = numerator * inverse;
  Affine<G> out;
  out.x = slope.squared() - p.x - q.x;
  out.y = slope * (p.x - out.x) - p.y;
  return out;
}

// Montgomery's trick over one block: products of the denominators' norms forward, one inversion,
// and on the way back each denominator's own inverse. Operands are read twice, so that entries stay
// small; an out row is written when its own operands are no longer needed.
template <class G>
void add_block(const std::uint8_t* left_rows, const std::uint8_t* right_rows,
               std::uint8_t* out_rows, const AddPair* pairs, std::size_t count,
               BlockEntry<G>* entries) {
  using Base = typename BaseFieldOf<typename G::Field>::Type;
  Base running = Base::one();
  for (std::size_t i = 0; i < count; ++i) {
    BlockEntry<G>& entry = entries[i];
    entry.kind = classify(read<G>(left_rows, pairs[i].left), read<G>(right_rows, pairs[i].right),
                          entry.denominator);
    entry.prefix = running;
    if (entry.kind <= AddCase::kTangent) running *= norm(entry.denominator);
  }
  Base inverse = running.inverse();
  for (std::size_t i = count; i > 0; --i) {
    const BlockEntry<G>& entry = entries[i - 1];
    const AddPair& pair = pairs[i - 1];
    typename G::Field own{};
    if (entry.kind <= AddCase::kTangent) {
      own = inverse_from_norm(entry.denominator, inverse * entry.prefix);
      inverse *= norm(entry.denominator);
    }
    reinterpret_cast<Affine<G>*>(out_rows)[pair.out] =
        finish(read<G>(left_rows, pair.left), read<G>(right_rows, pair.right), entry.kind, own);
  }
}

template <class G>
void add_pairs(const std::uint8_t* left_rows, const std::uint8_t* right_rows,
               std::uint8_t* out_rows, const AddPair* pairs, std::size_t count,
               std::uint8_t* scratch) {
  static_assert(alignof(BlockEntry<G>) <= 64, "scratch is aligned to 64 bytes");
  auto* entries = new (scratch) BlockEntry<G>[kBlockPairs];
  for (std::size_t first = 0; first < count; first += kBlockPairs) {
    const std::size_t size = count - first < kBlockPairs ? count - first : kBlockPairs;
    add_block<G>(left_rows, right_rows, out_rows, pairs + first, size, entries);
  }
}

template <class G>
void pack(const Affine<G>* points, std::size_t count, std::uint8_t* rows) {
  if (count != 0) std::memcpy(rows, static_cast<const void*>(points), count * sizeof(Affine<G>));
}
template <class G>
void unpack(const std::uint8_t* rows, std::size_t count, Affine<G>* points) {
  if (count != 0) std::memcpy(static_cast<void*>(points), rows, count * sizeof(Affine<G>));
}
template <class G>
void copy(const std::uint8_t* row, bool negated, std::uint8_t* out) {
  const Affine<G> p = read<G>(row, operand(0, negated));
  std::memcpy(out, static_cast<const void*>(&p), sizeof p);
}

template <class G>
inline constexpr PointKernel<G> kKernel = {
    "portable", sizeof(Affine<G>), sizeof(BlockEntry<G>) * kBlockPairs, pack<G>, unpack<G>,
    copy<G>,    add_pairs<G>};

}  // namespace cuzk::msm::portable

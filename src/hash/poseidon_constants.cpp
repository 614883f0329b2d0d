// From width and round numbers to all constants of an instance. Nothing is tabulated.
//
// Letters: t the width, h = 4 half of the full rounds, P the partial rounds, M the mixing matrix.
// Vectors are rows and multiply matrices from the left; M is symmetric, so it matters only for the
// sparse factors.
#include "hash/poseidon_constants.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace cuzk::hash::internal {

namespace {

using Fr = PoseidonField;
using Row = std::vector<Fr>;

constexpr std::size_t kHalf = kPoseidonFullRounds / 2;

// A square matrix, row by row.
struct Matrix {
  std::size_t size;
  Row cells;

  explicit Matrix(std::size_t n) : size(n), cells(n * n) {}
  Fr& at(std::size_t i, std::size_t j) { return cells[i * size + j]; }
  const Fr& at(std::size_t i, std::size_t j) const { return cells[i * size + j]; }
};

// a b.
Matrix product(const Matrix& a, const Matrix& b) {
  Matrix out(a.size);
  for (std::size_t i = 0; i < a.size; ++i) {
    for (std::size_t k = 0; k < a.size; ++k) {
      for (std::size_t j = 0; j < a.size; ++j) out.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
  return out;
}

// v m.
Row product(const Row& v, const Matrix& m) {
  Row out(m.size);
  for (std::size_t i = 0; i < m.size; ++i) {
    for (std::size_t j = 0; j < m.size; ++j) out[j] += v[i] * m.at(i, j);
  }
  return out;
}

// Solves m X = right for `columns` right sides at once (right has m.size rows), by elimination.
// Cauchy matrices and the minors met here are invertible.
Row solve(Matrix m, Row right, std::size_t columns) {
  const std::size_t n = m.size;
  for (std::size_t pivot = 0; pivot < n; ++pivot) {
    std::size_t from = pivot;
    while (from < n && m.at(from, pivot).is_zero()) ++from;
    CUZK_ASSERT(from < n);
    if (from != pivot) {
      for (std::size_t j = 0; j < n; ++j) std::swap(m.at(from, j), m.at(pivot, j));
      for (std::size_t j = 0; j < columns; ++j) {
        std::swap(right[from * columns + j], right[pivot * columns + j]);
      }
    }
    const Fr scale = m.at(pivot, pivot).inverse();
    for (std::size_t j = pivot; j < n; ++j) m.at(pivot, j) *= scale;
    for (std::size_t j = 0; j < columns; ++j) right[pivot * columns + j] *= scale;
    for (std::size_t i = 0; i < n; ++i) {
      const Fr factor = m.at(i, pivot);
      if (i == pivot || factor.is_zero()) continue;
      for (std::size_t j = pivot; j < n; ++j) m.at(i, j) -= factor * m.at(pivot, j);
      for (std::size_t j = 0; j < columns; ++j) {
        right[i * columns + j] -= factor * right[pivot * columns + j];
      }
    }
  }
  return right;
}

// m^-1, which exists for all matrices here (checked in solve).
Matrix inverse(const Matrix& m) {
  Matrix identity(m.size), out(m.size);
  for (std::size_t i = 0; i < m.size; ++i) identity.at(i, i) = Fr::one();
  out.cells = solve(m, identity.cells, m.size);
  return out;
}

// M[i][j] = 1 / (i + j + t): maximum distance separable, as all its minors are Cauchy too.
Matrix cauchy_matrix(std::size_t t) {
  Matrix m(t);
  for (std::size_t i = 0; i < t; ++i) {
    for (std::size_t j = 0; j < t; ++j) m.at(i, j) = Fr::from_u64(i + j + t);
  }
  Row scratch(t * t);
  field::batch_inverse<Fr>(m.cells, scratch);
  return m;
}

// The 80-bit generator of the Poseidon paper, appendix F.
class Grain {
 public:
  Grain(std::size_t width, std::size_t partial_rounds) {
    append(1, 2);  // a prime field
    append(1, 4);  // S-box x^alpha
    append(Fr::kBitCount, 12);
    append(width, 12);
    append(kPoseidonFullRounds, 10);
    append(partial_rounds, 10);
    append((std::uint64_t{1} << 30) - 1, 30);  // all ones: 80 bits in all
    for (int i = 0; i < 160; ++i) step();      // the first outputs are thrown away
  }

  // Bits most significant first; integers not below r are drawn again, never reduced.
  Fr next_element() {
    while (true) {
      field::Limbs<4> limbs;
      for (std::size_t i = Fr::kBitCount; i > 0; --i) {
        limbs[(i - 1) / 64] |= field::Limb{next_bit()} << ((i - 1) % 64);
      }
      if (const auto x = field::bls12_381::FrCanonical::from_limbs(limbs)) {
        return Fr::from_canonical(*x);
      }
    }
  }

 private:
  // Bit s_i of the register; s_0 is the oldest and the next to leave.
  bool at(unsigned i) const { return (state_ >> (79 - i)) & 1; }
  void append(std::uint64_t bits, unsigned count) { state_ = state_ << count | bits; }
  bool step() {
    const bool bit = at(62) ^ at(51) ^ at(38) ^ at(23) ^ at(13) ^ at(0);
    state_ = (state_ << 1 | static_cast<unsigned>(bit)) & kMask;
    return bit;
  }
  // Self-shrinking: the first bit of each pair says whether the second is output.
  bool next_bit() {
    while (!step()) step();
    return step();
  }

  static constexpr unsigned __int128 kMask = (static_cast<unsigned __int128>(1) << 80) - 1;
  unsigned __int128 state_ = 0;
};

// Moves the keys of each round behind its S-boxes, and all but one key of each partial round into
// the full round before them.
Row compress_constants(const Row& keys, std::size_t t, std::size_t partial, const Matrix& inv) {
  const auto round_keys = [&](std::size_t round) {
    return Row(keys.begin() + round * t, keys.begin() + (round + 1) * t);
  };
  Row out = round_keys(0);
  const auto append = [&out](const Row& row) { out.insert(out.end(), row.begin(), row.end()); };
  for (std::size_t i = 1; i < kHalf; ++i) append(product(round_keys(i), inv));
  Row partial_keys;
  Row carried = round_keys(kHalf + partial);
  for (std::size_t i = 0; i < partial; ++i) {
    Row moved = product(carried, inv);
    partial_keys.push_back(moved[0]);
    moved[0] = Fr::zero();
    carried = round_keys(kHalf + partial - 1 - i);
    for (std::size_t j = 0; j < t; ++j) carried[j] += moved[j];
  }
  // What is left of them joins the last full round before the partial ones.
  append(product(carried, inv));
  out.insert(out.end(), partial_keys.rbegin(), partial_keys.rend());
  for (std::size_t i = 1; i < kHalf; ++i) {
    append(product(round_keys(kHalf + partial + i), inv));
  }
  return out;
}

// Writes M^P as pre_sparse times P sparse factors. A matrix with corner c, first row (c, v), first
// column (c, w) and minor H is diag(1, H) times the sparse matrix of column (c, H^-1 w) and row v;
// diag(1, H) commutes with the S-box of element 0 and moves to the round before.
void factor_sparse(const Matrix& m, PoseidonConstants& out) {
  const std::size_t t = m.size;
  Matrix current = m;
  for (std::size_t round = 0; round < out.partial_rounds; ++round) {
    Matrix minor(t - 1), block(t);
    Row w(t - 1), v(t - 1);
    // Take `current` apart, then carry diag(1, H) over to the matrix of the round before.
    block.at(0, 0) = Fr::one();
    for (std::size_t i = 1; i < t; ++i) {
      w[i - 1] = current.at(i, 0);
      v[i - 1] = current.at(0, i);
      for (std::size_t j = 1; j < t; ++j) {
        minor.at(i - 1, j - 1) = current.at(i, j);
        block.at(i, j) = current.at(i, j);
      }
    }
    Row column = solve(minor, w, 1);
    column.insert(column.begin(), current.at(0, 0));
    out.sparse.push_back({std::move(column), std::move(v)});
    current = product(m, block);
  }
  std::reverse(out.sparse.begin(), out.sparse.end());
  out.pre_sparse = current.cells;
}

}  // namespace

std::vector<PoseidonField> poseidon_grain(std::size_t width, std::size_t partial_rounds,
                                          std::size_t count) {
  Grain grain(width, partial_rounds);
  std::vector<PoseidonField> out;
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) out.push_back(grain.next_element());
  return out;
}

PoseidonConstants derive_poseidon_constants(std::size_t arity, std::size_t partial_rounds) {
  PoseidonConstants out;
  out.arity = arity;
  out.width = arity + 1;
  out.partial_rounds = partial_rounds;
  out.round_constants =
      poseidon_grain(out.width, partial_rounds, (kPoseidonFullRounds + partial_rounds) * out.width);
  const Matrix m = cauchy_matrix(out.width);
  out.mds = m.cells;
  out.compressed_constants =
      compress_constants(out.round_constants, out.width, partial_rounds, inverse(m));
  factor_sparse(m, out);
  CUZK_ASSERT(out.compressed_constants.size() == out.width * kPoseidonFullRounds + partial_rounds);
  CUZK_ASSERT(out.sparse.size() == partial_rounds && out.pre_sparse.size() == m.cells.size());
  return out;
}

}  // namespace cuzk::hash::internal

// Densities and row products. A term on a bit costs an integer addition, or an unreduced one of
// field elements, or nothing; only terms on true scalars with a coefficient other than 1 and -1
// cost a product.
//
// In sealing circuits nearly all terms are on bits with coefficients 1, -1 and 2. So a row's sum is
// kept in two parts: a small integer, and field elements that are reduced once at the end.
#include "r1cs/shape.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"
#include "field/bls12_381.h"
#include "field/bn254.h"

namespace cuzk::r1cs {

template <class F>
Density density_of(const Shape<F>& shape) {
  Density density{base::BitVector(shape.aux_count), base::BitVector(shape.input_count),
                  base::BitVector(shape.aux_count)};
  const auto each_term = [&](const SparseMatrix& matrix, auto&& use) {
    if (matrix.is_flat()) {
      for (const Term& term : matrix.terms) use(term.column);
      return;
    }
    for (std::size_t r = 0; r < matrix.row_count(); ++r) {
      for (const Term term : matrix.row(r)) use(term.column);
    }
  };
  each_term(shape.a, [&](std::uint32_t column) {
    if (column >= shape.input_count) density.a_aux.set(column - shape.input_count);
  });
  each_term(shape.b, [&](std::uint32_t column) {
    if (column >= shape.input_count) {
      density.b_aux.set(column - shape.input_count);
    } else {
      density.b_input.set(column);
    }
  });
  return density;
}

namespace {

// A sum of up to 2^32 field elements that is reduced once: plain additions of representatives, the
// carries counted apart. 2^(64 N) mod p is the representative of 1, so `carries` of them are that
// of the integer `carries`.
// `sum_` and `carries_` together are sum_ + carries_ 2^(64 N), an integer that only grows.
template <class F>
class LazySum {
 public:
  void add(const F& x) { carries_ += field::add_carry(sum_, sum_, x.montgomery_limbs()); }
  // Adds x when `bit` is 1, nothing when it is 0.
  void add_if(std::uint64_t bit, const F& x) {
    CUZK_DEBUG_ASSERT(bit <= 1);
    field::Limbs<F::kLimbCount> masked = x.montgomery_limbs();
    for (std::size_t i = 0; i < F::kLimbCount; ++i) masked[i] &= ~bit + 1;
    carries_ += field::add_carry(sum_, sum_, masked);
  }
  F value() const {
    // 2^(64 N) is below 3 p for BLS12-381 and 6 p for BN254: few subtractions.
    field::Limbs<F::kLimbCount> low = sum_, reduced;
    while (field::sub_borrow(reduced, low, F::Params::kModulus) == 0) low = reduced;
    const F out = F::from_montgomery(low);
    return carries_ == 0 ? out : out + F::from_u64(carries_);
  }

 private:
  field::Limbs<F::kLimbCount> sum_;
  std::uint64_t carries_ = 0;
};

// Of the first coefficients of a table, which are small integers. Tables begin with the most common
// ones, so rows on bits alone are mostly sums of these and need no field arithmetic.
template <class F>
class SmallCoefficients {
 public:
  static constexpr std::int8_t kNotSmall = 127;

  explicit SmallCoefficients(const std::vector<F>& table) {
    const std::size_t count = std::min(table.size(), small_.size());
    small_.fill(kNotSmall);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::int8_t k = -kMax; k <= kMax; ++k) {
        if (table[i] == multiple(k)) small_[i] = k;
      }
    }
  }
  std::int8_t operator[](std::uint32_t index) const {
    return index < small_.size() ? small_[index] : kNotSmall;
  }
  // The field element k.
  static F multiple(std::int64_t k) {
    return k >= 0 ? F::from_u64(static_cast<std::uint64_t>(k))
                  : -F::from_u64(static_cast<std::uint64_t>(-k));
  }

 private:
  static constexpr std::int8_t kMax = 2;
  static_assert(kMax < kNotSmall);
  std::array<std::int8_t, 16> small_;
};

// The elements -kReach to kReach, the usual sums of small coefficients.
template <class F>
struct SmallMultiples {
  static constexpr std::int64_t kReach = 4;
  std::array<F, 2 * kReach + 1> values;
  SmallMultiples() {
    for (std::int64_t k = -kReach; k <= kReach; ++k) {
      values[static_cast<std::size_t>(k + kReach)] = SmallCoefficients<F>::multiple(k);
    }
  }
  F operator()(std::int64_t k) const {
    if (k < -kReach || k > kReach) return SmallCoefficients<F>::multiple(k);
    return values[static_cast<std::size_t>(k + kReach)];
  }
};

// Everything about one call that its rows share.
template <class F>
class RowEvaluator {
 public:
  RowEvaluator(const Shape<F>& shape, const Assignment<F>& assignment)
      : input_count_(shape.input_count),
        coefficients_(shape.coefficients.data()),
        small_(shape.coefficients),
        inputs_(assignment.inputs.data()),
        aux_(assignment.aux) {}

  // Whether a bit is set is a coin toss, so nothing branches on it.
  F operator()(const Row& row) const {
    return row.is_stored() ? sum_of(std::span(row.stored_begin(), row.stored_end())) : sum_of(row);
  }

 private:
  template <class Terms>
  F sum_of(const Terms& row) const {
    std::int64_t small_sum = 0;
    LazySum<F> sum;
    bool all_small = true;
    for (const Term term : row) {
      const std::int8_t small = small_[term.coefficient];
      const bool is_small = small != SmallCoefficients<F>::kNotSmall;
      std::uint64_t bit = 1;
      if (term.column >= input_count_) {
        const std::size_t i = term.column - input_count_;
        if (aux_.is_scalar(i)) {
          const F& value = aux_.scalars()[aux_.scalar_rank(i)];
          if (row.size() == 1 && small == 1) return value;
          sum.add(product(small, term.coefficient, value));
          all_small = false;
          continue;
        }
        bit = aux_.bit(i) ? 1 : 0;
      } else if (term.column > 0) {
        sum.add(product(small, term.coefficient, inputs_[term.column]));
        all_small = false;
        continue;
      }
      if (is_small) {
        small_sum += small & -static_cast<std::int64_t>(bit);
      } else {
        sum.add_if(bit, coefficients_[term.coefficient]);
        all_small = false;
      }
    }
    return all_small ? multiples_(small_sum) : sum.value() + multiples_(small_sum);
  }

  // coefficient * value, for a scalar. Twos are rare on scalars, so they take the general way.
  F product(std::int8_t small, std::uint32_t coefficient, const F& value) const {
    if (small == 1) return value;
    return small == -1 ? -value : coefficients_[coefficient] * value;
  }

  std::uint32_t input_count_;
  const F* coefficients_;
  SmallCoefficients<F> small_;
  SmallMultiples<F> multiples_;
  const F* inputs_;
  const CompactWitness<F>& aux_;
};

}  // namespace

template <class F>
void evaluate_rows(const Shape<F>& shape, const SparseMatrix& matrix,
                   const Assignment<F>& assignment, std::size_t first_row, std::span<F> out) {
  CUZK_ASSERT(assignment.inputs.size() == shape.input_count);
  CUZK_ASSERT(assignment.aux.size() == shape.aux_count);
  CUZK_ASSERT(shape.input_count == 0 || assignment.inputs[0].is_one());
  const std::size_t rows = matrix.row_count();
  const std::size_t present =
      first_row < rows ? std::min(out.size(), rows - first_row) : std::size_t{0};
  if (present > 0) {
    const RowEvaluator<F> evaluate(shape, assignment);
    for (std::size_t i = 0; i < present; ++i) out[i] = evaluate(matrix.row(first_row + i));
  }
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(present), out.end(), F::zero());
}

#define CUZK_INSTANTIATE(F)                                                               \
  template Density density_of(const Shape<F>&);                                           \
  template void evaluate_rows(const Shape<F>&, const SparseMatrix&, const Assignment<F>&, \
                              std::size_t, std::span<F>);
CUZK_INSTANTIATE(field::bls12_381::Fr)
CUZK_INSTANTIATE(field::bn254::Fr)
#undef CUZK_INSTANTIATE

}  // namespace cuzk::r1cs

// Domains of both conventions and the Lagrange basis by batch inversion.
//
// Which root of unity a key was built on is nowhere written in the key: it follows from the
// convention, and a wrong one gives proofs that do not verify. So it is derived here, once, for
// CPUs and cards. The basis costs about six products an element: Montgomery's trick shares one
// inversion among a block.
#include "groth16/qap.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/threads.h"

namespace cuzk::groth16 {
namespace {

constexpr std::size_t kLagrangeBlock = 4096;  // elements a batch inversion covers

}  // namespace

template <class F>
F smallest_nonresidue_root() {
  // Euler's criterion: x^((p-1)/2) is 1 for squares and -1 for the others. Few candidates are
  // tried.
  const auto half_order = field::half(F::Constants::modulus_minus(1));
  std::uint64_t candidate = 2;
  while (F::from_u64(candidate).pow(half_order).is_one()) ++candidate;
  return F::from_u64(candidate).pow(F::Constants::odd_part());
}

template <class F>
base::Result<QapRoots<F>> qap_roots(QapConvention convention, std::size_t size_log2) {
  const bool is_odd_coset = convention == QapConvention::kOddCosetLagrange;
  // The odd coset needs a root of twice the domain's order.
  const std::size_t order_log2 = size_log2 + (is_odd_coset ? 1 : 0);
  if (order_log2 > F::kTwoAdicity) {
    return base::Error{base::ErrorKind::kUnsupported,
                       "a domain of 2^" + std::to_string(size_log2) + " rows exceeds the 2^" +
                           std::to_string(F::kTwoAdicity - (is_odd_coset ? 1 : 0)) +
                           " that the scalar field allows"};
  }
  F root = is_odd_coset ? smallest_nonresidue_root<F>() : F::two_adic_root();
  for (std::size_t k = F::kTwoAdicity; k > order_log2; --k) root = root.squared();
  if (is_odd_coset) return QapRoots<F>{root.squared(), root};
  return QapRoots<F>{root, F::generator()};
}

template <class F>
base::Result<QapDomain<F>> make_qap_domain(QapConvention convention, std::size_t size_log2) {
  CUZK_TRY(const QapRoots<F> roots, qap_roots<F>(convention, size_log2));
  CUZK_TRY(auto domain, poly::Domain<F>::create(size_log2, roots.omega));
  // The coset does not meet the domain, so z has an inverse: a generator's order exceeds any
  // domain's, and the other shift has twice the domain's order.
  CUZK_ASSERT(!domain.vanishing_at(roots.shift).is_zero());
  return QapDomain<F>{std::move(domain), roots.shift};
}

template <class F>
void lagrange_basis_at(const poly::Domain<F>& domain, const F& x, const F& scale, std::size_t first,
                       std::span<F> out) {
  CUZK_ASSERT(first + out.size() <= domain.size());
  const F vanishing = domain.vanishing_at(x);
  CUZK_ASSERT(!vanishing.is_zero());  // else a difference below is zero
  const F common = scale * vanishing * F::from_u64(domain.size()).inverse();
  const std::size_t block_count = (out.size() + kLagrangeBlock - 1) / kLagrangeBlock;
  base::parallel_for(0, block_count, 1, [&](std::size_t block_first, std::size_t block_last) {
    std::vector<F> differences(kLagrangeBlock), scratch(kLagrangeBlock);
    for (std::size_t block = block_first; block < block_last; ++block) {
      const std::size_t begin = block * kLagrangeBlock;
      const std::size_t count = std::min(kLagrangeBlock, out.size() - begin);
      F power = domain.omega().pow(static_cast<std::uint64_t>(first + begin));
      for (std::size_t i = 0; i < count; ++i) {
        differences[i] = x - power;
        out[begin + i] = power * common;
        power *= domain.omega();
      }
      field::batch_inverse(std::span(differences).first(count), std::span(scratch).first(count));
      for (std::size_t i = 0; i < count; ++i) out[begin + i] *= differences[i];
    }
  });
}

template <class F>
void evaluate_a_rows(const r1cs::Shape<F>& shape, const r1cs::Assignment<F>& assignment,
                     std::size_t first_row, std::span<F> out) {
  r1cs::evaluate_rows(shape, shape.a, assignment, first_row, out);
  if (shape.has_input_rows) return;
  const std::size_t input_begin = shape.constraint_count();
  const std::size_t begin = std::max(first_row, input_begin);
  const std::size_t end = std::min(first_row + out.size(), input_begin + shape.input_count);
  for (std::size_t row = begin; row < end; ++row) {
    out[row - first_row] = assignment.inputs[row - input_begin];
  }
}

#define CUZK_GROTH16_QAP(FIELD)                                                            \
  template FIELD smallest_nonresidue_root<FIELD>();                                        \
  template base::Result<QapRoots<FIELD>> qap_roots(QapConvention, std::size_t);            \
  template base::Result<QapDomain<FIELD>> make_qap_domain(QapConvention, std::size_t);     \
  template void lagrange_basis_at(const poly::Domain<FIELD>&, const FIELD&, const FIELD&,  \
                                  std::size_t, std::span<FIELD>);                          \
  template void evaluate_a_rows(const r1cs::Shape<FIELD>&, const r1cs::Assignment<FIELD>&, \
                                std::size_t, std::span<FIELD>)
CUZK_GROTH16_QAP(field::bls12_381::Fr);
CUZK_GROTH16_QAP(field::bn254::Fr);

}  // namespace cuzk::groth16

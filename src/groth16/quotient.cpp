// Evaluation by blocks of rows, then transforms in place; quotient.h says why there are six.
//
// The order keeps two buffers enough: a is evaluated and taken to the coset, then b, then their
// product overwrites a and b's buffer is free for c. Time: six transforms of size m, and each row
// of a and of b twice.
#include "groth16/quotient.h"

#include <algorithm>
#include <array>
#include <new>

#include "base/check.h"
#include "base/threads.h"

namespace cuzk::groth16 {
namespace {

constexpr std::size_t kRowBlock = 1024;  // rows evaluated at a time, small enough for the cache
constexpr std::size_t kElementGrain = 16384;  // elements of a pointwise pass
constexpr std::string_view kStage = "evaluation and transforms";
constexpr std::uint64_t kStageUnits = 9;  // three evaluations, six transforms

// Calls body(first_row, rows) for blocks of rows that cover `values`, as far as the checkpoint lets
// it.
template <class F, class Body>
void for_row_blocks(std::span<F> values, base::Checkpoint& checkpoint, const Body& body) {
  const std::size_t block_count = (values.size() + kRowBlock - 1) / kRowBlock;
  base::parallel_tasks(block_count, &checkpoint, [&](std::size_t block) {
    const std::size_t first = block * kRowBlock;
    body(first, values.subspan(first, std::min(kRowBlock, values.size() - first)));
  });
}

// values[i] = body(values[i], i) on all threads. A product an element at most, little beside a
// transform, so nobody is asked in between.
template <class F, class Body>
void pointwise(std::span<F> values, const Body& body) {
  base::parallel_for(0, values.size(), kElementGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) values[i] = body(values[i], i);
  });
}

// One proof's evaluation: what the two buffers are made from. Borrows everything. After a step that
// was stopped the buffers mean nothing; each function then returns kCancelled and is not called
// again.
template <class F>
class Quotient {
 public:
  Quotient(const r1cs::Shape<F>& shape, const r1cs::Assignment<F>& assignment,
           const QapDomain<F>& qap, const Control& control)
      : shape_(shape),
        assignment_(assignment),
        qap_(qap),
        control_(control),
        checkpoint_(control) {}

  // The product of a and b on the coset, as values. The result lies in `a`; `b` is free afterwards.
  base::Status form_coset_product(std::span<F> a, std::span<F> b) {
    CUZK_ASSERT(a.size() == qap_.domain.size() && b.size() == qap_.domain.size());
    for_row_blocks(a, checkpoint_, [&](std::size_t first, std::span<F> out) {
      evaluate_a_rows(shape_, assignment_, first, out);
    });
    CUZK_TRY_STATUS(step());
    CUZK_TRY_STATUS(to_coset(a));
    for_row_blocks(b, checkpoint_, [&](std::size_t first, std::span<F> out) {
      r1cs::evaluate_rows(shape_, shape_.b, assignment_, first, out);
    });
    CUZK_TRY_STATUS(step());
    CUZK_TRY_STATUS(to_coset(b));
    pointwise(a, [&](const F& value, std::size_t i) { return value * b[i]; });
    return base::ok_status();
  }

  // c = a b on the domain, as coefficients.
  base::Status form_c(std::span<F> c) {
    for_row_blocks(c, checkpoint_, [&](std::size_t first, std::span<F> out) {
      std::array<F, kRowBlock> other;  // on the stack: both buffers are taken
      const auto b = std::span(other).first(out.size());
      evaluate_a_rows(shape_, assignment_, first, out);
      r1cs::evaluate_rows(shape_, shape_.b, assignment_, first, b);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] *= b[i];
    });
    CUZK_TRY_STATUS(step());
    qap_.domain.inverse(c, &checkpoint_);
    return step();
  }

  // A transform from here on stops, or makes way, in between.
  base::Checkpoint* checkpoint() { return &checkpoint_; }
  base::Status step() {
    control_.advance(1);
    return control_.check(kStage);
  }

 private:
  // Values on the domain to values on the coset, through the coefficients: two transforms.
  base::Status to_coset(std::span<F> values) {
    qap_.domain.inverse(values, &checkpoint_);
    CUZK_TRY_STATUS(step());
    qap_.domain.forward_coset(values, qap_.shift, &checkpoint_);
    return step();
  }

  const r1cs::Shape<F>& shape_;
  const r1cs::Assignment<F>& assignment_;
  const QapDomain<F>& qap_;
  const Control& control_;
  ControlCheckpoint checkpoint_;
};

}  // namespace

template <class F>
QuotientScalars<F>::QuotientScalars(base::Buffer<F> values, std::size_t count)
    : storage_(std::move(values)) {
  static_assert(sizeof(Canonical) == sizeof(F) && alignof(Canonical) == alignof(F));
  CUZK_ASSERT(count <= storage_.size());
  if (count == 0) return;
  // In place: each value is read whole before its canonical form takes the same bytes.
  F* const source = storage_.data();
  Canonical* const target = reinterpret_cast<Canonical*>(source);
  base::parallel_for(0, count, kElementGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Canonical value = source[i].to_canonical();
      ::new (static_cast<void*>(target + i)) Canonical(value);
    }
  });
  values_ = {std::launder(target), count};
}

template <class F>
base::Result<QuotientScalars<F>> quotient_scalars(const r1cs::Shape<F>& shape,
                                                  const r1cs::Assignment<F>& assignment,
                                                  QapConvention convention, std::size_t domain_log2,
                                                  const Control& control) {
  control.begin_stage(kStage, kStageUnits);
  CUZK_TRY(const QapDomain<F> qap, make_qap_domain<F>(convention, domain_log2));
  const std::size_t m = qap.domain.size();
  CUZK_ASSERT(shape.qap_row_count() <= m);  // else rows would be left out unseen (fit.h)
  constexpr auto kCategory = base::MemoryCategory::kEvaluation;
  CUZK_TRY(auto product, base::Buffer<F>::allocate(m, kCategory, "evaluation of a"));
  CUZK_TRY(auto other, base::Buffer<F>::allocate(m, kCategory, "evaluation of b"));
  Quotient<F> quotient(shape, assignment, qap, control);
  CUZK_TRY_STATUS(quotient.form_coset_product(product.span(), other.span()));
  CUZK_TRY_STATUS(quotient.form_c(other.span()));
  const auto c = other.span();
  if (convention == QapConvention::kOddCosetLagrange) {
    qap.domain.forward_coset(c, qap.shift, quotient.checkpoint());
    CUZK_TRY_STATUS(quotient.step());
    pointwise(product.span(), [&](const F& value, std::size_t i) { return value - c[i]; });
    return QuotientScalars<F>(std::move(product), m);
  }
  qap.domain.inverse_coset(product.span(), qap.shift, quotient.checkpoint());
  CUZK_TRY_STATUS(quotient.step());
  const F z_inverse = qap.domain.vanishing_at(qap.shift).inverse();
  pointwise(product.span(),
            [&](const F& value, std::size_t i) { return (value - c[i]) * z_inverse; });
  // deg h <= m - 2 whatever the witness: anything else is a fault of arithmetic or memory.
  if (!product[m - 1].is_zero()) {
    return base::Error{base::ErrorKind::kInternal,
                       "the quotient polynomial has a coefficient of degree m - 1: the transforms "
                       "or the memory they ran in are faulty"};
  }
  return QuotientScalars<F>(std::move(product), m - 1);
}

template class QuotientScalars<field::bls12_381::Fr>;
template class QuotientScalars<field::bn254::Fr>;
template base::Result<QuotientScalars<field::bls12_381::Fr>> quotient_scalars(
    const r1cs::Shape<field::bls12_381::Fr>&, const r1cs::Assignment<field::bls12_381::Fr>&,
    QapConvention, std::size_t, const Control&);
template base::Result<QuotientScalars<field::bn254::Fr>> quotient_scalars(
    const r1cs::Shape<field::bn254::Fr>&, const r1cs::Assignment<field::bn254::Fr>&, QapConvention,
    std::size_t, const Control&);

}  // namespace cuzk::groth16

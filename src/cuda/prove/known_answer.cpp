// Answers are computed here by other means than on the device: a polynomial's value by Horner's
// rule, sums of multiples of the generator by one scaling, proofs by the CPU backend.
#include "cuda/prove/known_answer.h"

#include <string>
#include <vector>

#include "cuda/device/fault.h"
#include "cuda/msm/msm.h"
#include "cuda/msm/multiples.h"
#include "cuda/poly/ntt.h"
#include "groth16/prove.h"
#include "groth16/setup.h"

namespace cuzk::cuda::prove {
namespace {

// Long enough for two passes and for many blocks, short enough for about a second in all.
constexpr std::size_t kTransformLog2 = 20;
constexpr std::size_t kSumLength = std::size_t{1} << 16;
constexpr std::size_t kCircuitSteps = 300;

// Elements that follow from `seed`; not random, but all words of them change.
template <class F>
class Sequence {
 public:
  explicit Sequence(std::uint64_t seed) : value_(F::from_u64(seed)), step_(F::generator()) {
    for (int i = 0; i < 8; ++i) step_ = step_.squared() + F::one();
  }
  // A linear congruence, x -> a x + 1, over the field.
  F next() {
    value_ = value_ * step_ + F::one();
    return value_;
  }

 private:
  F value_, step_;
};

// kUnavailable: whoever asked goes on as with a device that is lost.
base::Error wrong(const std::string& what) {
  return {base::ErrorKind::kUnavailable,
          "the known-answer test of " + what + " gave a wrong result"};
}

// A copy of `values` on the device, which has arrived: the vector may go.
template <class T>
base::Result<device::Buffer> on_device(const device::Stream& stream, const std::vector<T>& values) {
  CUZK_TRY(auto buffer, device::Buffer::create(values.size() * sizeof(T)));
  CUZK_TRY_STATUS(device::upload<T>(stream, buffer.template span<T>(values.size()), values));
  CUZK_TRY_STATUS(stream.synchronize());
  return buffer;
}

// Forth from natural to reversed order and back: one value by Horner's rule, then all coefficients.
template <class F>
base::Status test_transform(const device::Stream& stream) {
  using poly::Order;
  CUZK_TRY(const auto transform, poly::Transform<F>::create(stream, kTransformLog2));
  const std::size_t n = transform.size();
  Sequence<F> sequence(3);
  std::vector<F> coefficients(n), back(n);
  for (F& value : coefficients) value = sequence.next();
  CUZK_TRY(const auto buffer, on_device(stream, coefficients));
  const auto span = buffer.template span<F>(n);
  CUZK_TRY_STATUS(transform.forward(stream, span, Order::kNaturalToReversed));
  // Index 1 reversed is n / 2, where the value at omega^(n / 2) = -1 lies. Every coefficient goes
  // into it; what is wrong elsewhere shows on the way back.
  F value;
  CUZK_TRY_STATUS(device::download<F>(stream, {&value, 1}, span.subset(1, 1)));
  CUZK_TRY_STATUS(transform.inverse(stream, span, Order::kReversedToNatural));
  CUZK_TRY_STATUS(device::download<F>(stream, back, span));
  CUZK_TRY_STATUS(stream.synchronize());
  F expected = F::zero();
  for (std::size_t i = n; i > 0; --i) expected = coefficients[i - 1] - expected;
  if (!(value == expected)) return wrong("transforms");
  if (back != coefficients) return wrong("inverse transforms");
  return base::ok_status();
}

// Over the bases (i + 1) G the sum is (sum of k_i (i + 1)) G.
template <class G>
base::Status test_sum(const device::Stream& stream, int affine_rounds) {
  using F = typename G::Scalar;
  CUZK_TRY(const auto bases, device::Buffer::create(kSumLength * sizeof(cuzk::curve::Affine<G>)));
  const auto points = bases.template span<cuzk::curve::Affine<G>>(kSumLength);
  CUZK_TRY_STATUS(msm::fill_multiples<G>(stream, G::generator(), 1, points));
  Sequence<F> sequence(5);
  std::vector<msm::Scalar<G>> scalars(kSumLength);
  F weight = F::zero();
  for (std::size_t i = 0; i < kSumLength; ++i) {
    // Every eighth scalar is small, so that some buckets are crowded.
    const F scalar = i % 8 == 0 ? F::from_u64(i % 5) : sequence.next();
    scalars[i] = scalar.to_canonical();
    weight += scalar * F::from_u64(i + 1);
  }
  CUZK_TRY(const auto scalars_on, on_device(stream, scalars));
  // Rounds of batched additions by force: a sum of this length would do without them.
  msm::MsmPolicy policy;
  policy.affine_rounds_max = affine_rounds;
  policy.affine_count_min = 1;
  policy.affine_entries_min = 0;
  CUZK_TRY(const auto plan, msm::plan_msm<G>(kSumLength, policy));
  const std::uint64_t scratch_bytes = plan.scratch_bytes + plan.sums_bytes;
  CUZK_TRY(const auto scratch, device::Buffer::create(scratch_bytes));
  const auto values = scalars_on.template span<msm::Scalar<G>>(kSumLength);
  msm::Terms<G> terms;
  terms.bases = {points.data, points.size};
  terms.scalars = {values.data, values.size};
  CUZK_TRY(const auto found,
           msm::multiply<G>(stream, plan, terms, scratch.span<std::byte>(scratch_bytes)));
  const auto expected =
      cuzk::curve::Jacobian<G>::from_affine(G::generator()).scaled(weight.to_canonical().value);
  if (!(found == expected)) return wrong(std::string("sums in ") + G::kName);
  return base::ok_status();
}

// A circuit with bits, scalars, public inputs, a row of many terms, and its witness.
template <class F>
class SampleCircuit {
 public:
  SampleCircuit() {
    shape_->input_count = 3;  // one, x, result
    shape_->coefficients = {F::one(), -F::one(), F::from_u64(0x1234567)};
    assignment_->inputs = {F::one(), F::from_u64(17), F::zero()};
    F y = F::from_u64(17);
    std::uint32_t y_column = 1;
    Row sum_of_bits;
    for (std::size_t i = 0; i < kCircuitSteps; ++i) {
      const bool bit = (i * i + i / 3) % 3 != 0;
      const std::uint32_t bit_column = add(bit ? F::one() : F::zero());
      row({{0, kPlus}, {bit_column, kMinus}}, {{bit_column, kPlus}}, {});
      const F other = y + shape_->coefficients[kLarge];
      if (bit) y += F::one();
      y *= other;
      const std::uint32_t next = add(y);
      row({{y_column, kPlus}, {bit_column, kPlus}}, {{y_column, kPlus}, {0, kLarge}},
          {{next, kPlus}});
      y_column = next;
      sum_of_bits.push_back({bit_column, i % 2 == 0 ? kPlus : kLarge});
      bit_sum_ += bit ? shape_->coefficients[sum_of_bits.back().coefficient] : F::zero();
    }
    row(sum_of_bits, {{0, kPlus}}, {{add(bit_sum_), kPlus}});
    assignment_->inputs[2] = y;
    row({{y_column, kPlus}}, {{0, kPlus}}, {{2, kPlus}});
  }
  std::shared_ptr<const r1cs::Shape<F>> shape() const { return shape_; }
  std::shared_ptr<const r1cs::Assignment<F>> assignment() const { return assignment_; }

 private:
  using Row = std::vector<r1cs::Term>;
  static constexpr std::uint32_t kPlus = 0, kMinus = 1, kLarge = 2;

  // A new auxiliary variable of that value; its column.
  std::uint32_t add(const F& value) {
    assignment_->aux.push_classified(value);
    return shape_->input_count + shape_->aux_count++;
  }
  // The constraint <a, z> <b, z> = <c, z>.
  void row(const Row& a, const Row& b, const Row& c) {
    const auto append = [](r1cs::SparseMatrix& matrix, const Row& terms) {
      matrix.terms.insert(matrix.terms.end(), terms.begin(), terms.end());
      matrix.row_begin.push_back(matrix.terms.size());
    };
    append(shape_->a, a);
    append(shape_->b, b);
    append(shape_->c, c);
  }

  std::shared_ptr<r1cs::Shape<F>> shape_ = std::make_shared<r1cs::Shape<F>>();
  std::shared_ptr<r1cs::Assignment<F>> assignment_ = std::make_shared<r1cs::Assignment<F>>();
  F bit_sum_ = F::zero();
};

}  // namespace

template <class C>
base::Status test_proofs(groth16::Backend<C>& backend) {
  using Fr = typename C::Fr;
  using groth16::QapConvention;
  const SampleCircuit<Fr> circuit;
  const auto cpu = groth16::make_cpu_backend<C>();
  for (const auto convention : {QapConvention::kCoefficients, QapConvention::kOddCosetLagrange}) {
    // Fixed secrets: a key for this test alone, which proves nothing to anybody.
    groth16::ToxicWaste<C> waste;
    waste.alpha = Fr::from_u64(2);
    waste.beta = Fr::from_u64(3);
    waste.gamma = Fr::from_u64(5);
    waste.delta = Fr::from_u64(7);
    waste.tau = Fr::from_u64(0xabcdef);
    CUZK_TRY(const auto key, groth16::setup<C>(*circuit.shape(), waste, convention));
    const groth16::ProveInputs<C> inputs{key, circuit.shape(), circuit.assignment()};
    const groth16::Blinding<C> blinding{Fr::from_u64(11), Fr::from_u64(13)};
    CUZK_TRY(const auto expected, groth16::prove_with_blinding<C>(*cpu, inputs, blinding));
    CUZK_TRY(const auto pending, backend.start(inputs, blinding));
    CUZK_TRY(const auto found, pending->finish());
    if (!(found == expected)) return wrong("proofs");
  }
  return base::ok_status();
}

namespace {

// From what the rest is built of to the whole, so that the first sentence names the narrowest
// cause. Sums with XYZZ additions alone, then with two rounds of affine ones before them.
template <class C>
base::Status run_tests(groth16::Backend<C>& backend) {
  CUZK_TRY(const auto stream, device::Stream::create());
  CUZK_TRY_STATUS(test_transform<typename C::Fr>(stream));
  CUZK_TRY_STATUS(test_sum<typename C::G1>(stream, 0));
  CUZK_TRY_STATUS(test_sum<typename C::G1>(stream, 2));
  CUZK_TRY_STATUS(test_sum<typename C::G2>(stream, 0));
  CUZK_TRY_STATUS(test_sum<typename C::G2>(stream, 2));
  return test_proofs<C>(backend);
}

}  // namespace

template <class C>
base::Status known_answer_test(const device::DeviceInfo& info, groth16::Backend<C>& backend) {
  const auto status = run_tests<C>(backend);
  // Too little memory says nothing about a card's arithmetic: it is refused, not condemned.
  if (status.ok() || status.error().kind == base::ErrorKind::kResourceExhausted) return status;
  const std::string reason = "device " + std::to_string(info.index) + " (" + info.name + ", " +
                             info.uuid + ") is not used: " + status.error().message;
  device::condemn(info.index, reason);
  return base::Error{base::ErrorKind::kUnavailable, reason};
}

template base::Status test_proofs<cuzk::curve::Bls12_381>(
    groth16::Backend<cuzk::curve::Bls12_381>&);
template base::Status test_proofs<cuzk::curve::Bn254>(groth16::Backend<cuzk::curve::Bn254>&);
template base::Status known_answer_test<cuzk::curve::Bls12_381>(
    const device::DeviceInfo&, groth16::Backend<cuzk::curve::Bls12_381>&);
template base::Status known_answer_test<cuzk::curve::Bn254>(const device::DeviceInfo&,
                                                            groth16::Backend<cuzk::curve::Bn254>&);

}  // namespace cuzk::cuda::prove

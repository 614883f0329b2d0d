// The CPU backend: the reference that every other backend equals byte for byte.
//
// start: a, b and the six transforms give the scalars of H (quotient.h); then the sums over H, L, A
// and B in G1, and from them the proof's A and all of C. What is left for finish is the sum over B
// in G2, whose inputs (the ones as a bitmap, the scalars with their places) are those of B in G1.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>

#include "groth16/backend.h"
#include "groth16/fit.h"
#include "groth16/query_sum.h"
#include "groth16/quotient.h"

namespace cuzk::groth16 {
namespace {

template <class G>
curve::Jacobian<G> scaled(const curve::Affine<G>& point, const typename G::Scalar& scalar) {
  return curve::Jacobian<G>::from_affine(point).scaled(scalar.to_canonical().value);
}

// The layouts of the three queries that follow the witness.
struct Layouts {
  QuerySegment all, a_aux, b_input, b_aux;

  Layouts(const r1cs::Density& density, bool is_dense)
      : a_aux{&density.a_aux, is_dense},
        b_input{&density.b_input, is_dense},
        b_aux{&density.b_aux, is_dense} {}
};

template <class F>
r1cs::CompactWitness<F> compact_inputs(const r1cs::Assignment<F>& assignment) {
  r1cs::CompactWitness<F> out;
  for (const F& value : assignment.inputs) out.push_classified(value);
  return out;
}

std::uint64_t bitmap_bytes(std::uint64_t bits) { return (bits + 63) / 64 * 8; }

// What finish needs of the B query: shared by G1 (in start) and G2.
template <class F>
struct BInputs {
  base::BitVector ones;
  SelectedScalars<F> scalars;

  static base::Result<BInputs> select(const QueryWalk<F>& walk) {
    BInputs out;
    CUZK_TRY(out.scalars,
             SelectedScalars<F>::allocate(walk.scalar_count(), base::MemoryCategory::kPending,
                                          "scalars of the B query"));
    walk.scalars(0, out.scalars.indices.span(), out.scalars.values.span());
    out.ones = walk.ones();
    return out;
  }
  static std::uint64_t byte_count(std::uint64_t points, std::uint64_t scalars) {
    return bitmap_bytes(points) + SelectedScalars<F>::byte_count(scalars);
  }
};

template <class C>
class CpuPendingProof final : public PendingProof<C> {
 public:
  using Fr = typename C::Fr;

  CpuPendingProof(std::shared_ptr<const ProvingKey<C>> key, BInputs<Fr> b_inputs, const Fr& s,
                  const curve::Affine<typename C::G1>& a, const curve::Affine<typename C::G1>& c,
                  Control control)
      : key_(std::move(key)), b_inputs_(std::move(b_inputs)), s_(s), control_(std::move(control)) {
    proof_.a = a;
    proof_.c = c;
  }

  base::Result<Proof<C>> finish() override {
    if (key_ == nullptr) {
      return base::Error{base::ErrorKind::kInternal, "a pending proof was finished twice"};
    }
    const auto key = std::move(key_);
    const auto inputs = std::move(b_inputs_);
    CUZK_TRY(auto b, (sum_selected<typename C::G2, Fr>(key->b_g2, inputs.ones, inputs.scalars,
                                                       control_, "B query in G2")));
    b += key->vk.beta_g2;
    b += scaled<typename C::G2>(key->vk.delta_g2, s_);
    proof_.b = b.to_affine();
    return proof_;
  }

  std::uint64_t byte_count() const override {
    return BInputs<Fr>::byte_count(b_inputs_.ones.size(), b_inputs_.scalars.values.size());
  }

 private:
  std::shared_ptr<const ProvingKey<C>> key_;  // null once finished
  BInputs<Fr> b_inputs_;
  Fr s_;
  Control control_;
  Proof<C> proof_;
};

template <class C>
class CpuBackend final : public Backend<C> {
 public:
  using Fr = typename C::Fr;
  using G1 = typename C::G1;
  using Shape = r1cs::Shape<Fr>;
  using Assignment = r1cs::Assignment<Fr>;

  std::string_view name() const override { return "cpu"; }

  base::Result<MemoryPlan> plan(const ProvingKey<C>& key, const Shape& shape,
                                const Assignment* assignment) const override {
    const r1cs::Density density = r1cs::density_of(shape);
    CUZK_TRY_STATUS(check_key_fits(key, shape, density));
    const Layouts layouts(density, key.has_dense_queries);
    std::uint64_t b_scalars = density.b_input.count() + density.b_aux.count();
    std::uint64_t a_scalars = shape.variable_count();
    if (assignment != nullptr) {
      CUZK_TRY_STATUS(check_assignment_fits(*assignment, shape));
      const auto inputs = compact_inputs(*assignment);
      const QueryWalk<Fr> walk(inputs, layouts.b_input, assignment->aux, layouts.b_aux);
      b_scalars = walk.scalar_count();
      a_scalars = inputs.scalar_count() + assignment->aux.scalar_count();
    }
    MemoryPlan plan;
    plan.evaluation_bytes = quotient_bytes<Fr>(key.domain_log2);
    const auto piece = [](std::uint64_t count) { return std::min(count, kPieceScalars); };
    // Of the queries whose scalars are converted piece by piece, A and L have no more than all.
    plan.msm_scratch_bytes =
        std::max({SelectedScalars<Fr>::byte_count(piece(a_scalars)) +
                      msm::multiply_scratch_bytes<G1>(piece(a_scalars)),
                  msm::multiply_scratch_bytes<G1>(piece(key.h.size())),
                  msm::multiply_scratch_bytes<typename C::G2>(piece(b_scalars))});
    plan.pending_bytes = BInputs<Fr>::byte_count(key.b_g2.size(), b_scalars);
    return plan;
  }

  base::Result<std::unique_ptr<PendingProof<C>>> start(const ProveInputs<C>& inputs,
                                                       const Blinding<C>& blinding) override {
    CUZK_CHECK(inputs.key != nullptr && inputs.shape != nullptr && inputs.assignment != nullptr);
    const ProvingKey<C>& key = *inputs.key;
    const Assignment& assignment = *inputs.assignment;
    const auto density = density_of(inputs.shape);
    CUZK_TRY_STATUS(check_key_fits(key, *inputs.shape, *density));
    CUZK_TRY_STATUS(check_assignment_fits(assignment, *inputs.shape));
    CUZK_TRY(auto c, sum_h(inputs));
    const Layouts layouts(*density, key.has_dense_queries);
    const r1cs::CompactWitness<Fr> no_inputs, input_run = compact_inputs(assignment);
    const QueryWalk<Fr> l_walk(no_inputs, layouts.all, assignment.aux, layouts.all);
    CUZK_TRY(const auto l, (sum_walk<G1, Fr>(key.l, l_walk, inputs.control, "L query")));
    const QueryWalk<Fr> a_walk(input_run, layouts.all, assignment.aux, layouts.a_aux);
    CUZK_TRY(auto a, (sum_walk<G1, Fr>(key.a, a_walk, inputs.control, "A query")));
    const QueryWalk<Fr> b_walk(input_run, layouts.b_input, assignment.aux, layouts.b_aux);
    CUZK_TRY(auto b_inputs, BInputs<Fr>::select(b_walk));
    CUZK_TRY(auto b, (sum_selected<G1, Fr>(key.b_g1, b_inputs.ones, b_inputs.scalars,
                                           inputs.control, "B query in G1")));
    a += key.vk.alpha_g1;
    b += key.vk.beta_g1;
    const auto [r, s] = blinding;
    c += l;
    c += a.scaled(s.to_canonical().value);
    c += b.scaled(r.to_canonical().value);
    c += scaled<G1>(key.vk.delta_g1, r * s);
    a += scaled<G1>(key.vk.delta_g1, r);
    return std::unique_ptr<PendingProof<C>>(std::make_unique<CpuPendingProof<C>>(
        inputs.key, std::move(b_inputs), s, a.to_affine(), c.to_affine(), inputs.control));
  }

 private:
  base::Result<curve::Jacobian<G1>> sum_h(const ProveInputs<C>& inputs) {
    const ProvingKey<C>& key = *inputs.key;
    CUZK_TRY(const auto scalars,
             quotient_scalars<Fr>(*inputs.shape, *inputs.assignment, key.convention,
                                  key.domain_log2, inputs.control));
    return sum_all<G1>(key.h, scalars.values(), inputs.control, "H query");
  }

  // The shape's density, kept for the next proof of the same shape.
  std::shared_ptr<const r1cs::Density> density_of(const std::shared_ptr<const Shape>& shape) {
    {
      const std::lock_guard lock(mutex_);
      if (density_ != nullptr && density_shape_.lock() == shape) return density_;
    }
    auto density = std::make_shared<const r1cs::Density>(r1cs::density_of(*shape));
    const std::lock_guard lock(mutex_);
    density_shape_ = shape;
    density_ = density;
    return density;
  }

  std::mutex mutex_;  // guards the two below
  std::weak_ptr<const Shape> density_shape_;
  std::shared_ptr<const r1cs::Density> density_;
};

}  // namespace

template <class C>
std::unique_ptr<Backend<C>> make_cpu_backend() {
  return std::make_unique<CpuBackend<C>>();
}

template std::unique_ptr<Backend<curve::Bls12_381>> make_cpu_backend();
template std::unique_ptr<Backend<curve::Bn254>> make_cpu_backend();

}  // namespace cuzk::groth16

// The CPU backend: the reference that every other backend equals byte for byte.
//
// start: a, b and the six transforms give the scalars of H (quotient.h); then the sums over H, L, A
// and B in G1, and from them the proof's A and all of C. What is left for finish is the sum over B
// in G2, whose inputs (the ones as a bitmap, the scalars with their places) are those of B in G1.
//
// Everything runs on the caller's thread and the pool of base/threads.h; the backend has no state,
// so any number of threads may use one, each with the memory of its own plan.
#include <algorithm>
#include <cstddef>
#include <memory>

#include "base/check.h"
#include "base/scratch.h"
#include "curve/scalar_multiply.h"
#include "groth16/backend.h"
#include "groth16/fit.h"
#include "groth16/memory.h"
#include "groth16/query_sum.h"
#include "groth16/quotient.h"

namespace cuzk::groth16 {
namespace {

template <class G>
curve::Jacobian<G> scaled(const curve::Affine<G>& point, const typename G::Scalar& scalar) {
  return curve::scale<G>(point, scalar.to_canonical().value);
}

// The layouts of the three queries that follow the witness.
struct Layouts {
  QuerySegment all, a_aux, b_input, b_aux;

  Layouts(const r1cs::Density& density, bool is_dense)
      : a_aux{&density.a_aux, is_dense},
        b_input{&density.b_input, is_dense},
        b_aux{&density.b_aux, is_dense} {}
};

// What finish needs of the B query: shared by G1 (in start) and G2.
template <class F>
struct BInputs {
  CountedOnes ones;
  SelectedScalars<F> scalars;

  // Owns what it selects: the walk borrows the assignment, which may be gone before finish.
  static base::Result<BInputs> select(const QueryWalk<F>& walk) {
    BInputs out;
    CUZK_TRY(out.scalars,
             SelectedScalars<F>::allocate(walk.scalar_count(), base::MemoryCategory::kPending,
                                          "scalars of the B query"));
    walk.scalars(0, out.scalars.indices.span(), out.scalars.values.span());
    CUZK_TRY(out.ones,
             CountedOnes::of(walk, base::MemoryCategory::kPending, "ones of the B query"));
    return out;
  }
  std::uint64_t byte_count() const { return ones.permit.bytes() + scalars.byte_count(); }
};

// What start leaves: A and C complete, B's inputs, s. Finished when `key_` is null. The witness's
// values in `b_inputs_` are as secret as the assignment; s is wiped: it takes the blinding off B.
template <class C>
class CpuPendingProof final : public PendingProof<C> {
 public:
  using Fr = typename C::Fr;

  CpuPendingProof(std::shared_ptr<const ProvingKey<C>> key, BInputs<Fr> b_inputs, const Fr& s,
                  const curve::Affine<typename C::G1>& a, const curve::Affine<typename C::G1>& c,
                  Control control)
      : key_(std::move(key)), b_inputs_(std::move(b_inputs)), s_(s), control_(std::move(control)) {
    CUZK_ASSERT(key_ != nullptr);
    proof_.a = a;
    proof_.c = c;
  }

  ~CpuPendingProof() override { base::wipe(&s_, sizeof s_); }

  base::Result<Proof<C>> finish() override {
    return base::catch_out_of_memory("finishing a proof", [this] { return finish_or_throw(); });
  }

  std::uint64_t byte_count() const override { return b_inputs_.byte_count(); }

 private:
  base::Result<Proof<C>> finish_or_throw() {
    if (key_ == nullptr) {
      return base::Error{base::ErrorKind::kInternal, "a pending proof was finished twice"};
    }
    // Moved here, so that the memory is free when this returns, not when its owner goes.
    const auto key = std::move(key_);
    const auto inputs = std::move(b_inputs_);
    // B = beta + b + s delta.
    CUZK_TRY(auto b, (sum_selected<typename C::G2, Fr>(key->b_g2, inputs.ones.bits, inputs.scalars,
                                                       control_, "B query in G2")));
    b += key->vk.beta_g2;
    b += scaled<typename C::G2>(key->vk.delta_g2, s_);
    proof_.b = b.to_affine();
    return proof_;
  }

  std::shared_ptr<const ProvingKey<C>> key_;  // null once finished
  BInputs<Fr> b_inputs_;
  Fr s_;
  Control control_;
  Proof<C> proof_;
};

// Stateless; see the opening.
template <class C>
class CpuBackend final : public Backend<C> {
 public:
  using Fr = typename C::Fr;
  using G1 = typename C::G1;
  using Shape = r1cs::Shape<Fr>;
  using Assignment = r1cs::Assignment<Fr>;

  std::string_view name() const override { return kCpuBackendName; }

  base::Result<MemoryPlan> plan(const ProvingKey<C>& key, const Shape& shape,
                                const Assignment* assignment) const override {
    const r1cs::Density density = r1cs::density_of(shape);
    CUZK_TRY_STATUS(check_key_fits(key, shape, density));
    const Layouts layouts(density, key.has_dense_queries);
    WitnessCounts counts{shape.input_count, shape.aux_count, shape.variable_count(),
                         density.b_input.count() + density.b_aux.count()};
    if (assignment != nullptr) {
      CUZK_TRY_STATUS(check_assignment_fits(*assignment, shape));
      const auto inputs = r1cs::compact_inputs(*assignment);
      const QueryWalk<Fr> walk(inputs, layouts.b_input, assignment->aux, layouts.b_aux);
      counts.b_scalar_count = walk.scalar_count();
      counts.scalar_count = inputs.scalar_count() + assignment->aux.scalar_count();
    }
    return plan_memory(key, counts);
  }

  base::Result<std::unique_ptr<PendingProof<C>>> start(const ProveInputs<C>& inputs,
                                                       const Blinding<C>& blinding) override {
    return base::catch_out_of_memory("a proof", [&] { return start_or_throw(inputs, blinding); });
  }

 private:
  base::Result<std::unique_ptr<PendingProof<C>>> start_or_throw(const ProveInputs<C>& inputs,
                                                                const Blinding<C>& blinding) {
    CUZK_ASSERT(inputs.key != nullptr && inputs.shape != nullptr && inputs.assignment != nullptr);
    const ProvingKey<C>& key = *inputs.key;
    const Assignment& assignment = *inputs.assignment;
    CUZK_TRY(const auto density, density_of(inputs));
    CUZK_TRY_STATUS(check_key_fits(key, *inputs.shape, *density));
    CUZK_TRY_STATUS(check_assignment_fits(assignment, *inputs.shape));
    // H first: its two buffers are the largest memory of a proof and are gone before the other
    // sums.
    CUZK_TRY(auto c, sum_h(inputs));
    const Layouts layouts(*density, key.has_dense_queries);
    // L holds no inputs: their share of C is the verifier's.
    const r1cs::CompactWitness<Fr> no_inputs, input_run = r1cs::compact_inputs(assignment);
    const QueryWalk<Fr> l_walk(no_inputs, layouts.all, assignment.aux, layouts.all);
    CUZK_TRY(const auto l, (sum_walk<G1, Fr>(key.l, l_walk, inputs.control, "L query")));
    const QueryWalk<Fr> a_walk(input_run, layouts.all, assignment.aux, layouts.a_aux);
    CUZK_TRY(auto a, (sum_walk<G1, Fr>(key.a, a_walk, inputs.control, "A query")));
    const QueryWalk<Fr> b_walk(input_run, layouts.b_input, assignment.aux, layouts.b_aux);
    CUZK_ASSERT(b_walk.point_count() == key.b_g1.size() && key.b_g1.size() == key.b_g2.size());
    CUZK_TRY(auto b_inputs, BInputs<Fr>::select(b_walk));
    CUZK_TRY(auto b, (sum_selected<G1, Fr>(key.b_g1, b_inputs.ones.bits, b_inputs.scalars,
                                           inputs.control, "B query in G1")));
    a += key.vk.alpha_g1;
    b += key.vk.beta_g1;
    // A = alpha + a + r delta, B = beta + b + s delta, C = l + h + s A + r B - r s delta (Groth
    // 2016, section 3.2). Here s and r scale A and B without their own blinding, so that r s delta
    // is added: s (A - r delta) + r (B - s delta) + r s delta.
    const auto& [r, s] = blinding;
    c += l;
    c += scaled<G1>(a.to_affine(), s);
    c += scaled<G1>(b.to_affine(), r);
    c += scaled<G1>(key.vk.delta_g1, r * s);
    a += scaled<G1>(key.vk.delta_g1, r);
    return std::unique_ptr<PendingProof<C>>(std::make_unique<CpuPendingProof<C>>(
        inputs.key, std::move(b_inputs), s, a.to_affine(), c.to_affine(), inputs.control));
  }

  // The H query's share of C. The scalars, half of the evaluation's memory, are freed on return.
  base::Result<curve::Jacobian<G1>> sum_h(const ProveInputs<C>& inputs) {
    const ProvingKey<C>& key = *inputs.key;
    CUZK_TRY(const auto scalars,
             quotient_scalars<Fr>(*inputs.shape, *inputs.assignment, key.convention,
                                  key.domain_log2, inputs.control));
    return sum_all<G1>(key.h, scalars.values(), inputs.control, "H query");
  }

  // The shape's density: the caller's, or made for this proof and counted while it lives.
  static base::Result<std::shared_ptr<const r1cs::Density>> density_of(
      const ProveInputs<C>& inputs) {
    if (inputs.density != nullptr) return inputs.density;
    // A bit for each private variable in A and in B, and for each input in B.
    const Shape& shape = *inputs.shape;
    const auto words = [](std::uint64_t bits) { return (bits + 63) / 64; };
    CUZK_TRY(auto permit, base::Ledger::process().admit(
                              8 * (2 * words(shape.aux_count) + words(shape.input_count)),
                              base::MemoryCategory::kMatrices, "density of a circuit"));
    auto counted = std::make_shared<CountedDensity>();
    counted->permit = std::move(permit);
    counted->density = r1cs::density_of(shape);
    const r1cs::Density* const density = &counted->density;
    return std::shared_ptr<const r1cs::Density>(std::move(counted), density);
  }

  // Shared as a whole: the permit is given back when the last user of the density goes.
  struct CountedDensity {
    base::Permit permit;
    r1cs::Density density;
  };
};

}  // namespace

template <class C>
std::unique_ptr<Backend<C>> make_cpu_backend() {
  return std::make_unique<CpuBackend<C>>();
}

template std::unique_ptr<Backend<curve::Bls12_381>> make_cpu_backend();
template std::unique_ptr<Backend<curve::Bn254>> make_cpu_backend();

}  // namespace cuzk::groth16

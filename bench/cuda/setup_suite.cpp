// Fixed-base products against products on the host, then their rates; whole keys are compared with
// groth16/setup by the suite of proofs.
#include "bench/cuda/msm_support.h"
#include "cuda/field/samples.h"
#include "cuda/setup/fixed_base.h"

namespace cuzk::bench::cuda {
namespace {

using ::cuzk::cuda::msm::ScalarForm;
using ::cuzk::cuda::setup::FixedBaseTable;

template <class G>
struct Table {
  Buffer memory;
  FixedBaseTable<G> table;

  Table(Suite& suite, const curve::Affine<G>& base) {
    auto bytes = Buffer::create(FixedBaseTable<G>::byte_count());
    if (!suite.expect_ok(bytes, "table")) return;
    memory = std::move(bytes).value();
    auto made = FixedBaseTable<G>::create(suite.stream(), base, bytes_of(memory));
    if (suite.expect_ok(made, "table")) table = std::move(made).value();
  }
};

// All borders of the scalars' words, both forms, against scalings on the host.
template <class G>
void check_base(Suite& suite, const curve::Affine<G>& base, std::size_t random_count) {
  using F = typename G::Scalar;
  const Table<G> table(suite, base);
  std::vector<F> scalars = ::cuzk::cuda::field::field_samples<F>(random_count, 6);
  for (const F& more : {F::zero(), F::one(), -F::one(), F::from_u64(2).inverse()}) {
    scalars.push_back(more);
  }
  std::vector<Scalar<G>> canonical;
  for (const F& k : scalars) canonical.push_back(k.to_canonical());
  const Buffer forms = to_device(suite, scalars), integers = to_device(suite, canonical);
  for (const ScalarForm form : {ScalarForm::kMontgomery, ScalarForm::kCanonical}) {
    const Buffer& in = form == ScalarForm::kMontgomery ? forms : integers;
    auto out = Buffer::create(scalars.size() * sizeof(curve::Affine<G>));
    if (!suite.expect_ok(out, "products")) return;
    const auto span = out->template span<curve::Affine<G>>(scalars.size());
    suite.expect_ok(
        table.table.multiply(suite.stream(), reading<Scalar<G>>(in, scalars.size()), form, span),
        "products");
    const auto found = to_host(suite, span);
    const auto point = curve::Jacobian<G>::from_affine(base);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < scalars.size(); ++i) {
      if (!(found[i] == point.scaled(canonical[i].value).to_affine())) ++wrong;
    }
    suite.expect(wrong == 0, std::string(G::kName) + " fixed base: " + std::to_string(wrong) +
                                 " of " + std::to_string(scalars.size()) + " wrong");
  }
}

template <class G>
void check_group(Suite& suite) {
  const std::size_t count = suite.quick() ? 20 : 500;
  check_base<G>(suite, G::generator(), count);
  check_base<G>(suite, curve::Affine<G>{}, 5);  // infinity
}

template <class G>
void time_group(Suite& suite, std::size_t log2) {
  const std::size_t count = std::size_t{1} << log2;
  const Table<G> table(suite, G::generator());
  const Buffer scalars = to_device(suite, random_scalars<G>(count, 3));
  auto out = Buffer::create(count * sizeof(curve::Affine<G>));
  if (!suite.expect_ok(out, "products")) return;
  const double ms = suite.median_ms(3, [&] {
    return table.table.multiply(suite.stream(), reading<Scalar<G>>(scalars, count),
                                ScalarForm::kCanonical,
                                out->template span<curve::Affine<G>>(count));
  });
  std::printf("%s fixed base 2^%zu: %.2f ms, %.1f M points a second\n", G::kName, log2, ms,
              static_cast<double>(count) / ms / 1e3);
}

}  // namespace

void check_fixed_bases(Suite& suite) {
  if (suite.tiny()) return;  // tables are large, and no thread shares anything
  check_group<curve::Bls12_381::G1>(suite);
  check_group<curve::Bls12_381::G2>(suite);
  check_group<curve::Bn254::G1>(suite);
  check_group<curve::Bn254::G2>(suite);
  suite.section("fixed bases");
}

void time_fixed_bases(Suite& suite) {
  if (suite.quick()) return;
  time_group<curve::Bls12_381::G1>(suite, 22);
  time_group<curve::Bls12_381::G2>(suite, 20);
}

}  // namespace cuzk::bench::cuda

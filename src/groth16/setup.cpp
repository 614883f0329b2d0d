// The development set-up: every query as multiples of the generator by scalars that are known here.
//
// The scalars of the queries follow from the values of the QAP polynomials at tau: u_i, v_i, w_i,
// the sums over the rows of a coefficient times the row's Lagrange polynomial at tau (the appended
// row "input_i * 0 = 0" adds its own to u_i). They live in buffers of one field element a variable,
// which are freed as soon as the points exist; the scalars of one piece of a query are made when
// the piece is multiplied.
#include "groth16/setup.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/ledger.h"
#include "base/scratch.h"
#include "base/threads.h"
#include "curve/scalar_multiply.h"
#include "groth16/qap.h"
#include "groth16/random_scalar.h"
#include "msm/msm.h"
#include "poly/domain.h"

namespace cuzk::groth16 {
namespace {

// Scalars converted and multiplied at a time, here and by a multiplier that wants much at once.
constexpr std::size_t kPiece = std::size_t{1} << 17, kForeignPiece = std::size_t{1} << 20;
constexpr std::size_t kScalarGrain = 1024;
constexpr auto kScratch = base::MemoryCategory::kOther;

// What a key in memory owns.
template <class C>
struct KeyStorage {
  base::Buffer<typename C::G1Affine> h, l, a, b_g1;
  base::Buffer<typename C::G2Affine> b_g2;
};

// The values of the QAP polynomials at tau, by variable (inputs, then aux).
template <class F>
struct QapValues {
  base::Buffer<F> u, v, w;
};

// out[column] += sum over the rows of coefficient * weights[row]. Each thread owns a range of
// columns and reads all terms, so no two write to one place and the order of additions is always
// the same.
template <class F>
void add_columns(const r1cs::Shape<F>& shape, const r1cs::SparseMatrix& matrix,
                 std::span<const F> weights, std::span<F> out) {
  CUZK_ASSERT(out.size() == shape.variable_count() && matrix.row_count() <= weights.size());
  const std::size_t share = (out.size() + base::thread_count() - 1) / base::thread_count();
  base::parallel_for(0, base::thread_count(), 1, [&](std::size_t begin, std::size_t end) {
    const std::size_t first = begin * share, last = std::min(end * share, out.size());
    for (std::size_t row = 0; row < matrix.row_count(); ++row) {
      for (const r1cs::Term& term : matrix.row(row)) {
        if (term.column < first || term.column >= last) continue;
        out[term.column] += shape.coefficients[term.coefficient] * weights[row];
      }
    }
  });
}

// u, v and w at tau: one Lagrange basis over the rows, then a pass over each matrix.
template <class F>
base::Result<QapValues<F>> qap_values_at(const r1cs::Shape<F>& shape, const poly::Domain<F>& domain,
                                         const F& tau) {
  const std::size_t n = shape.variable_count(), rows = shape.qap_row_count();
  QapValues<F> values;
  CUZK_TRY(values.u, base::Buffer<F>::allocate(n, kScratch, "set-up: u at tau"));
  CUZK_TRY(values.v, base::Buffer<F>::allocate(n, kScratch, "set-up: v at tau"));
  CUZK_TRY(values.w, base::Buffer<F>::allocate(n, kScratch, "set-up: w at tau"));
  CUZK_TRY(auto weights, base::Buffer<F>::allocate(rows, kScratch, "set-up: Lagrange basis"));
  lagrange_basis_at(domain, tau, F::one(), 0, weights.span());
  const std::span<const F> basis = weights.span();
  add_columns(shape, shape.a, basis, values.u.span());
  add_columns(shape, shape.b, basis, values.v.span());
  add_columns(shape, shape.c, basis, values.w.span());
  if (!shape.has_input_rows) {
    for (std::size_t i = 0; i < shape.input_count; ++i) {
      values.u[i] += basis[shape.constraint_count() + i];
    }
  }
  return values;
}

// Tables of both generators on this machine's processors.
template <class C>
class TableMultiplier : public GeneratorMultiplier<C> {
 public:
  TableMultiplier(std::size_t g1_count, std::size_t g2_count)
      : g1_(C::G1::generator(), g1_count), g2_(C::G2::generator(), g2_count) {}
  base::Status multiply(std::span<const typename C::FrCanonical> scalars,
                        std::span<typename C::G1Affine> out) override {
    g1_.multiply(scalars, out);
    return base::ok_status();
  }
  base::Status multiply(std::span<const typename C::FrCanonical> scalars,
                        std::span<typename C::G2Affine> out) override {
    g2_.multiply(scalars, out);
    return base::ok_status();
  }

 private:
  msm::FixedBase<typename C::G1> g1_;
  msm::FixedBase<typename C::G2> g2_;
};

// One set-up in progress, run() once: constants, IC and L, A, B, H, in the order that lets the
// values at tau go as early as possible. Borrows shape, secrets and control. An error leaves it
// half done and it is dropped.
template <class C>
class Setup {
 public:
  using Fr = typename C::Fr;
  using Canonical = typename C::FrCanonical;
  using G1 = typename C::G1;
  using G2 = typename C::G2;
  using Shape = r1cs::Shape<Fr>;
  // Writes the scalars number first ... first + out.size() - 1 of a query.
  using ScalarWriter = std::function<void(std::size_t first, std::span<Canonical> out)>;

  Setup(const Shape& shape, const ToxicWaste<C>& waste, QapConvention convention, QapDomain<Fr> qap,
        const Control& control, GeneratorMultiplier<C>* multiplier)
      : shape_(shape),
        waste_(waste),
        qap_(std::move(qap)),
        control_(control),
        multiplier_(multiplier),
        piece_(multiplier == nullptr ? kPiece : kForeignPiece) {
    if (multiplier_ == nullptr) {
      own_multiplier_.emplace(2 * shape.variable_count() + qap_.domain.size(),
                              shape.variable_count());
      multiplier_ = &*own_multiplier_;
    }
    key_.convention = convention;
    key_.domain_log2 = qap_.domain.size_log2();
    key_.has_dense_queries = convention == QapConvention::kCoefficients;
    key_.name = std::string("a development key (insecure) over ") + C::kName;
  }

  base::Result<std::shared_ptr<const ProvingKey<C>>> run() {
    control_.begin_stage("set-up: QAP at tau", 1);
    CUZK_TRY(values_, qap_values_at<Fr>(shape_, qap_.domain, waste_.tau));
    control_.advance(1);
    make_vk_constants();
    CUZK_TRY_STATUS(make_inputs_and_l());
    values_.w = {};  // each of the three is let go after its last use
    CUZK_TRY_STATUS(make_query<G1>(values_.u.span(), "set-up: A query", storage_.a));
    values_.u = {};
    CUZK_TRY_STATUS(make_query<G1>(values_.v.span(), "set-up: B query in G1", storage_.b_g1));
    CUZK_TRY_STATUS(make_query<G2>(values_.v.span(), "set-up: B query in G2", storage_.b_g2));
    values_.v = {};
    CUZK_TRY_STATUS(make_h());
    return finished_key();
  }

 private:
  // A single multiple of a generator; the queries go through the tables of a multiplier instead.
  template <class G>
  static curve::Affine<G> multiple(const Fr& scalar) {
    return curve::scale_member<G>(G::generator(), scalar).to_affine();
  }

  void make_vk_constants() {
    key_.vk.alpha_g1 = multiple<G1>(waste_.alpha);
    key_.vk.beta_g1 = multiple<G1>(waste_.beta);
    key_.vk.beta_g2 = multiple<G2>(waste_.beta);
    key_.vk.gamma_g2 = multiple<G2>(waste_.gamma);
    key_.vk.delta_g1 = multiple<G1>(waste_.delta);
    key_.vk.delta_g2 = multiple<G2>(waste_.delta);
  }

  // Multiplies the generator by the query's scalars, piece by piece: the scalars of a whole query
  // would take as much memory again as the values that they are made from.
  template <class G>
  base::Status multiply(const ScalarWriter& write, std::span<curve::Affine<G>> out,
                        std::string_view stage) {
    control_.begin_stage(stage, out.size());
    CUZK_TRY(auto scalars, base::Buffer<Canonical>::allocate(std::min(piece_, out.size()), kScratch,
                                                             "set-up: scalars"));
    for (std::size_t first = 0; first < out.size(); first += piece_) {
      CUZK_TRY_STATUS(control_.check(stage));
      const std::size_t count = std::min(piece_, out.size() - first);
      const std::span<Canonical> piece = scalars.span().first(count);
      base::parallel_for(0, count, kScalarGrain, [&](std::size_t begin, std::size_t end) {
        write(first + begin, piece.subspan(begin, end - begin));
      });
      CUZK_TRY_STATUS(multiplier_->multiply(piece, out.subspan(first, count)));
      control_.advance(count);
    }
    return base::ok_status();
  }

  // ic_i and l_i: (beta u_i + alpha v_i + w_i) over gamma for inputs, over delta for aux.
  base::Status make_inputs_and_l() {
    if (key_.has_dense_queries) CUZK_TRY_STATUS(refuse_unconstrained_variables());
    const std::size_t inputs = shape_.input_count;
    const auto writer = [this](std::size_t offset, const Fr& divisor) {
      return
          [this, offset, inverse = divisor.inverse()](std::size_t first, std::span<Canonical> out) {
            for (std::size_t i = 0; i < out.size(); ++i) {
              out[i] = (combined(offset + first + i) * inverse).to_canonical();
            }
          };
    };
    key_.vk.ic.resize(inputs);
    CUZK_TRY_STATUS(multiply<G1>(writer(0, waste_.gamma), key_.vk.ic, "set-up: public inputs"));
    CUZK_TRY(storage_.l, base::Buffer<curve::Affine<G1>>::allocate(
                             shape_.aux_count, base::MemoryCategory::kSrs, "L query"));
    return multiply<G1>(writer(inputs, waste_.delta), storage_.l.span(), "set-up: L query");
  }

  // beta u_i + alpha v_i + w_i.
  Fr combined(std::size_t i) const {
    CUZK_DEBUG_ASSERT(i < shape_.variable_count());
    return waste_.beta * values_.u[i] + waste_.alpha * values_.v[i] + values_.w[i];
  }

  // A reader of bellman's format takes infinity for damage, and its generator refuses to write it.
  base::Status refuse_unconstrained_variables() const {
    for (std::size_t i = shape_.input_count; i < shape_.variable_count(); ++i) {
      if (!combined(i).is_zero()) continue;
      return base::Error{base::ErrorKind::kInvalidArgument,
                         "private variable " + std::to_string(i - shape_.input_count) +
                             " occurs in no constraint, which a key of this convention cannot "
                             "represent"};
    }
    return base::ok_status();
  }

  // The A or B query: all variables, or in dense queries those that are not zero at tau.
  template <class G>
  base::Status make_query(std::span<const Fr> values, std::string_view stage,
                          base::Buffer<curve::Affine<G>>& out) {
    CUZK_ASSERT(values.size() == shape_.variable_count());  // not let go yet
    if (!key_.has_dense_queries) {
      CUZK_TRY(out, base::Buffer<curve::Affine<G>>::allocate(values.size(),
                                                             base::MemoryCategory::kSrs, stage));
      const auto write = [values](std::size_t first, std::span<Canonical> to) {
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = values[first + i].to_canonical();
      };
      return multiply<G>(write, out.span(), stage);
    }
    // Places of the non-zero values: 4 bytes a variable, and random access for the pieces.
    const auto is_kept = [](const Fr& value) { return !value.is_zero(); };
    const auto count = std::size_t(std::count_if(values.begin(), values.end(), is_kept));
    CUZK_TRY(auto kept, base::Buffer<std::uint32_t>::allocate(count, kScratch, stage));
    for (std::size_t i = 0, next = 0; i < values.size(); ++i) {
      if (is_kept(values[i])) kept[next++] = static_cast<std::uint32_t>(i);
    }
    CUZK_TRY(out,
             base::Buffer<curve::Affine<G>>::allocate(count, base::MemoryCategory::kSrs, stage));
    const auto write = [values, &kept](std::size_t first, std::span<Canonical> to) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = values[kept[first + i]].to_canonical();
    };
    return multiply<G>(write, out.span(), stage);
  }

  // m - 1 points or m, by the convention (keys.h). The order of a coset's points is the domain's.
  base::Status make_h() {
    const std::size_t m = qap_.domain.size();
    const bool is_odd_coset = key_.convention == QapConvention::kOddCosetLagrange;
    CUZK_TRY(storage_.h, base::Buffer<curve::Affine<G1>>::allocate(
                             is_odd_coset ? m : m - 1, base::MemoryCategory::kSrs, "H query"));
    // Coefficients: H_i = tau^i z(tau) / delta. Odd coset: the prover's scalars are a b - c at the
    // coset's points, where z is one constant, so H_i = L_i(tau) z(tau) / (z(shift) delta) with the
    // coset's Lagrange polynomials, which are the domain's at tau / shift.
    const Fr vanishing = qap_.domain.vanishing_at(waste_.tau);
    const Fr z = is_odd_coset ? qap_.domain.vanishing_at(qap_.shift) : Fr::one();
    CUZK_ASSERT(!z.is_zero() && !vanishing.is_zero());  // setup() refuses a tau in the domain
    const Fr scale = vanishing * (z * waste_.delta).inverse();
    const ScalarWriter powers = [&](std::size_t first, std::span<Canonical> out) {
      Fr power = waste_.tau.pow(static_cast<std::uint64_t>(first)) * scale;
      for (Canonical& scalar : out) {
        scalar = power.to_canonical();
        power *= waste_.tau;
      }
    };
    const Fr x = waste_.tau * qap_.shift.inverse();
    const ScalarWriter lagrange = [&](std::size_t first, std::span<Canonical> out) {
      std::vector<Fr> values(out.size());
      lagrange_basis_at(qap_.domain, x, scale, first, std::span(values));
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = values[i].to_canonical();
    };
    return multiply<G1>(is_odd_coset ? lagrange : powers, storage_.h.span(), "set-up: H query");
  }

  template <class G>
  static msm::PointSource<G> source(const base::Buffer<curve::Affine<G>>& points) {
    return msm::PointSource<G>(points.span());
  }

  // The key with its points: the arrays move into shared storage, which the key owns and borrows.
  std::shared_ptr<const ProvingKey<C>> finished_key() {
    CUZK_ASSERT(key_.vk.ic.size() == shape_.input_count);
    CUZK_ASSERT(storage_.l.size() == shape_.aux_count);
    CUZK_ASSERT(storage_.b_g1.size() == storage_.b_g2.size());
    const auto storage = std::make_shared<const KeyStorage<C>>(std::move(storage_));
    key_.h = source<G1>(storage->h);
    key_.l = source<G1>(storage->l);
    key_.a = source<G1>(storage->a);
    key_.b_g1 = source<G1>(storage->b_g1);
    key_.b_g2 = source<G2>(storage->b_g2);
    key_.owner = storage;
    return std::make_shared<const ProvingKey<C>>(std::move(key_));
  }

  const Shape& shape_;
  const ToxicWaste<C>& waste_;
  QapDomain<Fr> qap_;
  const Control& control_;
  std::optional<TableMultiplier<C>> own_multiplier_;
  GeneratorMultiplier<C>* multiplier_;
  std::size_t piece_;
  QapValues<Fr> values_;
  KeyStorage<C> storage_;
  ProvingKey<C> key_;
};

// Whether x lies in the group of all 2^s-th roots of unity, s the field's two-adicity, hence
// perhaps in a domain or its coset.
template <class F>
bool has_two_power_order(F x) {
  for (std::size_t i = 0; i < F::kTwoAdicity; ++i) x = x.squared();
  return x.is_one();
}

// What a set-up cannot do with a shape, whoever made it.
template <class F>
base::Status check_shape(const r1cs::Shape<F>& shape) {
  if (!shape.has_c) {
    return base::Error{base::ErrorKind::kInvalidArgument,
                       "a set-up needs the C matrix, which this circuit (read from a proving key) "
                       "does not carry"};
  }
  if (shape.input_count == 0) {
    return base::Error{base::ErrorKind::kInvalidArgument,
                       "the circuit has no input, not even the constant one"};
  }
  if (shape.variable_count() > 0xffffffffu) {
    return base::Error{base::ErrorKind::kUnsupported, "the circuit has " +
                                                          std::to_string(shape.variable_count()) +
                                                          " variables, the limit is 4294967295"};
  }
  return base::ok_status();
}

}  // namespace

template <class C>
base::Result<ToxicWaste<C>> random_toxic_waste() {
  using Fr = typename C::Fr;
  ToxicWaste<C> waste;
  for (Fr* secret : {&waste.alpha, &waste.beta, &waste.gamma, &waste.delta}) {
    CUZK_TRY(*secret, random_nonzero_scalar<Fr>());
  }
  do {
    CUZK_TRY(waste.tau, random_nonzero_scalar<Fr>());
  } while (has_two_power_order(waste.tau));
  return waste;
}

template <class C>
base::Result<std::shared_ptr<const ProvingKey<C>>> setup(const r1cs::Shape<typename C::Fr>& shape,
                                                         const ToxicWaste<C>& waste,
                                                         QapConvention convention,
                                                         const Control& control,
                                                         GeneratorMultiplier<C>* multiplier) {
  CUZK_TRY_STATUS(check_shape(shape));
  for (const auto* secret : {&waste.alpha, &waste.beta, &waste.gamma, &waste.delta, &waste.tau}) {
    if (!secret->is_zero()) continue;
    return base::Error{base::ErrorKind::kInvalidArgument, "a secret of the set-up is zero"};
  }
  CUZK_TRY(auto qap, make_qap_domain<typename C::Fr>(
                         convention, poly::domain_size_log2(shape.qap_row_count())));
  CUZK_ASSERT(qap.domain.size() >= shape.qap_row_count());
  const auto x = waste.tau * qap.shift.inverse();
  if (qap.domain.vanishing_at(waste.tau).is_zero() ||
      (convention == QapConvention::kOddCosetLagrange && qap.domain.vanishing_at(x).is_zero())) {
    return base::Error{base::ErrorKind::kInvalidArgument,
                       "the secret tau lies in the circuit's domain or coset: draw another"};
  }
  return base::catch_out_of_memory("a set-up", [&] {
    return Setup<C>(shape, waste, convention, std::move(qap), control, multiplier).run();
  });
}

#define CUZK_GROTH16_SETUP(CURVE)                                                             \
  template base::Result<ToxicWaste<CURVE>> random_toxic_waste();                              \
  template base::Result<std::shared_ptr<const ProvingKey<CURVE>>> setup(                      \
      const r1cs::Shape<CURVE::Fr>&, const ToxicWaste<CURVE>&, QapConvention, const Control&, \
      GeneratorMultiplier<CURVE>*)
CUZK_GROTH16_SETUP(curve::Bls12_381);
CUZK_GROTH16_SETUP(curve::Bn254);

}  // namespace cuzk::groth16

// The forms of a multiplication beside the plain one: parts, streamed bases, tables of multiples,
// chosen bases, Montgomery scalars, little memory. All against the closed form over (i + 1) G.
#include "bench/cuda/msm_support.h"
#include "cuda/msm/bitmap.h"
#include "cuda/msm/multiples_table.h"
#include "cuda/msm/streamed.h"

namespace cuzk::bench::cuda {
namespace {

using ::cuzk::cuda::device::PinnedBuffer;
using ::cuzk::cuda::device::Stream;
using ::cuzk::cuda::msm::HostBases;
using ::cuzk::cuda::msm::ScalarForm;
using ::cuzk::cuda::msm::StreamedScalars;

template <class G>
using Point = curve::Affine<G>;

// Runs `plan` over `terms` and compares.
template <class G>
void expect_terms(Suite& suite, const base::Result<MsmPlan>& plan, const Terms<G>& terms,
                  const curve::Jacobian<G>& expected, const std::string& what) {
  if (!suite.expect_ok(plan, what)) return;
  auto scratch = Buffer::create(plan->scratch_bytes + plan->sums_bytes);
  if (!suite.expect_ok(scratch, what)) return;
  auto found = ::cuzk::cuda::msm::multiply<G>(suite.stream(), *plan, terms, bytes_of(*scratch));
  if (!suite.expect_ok(found, what)) return;
  suite.expect(*found == expected, std::string(G::kName) + " " + what);
}

// Bases G, 2 G, ... and scalars on the device, with what they sum to.
template <class G>
struct Known {
  std::size_t count;
  std::vector<Scalar<G>> scalars;
  Buffer bases, on_device;
  curve::Jacobian<G> sum;

  Known(Suite& suite, std::size_t size, std::uint64_t seed)
      : count(size),
        scalars(random_scalars<G>(size, seed)),
        bases(multiples<G>(suite, size)),
        on_device(to_device(suite, scalars)),
        sum(closed_form<G>(scalars)) {}
  Terms<G> terms() const {
    Terms<G> out;
    out.bases = reading<Point<G>>(bases, count);
    out.scalars = reading<Scalar<G>>(on_device, count);
    return out;
  }
};

// The same sum with scalars as a host field keeps them.
template <class G>
void check_montgomery(Suite& suite, const Known<G>& known) {
  using F = typename G::Scalar;
  std::vector<F> forms(known.count);
  for (std::size_t i = 0; i < known.count; ++i) forms[i] = F::from_canonical(known.scalars[i]);
  const Buffer on_device = to_device(suite, forms);
  Terms<G> terms = known.terms();
  terms.scalars = reading<Scalar<G>>(on_device, known.count);
  terms.form = ScalarForm::kMontgomery;
  expect_terms<G>(suite, ::cuzk::cuda::msm::plan_msm<G>(known.count), terms, known.sum,
                  "Montgomery forms");
}

// Every third base, in an order of its own, numbered from an offset.
template <class G>
void check_indices(Suite& suite, const Known<G>& known) {
  using F = typename G::Scalar;
  constexpr std::uint32_t kOffset = 1000;
  const std::size_t count = known.count / 3;
  std::vector<std::uint32_t> indices(count);
  F sum = F::zero();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t base = 3 * ((i * 7) % count);
    indices[i] = static_cast<std::uint32_t>(base) + kOffset;
    sum += F::from_canonical(known.scalars[i]) * F::from_u64(base + 1);
  }
  const Buffer on_device = to_device(suite, indices);
  Terms<G> terms = known.terms();
  terms.scalars = terms.scalars.first(count);
  terms.indices = reading<std::uint32_t>(on_device, count);
  terms.index_first = kOffset;
  const auto expected =
      curve::Jacobian<G>::from_affine(G::generator()).scaled(sum.to_canonical().value);
  expect_terms<G>(suite, ::cuzk::cuda::msm::plan_msm<G>(count), terms, expected, "chosen bases");
  expect_terms<G>(suite, ::cuzk::cuda::msm::plan_parts<G>(count, count / 2 + 1), terms, expected,
                  "chosen bases in parts");
}

// Cut by the caller, and by plans that have too little scratch for the whole.
template <class G>
void check_parts(Suite& suite, const Known<G>& known) {
  for (const std::size_t parts : {1, 2, 3, 7}) {
    if (suite.tiny() && parts != 3) continue;
    const std::size_t part = (known.count + parts - 1) / parts;
    expect_terms<G>(suite, ::cuzk::cuda::msm::plan_parts<G>(known.count, part), known.terms(),
                    known.sum, "in " + std::to_string(parts) + " parts");
  }
  MsmPolicy policy;
  if (suite.tiny()) return;
  for (const std::uint64_t mebibytes : {64, 16, 4}) {
    policy.scratch_bytes_max = mebibytes << 20;
    expect_terms<G>(suite, ::cuzk::cuda::msm::plan_msm<G>(known.count, policy), known.terms(),
                    known.sum, "in " + std::to_string(mebibytes) + " MiB");
  }
}

// Bases and their multiples, as multiples_table.h lays them out.
template <class G>
Buffer table_of(Suite& suite, const Known<G>& known, int tables) {
  auto table = Buffer::create(known.count * sizeof(Point<G>) * static_cast<std::size_t>(tables));
  if (!suite.expect_ok(table, "table")) return {};
  const auto span = table->template span<Point<G>>(known.count * static_cast<std::size_t>(tables));
  suite.expect_ok(::cuzk::cuda::msm::fill_multiples<G>(suite.stream(), G::generator(), 1,
                                                       span.first(known.count)),
                  "bases");
  suite.expect_ok(::cuzk::cuda::msm::fill_table<G>(suite.stream(), tables, span), "table");
  return std::move(table).value();
}

// Numbers of tables that divide the windows evenly and unevenly, at once and in parts.
template <class G>
void check_tables(Suite& suite, const Known<G>& known) {
  for (const int tables : {2, 3, 6, 12, 13}) {
    if (suite.tiny() && tables != 13) continue;
    const Buffer table = table_of(suite, known, tables);
    MsmPolicy policy;
    policy.table_count = tables;
    Terms<G> terms = known.terms();
    terms.bases = reading<Point<G>>(table, known.count * static_cast<std::size_t>(tables));
    const std::string what = std::to_string(tables) + " tables";
    expect_terms<G>(suite, ::cuzk::cuda::msm::plan_msm<G>(known.count, policy), terms, known.sum,
                    what);
    expect_terms<G>(suite,
                    ::cuzk::cuda::msm::plan_parts<G>(known.count, known.count / 2 + 3, policy),
                    terms, known.sum, what + " in parts");
  }
}

// A table of bases at infinity, and of opposite ones, which meet in buckets.
template <class G>
void check_table_points(Suite& suite) {
  constexpr int kTables = 12;
  const std::size_t count = 64;
  std::vector<Point<G>> points(count * kTables);
  const auto g = curve::Jacobian<G>::from_affine(G::generator());
  const auto scalars = random_scalars<G>(count, 5);
  using F = typename G::Scalar;
  F sum = F::zero();
  std::vector<Scalar<G>> equal(count, scalars[0]);
  for (std::size_t i = 0; i < count; ++i) {
    const int kind = static_cast<int>(i % 3);  // infinity, G, -G
    if (kind == 1) points[i] = g.to_affine();
    if (kind == 2) points[i] = (-g).to_affine();
    if (kind == 1) sum += F::from_canonical(equal[i]);
    if (kind == 2) sum -= F::from_canonical(equal[i]);
  }
  const Buffer table = to_device(suite, points);
  suite.expect_ok(::cuzk::cuda::msm::fill_table<G>(suite.stream(), kTables,
                                                   table.span<Point<G>>(points.size())),
                  "table of few points");
  const Buffer on_device = to_device(suite, equal);
  MsmPolicy policy;
  policy.table_count = kTables;
  Terms<G> terms;
  terms.bases = reading<Point<G>>(table, points.size());
  terms.scalars = reading<Scalar<G>>(on_device, count);
  expect_terms<G>(suite, ::cuzk::cuda::msm::plan_msm<G>(count, policy), terms,
                  g.scaled(sum.to_canonical().value), "tables of infinite and opposite points");
}

// One streamed sum under `policy`; its time goes to *ms when asked for.
template <class G>
void expect_streamed(Suite& suite, const HostBases<G>& bases, const StreamedScalars<G>& scalars,
                     const curve::Jacobian<G>& expected, const MsmPolicy& policy, std::size_t chunk,
                     const std::string& what, double* ms = nullptr) {
  auto copy = Stream::create();
  auto plan = ::cuzk::cuda::msm::plan_streamed<G>(bases, !scalars.on_host.empty(), policy, chunk);
  if (!suite.expect_ok(copy, what) || !suite.expect_ok(plan, what)) return;
  auto scratch = Buffer::create(plan->scratch_bytes);
  auto staging = PinnedBuffer::create(plan->staging_bytes);
  if (!suite.expect_ok(scratch, what) || !suite.expect_ok(staging, what)) return;
  const auto run = [&] {
    auto found = ::cuzk::cuda::msm::multiply_streamed<G>(
        suite.stream(), *copy, *plan, bases, scalars, bytes_of(*scratch),
        staging->template span<std::byte>(plan->staging_bytes));
    if (!suite.expect_ok(found, what)) return;
    suite.expect(*found == expected, std::string(G::kName) + " " + what);
  };
  if (ms == nullptr) {
    run();
    return;
  }
  *ms = median_host_ms(3, run);
  std::printf("%s %s: %.2f ms, chunks of %zu, %d windows, scratch %.2f GiB\n", G::kName,
              what.c_str(), *ms, plan->msm.part_count_max, plan->msm.layout.window_count,
              static_cast<double>(plan->scratch_bytes) / (1 << 30));
}

// Bases from pinned memory and read by the host, scalars on the device and on the host, in one
// chunk and in several.
template <class G>
void check_streamed(Suite& suite, const Known<G>& known) {
  const auto host = to_host(suite, known.bases.template span<Point<G>>(known.count));
  HostBases<G> bases;
  bases.count = known.count;
  StreamedScalars<G> on_device, on_host;
  on_device.on_device = reading<Scalar<G>>(known.on_device, known.count);
  on_host.on_host = known.scalars;
  auto pinned = PinnedBuffer::create(known.count * sizeof(Point<G>));
  if (!suite.expect_ok(pinned, "pinned bases")) return;
  const auto pinned_span = pinned->template span<Point<G>>(known.count);
  std::copy(host.begin(), host.end(), pinned_span.begin());
  for (const std::size_t chunk : {known.count, known.count / 2, known.count / 5 + 1}) {
    if (suite.tiny() && chunk != known.count) continue;
    const std::string what = "streamed in chunks of " + std::to_string(chunk);
    bases.pinned = pinned_span;
    expect_streamed<G>(suite, bases, on_device, known.sum, {}, chunk, what);
    expect_streamed<G>(suite, bases, on_host, known.sum, {}, chunk, what + ", host scalars");
    bases.pinned = {};
    bases.read = [&](std::size_t first, std::span<Point<G>> out) {
      std::copy_n(host.begin() + static_cast<std::ptrdiff_t>(first), out.size(), out.begin());
      return base::ok_status();
    };
    expect_streamed<G>(suite, bases, on_device, known.sum, {}, chunk, what + ", read");
  }
}

template <class G>
void check_forms(Suite& suite, std::size_t count) {
  const Known<G> known(suite, count, 21);
  check_montgomery(suite, known);
  check_indices(suite, known);
  check_parts(suite, known);
  check_tables(suite, known);
  check_table_points<G>(suite);
  check_streamed(suite, known);
  suite.section(std::string(G::kName) + " forms");
}

// With the table at hand; what making it takes is printed beside.
template <class G>
void time_table(Suite& suite, const Known<G>& known, std::size_t log2, int tables) {
  Buffer table;
  const double fill_ms = host_ms([&] {
    table = table_of(suite, known, tables);
    suite.expect_ok(suite.stream().synchronize(), "table");
  });
  MsmPolicy policy;
  policy.table_count = tables;
  auto plan = ::cuzk::cuda::msm::plan_msm<G>(known.count, policy);
  if (!suite.expect_ok(plan, "plan")) return;
  auto scratch = Buffer::create(plan->scratch_bytes + plan->sums_bytes);
  if (!suite.expect_ok(scratch, "scratch")) return;
  Terms<G> terms = known.terms();
  terms.bases = reading<Point<G>>(table, known.count * static_cast<std::size_t>(tables));
  const double ms = median_host_ms(5, [&] {
    auto found = ::cuzk::cuda::msm::multiply<G>(suite.stream(), *plan, terms, bytes_of(*scratch));
    if (suite.expect_ok(found, "sum")) suite.expect(*found == known.sum, "sum with tables");
  });
  std::printf("%s 2^%zu with %d tables: %.2f ms, %d windows, %d sets, table made in %.0f ms\n",
              G::kName, log2, tables, ms, plan->layout.window_count, plan->layout.set_count,
              fill_ms);
  std::fflush(stdout);
}

// Pinned bases under the default limit, and all in 2 GiB.
template <class G>
void time_streamed(Suite& suite, const Known<G>& known, std::size_t log2) {
  auto pinned = PinnedBuffer::create(known.count * sizeof(Point<G>));
  if (!suite.expect_ok(pinned, "pinned bases")) return;
  const auto span = pinned->template span<Point<G>>(known.count);
  suite.expect_ok(::cuzk::cuda::device::download<Point<G>>(
                      suite.stream(), span, known.bases.template span<Point<G>>(known.count)),
                  "bases");
  suite.expect_ok(suite.stream().synchronize(), "bases");
  HostBases<G> bases;
  bases.count = known.count;
  bases.pinned = span;
  StreamedScalars<G> scalars;
  scalars.on_device = reading<Scalar<G>>(known.on_device, known.count);
  const std::string what = "2^" + std::to_string(log2) + " streamed";
  double ms = 0;
  expect_streamed<G>(suite, bases, scalars, known.sum, {}, std::size_t{1} << 25, what, &ms);
  MsmPolicy small;
  small.scratch_bytes_max = std::uint64_t{2} << 30;
  expect_streamed<G>(suite, bases, scalars, known.sum, small, std::size_t{1} << 25,
                     what + " in 2 GiB", &ms);
}

}  // namespace

void check_forms_of_multiplication(Suite& suite) {
  const std::size_t count = suite.tiny() ? 60 : suite.quick() ? 250 : 50000;
  check_forms<curve::Bls12_381::G1>(suite, count);
  if (suite.tiny()) return;
  check_forms<curve::Bls12_381::G2>(suite, suite.quick() ? 100 : count / 4);
  if (suite.quick()) return;
  check_forms<curve::Bn254::G1>(suite, count / 4);
  check_forms<curve::Bn254::G2>(suite, count / 16);
}

void time_forms_of_multiplication(Suite& suite) {
  if (suite.quick()) return;
  using G1 = curve::Bls12_381::G1;
  for (const std::size_t log2 : {16, 18, 20}) {
    const Known<G1> known(suite, std::size_t{1} << log2, 77);
    for (const int tables : {1, 13, 16}) time_table<G1>(suite, known, log2, tables);
  }
  {
    const Known<G1> known(suite, std::size_t{1} << 22, 77);
    for (const int tables : {2, 6, 12, 13}) time_table<G1>(suite, known, 22, tables);
    time_streamed<G1>(suite, known, 22);
  }
  {
    const Known<G1> known(suite, std::size_t{1} << 26, 77);
    for (const int tables : {2, 6}) time_table<G1>(suite, known, 26, tables);
    time_streamed<G1>(suite, known, 26);
  }
  time_streamed<curve::Bls12_381::G2>(
      suite, Known<curve::Bls12_381::G2>(suite, std::size_t{1} << 22, 77), 22);
}

}  // namespace cuzk::bench::cuda

// The cases of the trackers of other provers that concern circuits and blinding (docs/robustness.md
// 1 to 17), each on the device by every way beside
// the CPU. Cases 1, 3, 5, 11 and 13 are what
// a device meets as empty arrays and launches of nothing.
#include <atomic>
#include <thread>

#include "bench/cuda_prove/prove_ways.h"
#include "groth16/setup.h"
#include "tests/conformance/cases.h"

namespace cuzk::bench::cuda_prove {
namespace {

using groth16::QapConvention;

template <class C>
class Robustness {
 public:
  using Fr = typename C::Fr;
  using Inputs = groth16::ProveInputs<C>;
  using Circuit = groth16::testing::Circuit<Fr>;
  using Device = std::shared_ptr<groth16::Backend<C>>;

  // One way at a time: a device has one limit of memory.
  Robustness(Report& report, const Options& options, QapConvention convention, const Way& way)
      : report_(report), options_(options), convention_(convention), way_(way.name) {
    auto device = way.make<C>();
    if (report.expect_ok(device, way.name)) device_ = std::move(device).value();
  }

  void run() {
    if (device_ == nullptr) return;
    namespace c = conformance;
    namespace t = groth16::testing;
    expect_proves("case 1, all public", inputs_for(c::all_public<Fr>()));
    expect_proves("case 3, no constraint", inputs_for(c::no_constraints<Fr>()));
    for (const std::uint64_t x : {15, 16}) {
      expect_proves("case 5, root", inputs_for(c::two_roots<Fr>(x)));
    }
    refuses_what_breaks_a_constraint();
    borders_of_domains();
    small_ones_in_turn_and_at_once();
    expect_proves("case 11, one B point",
                  inputs_for(c::chain_with_one_b_point<Fr>(options_.quick ? 300 : 10000)));
    copies_of_two_constraints();
    if (!options_.quick) uniform_witnesses();
    const auto inputs = inputs_for(t::mixed<Fr>(40, 6));
    const auto [r, s] = fixed_blinding<C>();
    expect_proves("case 17, r = 0", inputs, {Fr::zero(), s});
    expect_proves("case 17, s = 0", inputs, {r, Fr::zero()});
    expect_proves("case 17, both 0", inputs, {Fr::zero(), Fr::zero()});
  }

 private:
  Inputs inputs_for(const Circuit& circuit) {
    const auto shape = circuit.shape();
    const auto key = groth16::setup<C>(*shape, groth16::testing::test_waste<C>(), convention_);
    report_.expect_ok(key, "key");
    return {key.ok() ? *key : nullptr, shape, circuit.assignment()};
  }

  // Verified, and equal to the CPU's.
  void expect_proves(const std::string& name, const Inputs& inputs,
                     const groth16::Blinding<C>& blinding = fixed_blinding<C>()) {
    const auto expected = groth16::prove_with_blinding<C>(*cpu_, inputs, blinding);
    if (!report_.expect_ok(expected, name + " on the CPU")) return;
    const auto proof = groth16::prove_with_blinding<C>(*device_, inputs, blinding);
    const std::string what = std::string(C::kName) + " " + name + ", " + way_;
    if (report_.expect_ok(proof, what)) report_.expect(*proof == *expected, what);
  }

  // Case 5, the third witness.
  void refuses_what_breaks_a_constraint() {
    const auto inputs = inputs_for(conformance::two_roots<Fr>(17));
    const auto proof = groth16::prove<C>(*device_, inputs);
    report_.expect(!proof.ok() && proof.error().kind == base::ErrorKind::kUnsatisfied,
                   "case 5, x = 17 is unsatisfied, " + way_);
  }

  // Case 7: rows at the borders, half a domain and one; an H query that is a point short.
  void borders_of_domains() {
    for (const std::size_t rows : {1023, 1024, 1025, 2047, 2048, 2049}) {
      if (options_.quick && rows != 1025) continue;
      const std::string name = "case 7, " + std::to_string(rows) + " rows";
      auto inputs = inputs_for(groth16::testing::squarings<Fr>(rows - 2));
      expect_proves(name, inputs);
      auto key = *inputs.key;
      const std::size_t size = key.h.size();
      key.h = key.h.subset(0, size - 1);
      inputs.key = std::make_shared<const groth16::ProvingKey<C>>(key);
      const auto refused = device_->start(inputs, fixed_blinding<C>());
      const auto names = [&](std::size_t count) {
        return refused.error().message.find(std::to_string(count)) != std::string::npos;
      };
      report_.expect(!refused.ok() && refused.error().kind == base::ErrorKind::kMismatch &&
                         names(size) && names(size - 1),
                     name + ", a short H query is refused with both numbers, " + way_);
    }
  }

  // Case 9: sizes around warps and blocks, one after another, then all at once; none takes a
  // second.
  void small_ones_in_turn_and_at_once() {
    std::vector<Inputs> all;
    for (const std::size_t rows : {1, 2, 31, 32, 33, 511, 512, 513}) {
      if (options_.quick && rows > 33) break;
      all.push_back(inputs_for(groth16::testing::squarings<Fr>(rows)));
    }
    std::vector<groth16::Proof<C>> expected;
    for (const Inputs& inputs : all) {
      const auto proof = raw_proof<C>(*cpu_, inputs);
      if (!report_.expect_ok(proof, "case 9 on the CPU")) return;
      expected.push_back(*proof);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Clock clock;
      expect_equal("case 9 in turn, " + way_, raw_proof<C>(*device_, all[i]), expected[i]);
      report_.expect(options_.quick || clock.ms() < 1000, "case 9: slow, " + way_);
    }
    std::vector<base::Result<groth16::Proof<C>>> proofs(all.size(), base::Error{});
    at_once(all.size(), [&](std::size_t i) { proofs[i] = raw_proof<C>(*device_, all[i]); });
    for (std::size_t i = 0; i < all.size(); ++i) {
      expect_equal("case 9 at once, " + way_, proofs[i], expected[i]);
    }
  }

  // Case 13: copies of a circuit of two constraints, one, two and ten, on the way of large proofs.
  void copies_of_two_constraints() {
    const auto inputs = inputs_for(groth16::testing::squarings<Fr>(2));
    for (const std::size_t copies : {1, 2, 10}) {
      std::atomic<std::size_t> valid{0};
      at_once(copies, [&](std::size_t) { valid += groth16::prove<C>(*device_, inputs).ok(); });
      report_.expect(valid == copies, "case 13, " + std::to_string(copies) + " copies, " + way_);
    }
  }

  // Case 15: witnesses of one value each are valid and take at most twice a random one's time.
  void uniform_witnesses() {
    constexpr std::size_t kWires = 5000;
    groth16::testing::Random random(8);
    const auto any =
        conformance::free_variables<Fr>(kWires, [&](std::size_t) { return random.element<Fr>(); });
    Inputs inputs = inputs_for(any);
    const auto random_witness = inputs.assignment;
    expect_proves("case 15, random", inputs);
    std::vector<std::pair<std::string, Circuit>> uniform;
    const auto add = [&](const char* name, const auto& value) {
      uniform.emplace_back(name, conformance::free_variables<Fr>(kWires, value));
    };
    add("all zero", [](std::size_t) { return Fr::zero(); });
    add("zeros and ones", [](std::size_t i) { return Fr::from_u64(i / 3 % 2); });
    add("all r - 1", [](std::size_t) { return -Fr::one(); });
    add("all one", [](std::size_t) { return Fr::one(); });
    for (const auto& [name, circuit] : uniform) {
      inputs.assignment = circuit.assignment();
      expect_proves("case 15, " + name, inputs);
      const double own_ms = least_ms(inputs);
      Inputs other = inputs;
      other.assignment = random_witness;
      report_.expect(own_ms <= 2 * least_ms(other) + 5, "case 15, " + name + " piles up, " + way_);
    }
  }

  double least_ms(const Inputs& inputs) {
    double least = 1e9;
    for (int i = 0; i < 4; ++i) {
      const Clock clock;
      report_.expect_ok(raw_proof<C>(*device_, inputs), "case 15");
      least = std::min(least, clock.ms());
    }
    return least;
  }

  void expect_equal(const std::string& what, const base::Result<groth16::Proof<C>>& proof,
                    const groth16::Proof<C>& expected) {
    if (report_.expect_ok(proof, what)) report_.expect(*proof == expected, what + ": other bytes");
  }

  template <class Work>
  static void at_once(std::size_t count, const Work& work) {
    std::vector<std::thread> all;
    for (std::size_t i = 0; i < count; ++i) all.emplace_back([&work, i] { work(i); });
    for (auto& thread : all) thread.join();
  }

  Report& report_;
  const Options& options_;
  const QapConvention convention_;
  const std::shared_ptr<groth16::Backend<C>> cpu_ = groth16::make_cpu_backend<C>();
  const std::string way_;
  Device device_;
};

}  // namespace

void check_robustness(Report& report, const Options& options) {
  if (options.tiny) return;
  for (const auto convention : {QapConvention::kCoefficients, QapConvention::kOddCosetLagrange}) {
    for (const Way& way : ways(options, std::uint64_t{24} << 20)) {
      // Tables take the points as they are, whatever the convention has made of them.
      const bool has_tables = way.options.tables == ::cuzk::cuda::TableUse::kAtOnce;
      if (has_tables && convention == QapConvention::kOddCosetLagrange) continue;
      Robustness<curve::Bls12_381>(report, options, convention, way).run();
      if (!options.quick) Robustness<curve::Bn254>(report, options, convention, way).run();
    }
  }
  report.section("robustness cases 1 to 17");
}

}  // namespace cuzk::bench::cuda_prove

// Circuits of all kinds on the device and on the CPU with the same blinding: the proofs are equal.
//
// Each circuit goes through every way of making a proof (prove_ways.h), since what is resident,
// what is streamed and what is shared takes other code. Circuits are the small and degenerate ones
// of the conformance cases, both conventions, and files that snarkjs and bellperson made.
#include "base/bytes.h"
#include "base/file.h"
#include "bench/cuda_prove/prove_ways.h"
#include "formats/bellperson/params.h"
#include "formats/json.h"
#include "formats/snarkjs/wtns.h"
#include "formats/snarkjs/zkey.h"
#include "formats/with_curve.h"
#include "groth16/proof_bytes.h"
#include "groth16/setup.h"
#include "tests/conformance/cases.h"

namespace cuzk::bench::cuda_prove {
namespace {

namespace fs = std::filesystem;
using groth16::QapConvention;

template <class C>
void expect_equal(Report& report, const std::string& name, groth16::Backend<C>& backend,
                  const groth16::ProveInputs<C>& inputs, const groth16::Proof<C>& expected) {
  const auto proof = raw_proof<C>(backend, inputs);
  if (report.expect_ok(proof, name)) report.expect(*proof == expected, name + ": other bytes");
}

// A circuit with its key and witness, and the bytes that every way must give.
template <class C>
struct Job {
  std::string name;
  groth16::ProveInputs<C> inputs;
  groth16::Proof<C> expected;
};

// All jobs by one way after the other: keys of several jobs are on the device at once.
template <class C>
void run_ways(Report& report, const Options& options, const std::vector<Job<C>>& jobs,
              std::uint64_t little_bytes) {
  for (const Way& way : ways(options, little_bytes)) {
    const auto backend = way.make<C>();
    if (!report.expect_ok(backend, way.name)) continue;
    for (const Job<C>& job : jobs) {
      expect_equal<C>(report, std::string(C::kName) + " " + job.name + ", " + way.name, **backend,
                      job.inputs, job.expected);
    }
  }
}

// The CPU's proof, verified.
template <class C>
bool add_job(Report& report, const std::string& name, const groth16::ProveInputs<C>& inputs,
             std::vector<Job<C>>& jobs) {
  const auto cpu = groth16::make_cpu_backend<C>();
  const auto proof = groth16::prove_with_blinding<C>(*cpu, inputs, fixed_blinding<C>());
  if (!report.expect_ok(proof, name + " on the CPU")) return false;
  jobs.push_back({name, inputs, *proof});
  return true;
}

// The conformance cases, sizes around a power of two, many bits beside many scalars, and witnesses
// of one value throughout.
template <class C>
void check_small(Report& report, const Options& options, QapConvention convention) {
  using Fr = typename C::Fr;
  namespace t = groth16::testing;
  auto cases = conformance::small_cases<Fr>();
  if (options.quick) cases.resize(8);
  for (const std::size_t rows : {1023, 1024, 1025, 2049}) {
    if (options.quick && rows != 1025) continue;
    cases.push_back({std::to_string(rows) + " rows", t::squarings<Fr>(rows - 2)});
  }
  cases.push_back({"mixed 9000", t::mixed<Fr>(options.quick ? 700 : 9000, 3)});
  cases.push_back(
      {"all -1", conformance::free_variables<Fr>(3000, [](std::size_t) { return -Fr::one(); })});
  cases.push_back(
      {"all one", conformance::free_variables<Fr>(3000, [](std::size_t) { return Fr::one(); })});
  cases.push_back(
      {"all zero", conformance::free_variables<Fr>(3000, [](std::size_t) { return Fr::zero(); })});
  if (options.tiny) {
    cases.clear();
    cases.push_back({"mixed 200", t::mixed<Fr>(200, 3)});
  }
  std::vector<Job<C>> jobs;
  for (const auto& [name, circuit] : cases) {
    const auto shape = circuit.shape();
    const auto key = groth16::setup<C>(*shape, t::test_waste<C>(), convention);
    if (!report.expect_ok(key, name)) continue;
    add_job<C>(report, name, {*key, shape, circuit.assignment()}, jobs);
  }
  // Buckets of a few thousand points are the floor of this limit.
  run_ways<C>(report, options, jobs, std::uint64_t{24} << 20);
}

// A circom case on its own curve, read by the product's readers.
template <class C>
void check_zkey(Report& report, const Options& options, const fs::path& folder) {
  const fs::path zkey = folder / "circuit_final.zkey";
  const auto loaded = formats::open_zkey<C>(zkey);
  if (!report.expect_ok(loaded, zkey.string())) return;
  const auto assignment = formats::open_wtns<C>(
      folder / "witness.wtns",
      {zkey.string(), loaded->header.wire_count, loaded->header.public_count});
  if (!report.expect_ok(assignment, folder.string())) return;
  std::vector<Job<C>> jobs;
  if (!add_job<C>(report, folder.filename().string(), {loaded->key, loaded->shape, *assignment},
                  jobs)) {
    return;
  }
  run_ways<C>(report, options, jobs, std::uint64_t{24} << 20);
}

// A folder with a key and a witness of snarkjs; others are passed over.
void check_folder(Report& report, const Options& options, const fs::path& folder) {
  const fs::path zkey = folder / "circuit_final.zkey";
  if (!fs::exists(zkey) || !fs::exists(folder / "witness.wtns")) return;
  const auto file = base::MappedFile::open(zkey);
  if (!report.expect_ok(file, zkey.string())) return;
  const auto header = formats::read_zkey_header((*file)->bytes(), (*file)->name());
  if (!report.expect_ok(header, zkey.string())) return;
  formats::with_curve(header->curve, [&]<class C>(std::type_identity<C>) {
    check_zkey<C>(report, options, folder);
  });
  std::printf("circom case %s (2^%zu rows) done\n", folder.filename().c_str(), header->domain_log2);
}

field::bls12_381::Fr scalar_of(const formats::Json& hex) {
  using Fr = field::bls12_381::Fr;
  const auto bytes = base::from_hex_sized(hex.get<std::string>(), Fr::kByteCount, "scalar").value();
  return Fr::from_canonical(field::Canonical<Fr::Params>::from_bytes_le(bytes.data()).value());
}

// The MiMC circuit of bellman's example: per round t = (x_l + c)^2 and x_l' = x_r + t (x_l + c).
groth16::testing::Circuit<field::bls12_381::Fr> mimc_circuit(const formats::Json& fixture) {
  using Fr = field::bls12_381::Fr;
  using groth16::testing::kOne;
  groth16::testing::Circuit<Fr> circuit;
  const Fr one = Fr::one();
  const auto& constants = fixture["constants_le_hex"];
  auto left = circuit.aux(scalar_of(fixture["xl_le_hex"]));
  auto right = circuit.aux(scalar_of(fixture["xr_le_hex"]));
  for (std::size_t i = 0; i < constants.size(); ++i) {
    const Fr constant = scalar_of(constants[i]), sum = circuit.value(left) + constant;
    const auto square = circuit.aux(sum.squared());
    circuit.enforce({{left, one}, {kOne, constant}}, {{left, one}, {kOne, constant}},
                    {{square, one}});
    const Fr next = sum * circuit.value(square) + circuit.value(right);
    const auto result = i + 1 == constants.size() ? circuit.input(next) : circuit.aux(next);
    circuit.enforce({{square, one}}, {{left, one}, {kOne, constant}},
                    {{result, one}, {right, -one}});
    right = left;
    left = result;
  }
  return circuit;
}

// A key, a witness, a blinding and the proof that bellperson made of them.
void check_mimc(Report& report, const Options& options, const fs::path& folder) {
  using C = curve::Bls12_381;
  constexpr std::size_t kFixtureBytesMax = std::size_t{1} << 20;
  const auto text = base::read_file(folder / "mimc.json", kFixtureBytesMax);
  if (!report.expect_ok(text, "mimc.json")) return;
  const auto parsed = formats::parse_json(*text, "mimc.json");
  if (!report.expect_ok(parsed, "mimc.json")) return;
  const formats::Json& fixture = *parsed;
  const auto params = formats::open_params(folder / "mimc.params");
  const auto upstream = base::read_file(folder / "mimc.proof", 192);
  if (!report.expect_ok(params, "mimc.params") || !report.expect_ok(upstream, "mimc.proof")) return;
  const auto circuit = mimc_circuit(fixture);
  const groth16::ProveInputs<C> inputs{params->key, circuit.shape(), circuit.assignment()};
  const groth16::Blinding<C> blinding{scalar_of(fixture["r_le_hex"]),
                                      scalar_of(fixture["s_le_hex"])};
  for (const Way& way : ways(options, std::uint64_t{24} << 20)) {
    const auto backend = way.make<C>();
    if (!report.expect_ok(backend, way.name)) continue;
    const auto proof = groth16::prove_with_blinding<C>(**backend, inputs, blinding);
    if (!report.expect_ok(proof, "mimc, " + way.name)) continue;
    const auto bytes = groth16::encode_proof(*proof);
    report.expect(base::Bytes(bytes.begin(), bytes.end()) == *upstream,
                  "mimc, " + way.name + ": not bellperson's bytes");
  }
  std::printf("mimc done\n");
}

}  // namespace

std::vector<Way> ways(const Options& options, std::uint64_t little_bytes) {
  Way resident{"resident", {}, {}}, tables{"with tables", {}, {}},
      host_g2{"G2 on the host", {}, {}}, little{"little memory", {}, {}}, shared{"shared", {}, {}};
  for (Way* way : {&resident, &tables, &host_g2, &little, &shared}) {
    way->options.device = options.device;
    way->options.known_answer_test = false;
    way->options.lanes = 1;
  }
  tables.options.tables = ::cuzk::cuda::TableUse::kAtOnce;
  host_g2.options.b_g2 = ::cuzk::cuda::G2Place::kHost;
  little.options.vram_limit_bytes = little_bytes;
  const auto devices = ::cuzk::cuda::list_devices();
  const bool are_two = devices.ok() && devices->size() > 1 && options.device == "0";
  shared.sharing = {options.device, are_two ? "1" : options.device, options.device};
  // What these leave out runs no kernel of its own, or one that cuda_suite shows to the checkers.
  if (options.tiny) return {resident, little, shared};
  return {resident, tables, host_g2, little, shared};
}

void check_circuits(Report& report, const Options& options) {
  for (const auto convention : {QapConvention::kCoefficients, QapConvention::kOddCosetLagrange}) {
    check_small<curve::Bls12_381>(report, options, convention);
    if (!options.tiny) check_small<curve::Bn254>(report, options, convention);
    report.section("small and degenerate circuits");
  }
  for (const fs::path& data : options.data) {
    std::error_code failed;
    for (fs::recursive_directory_iterator it(data, failed), end; !failed && it != end;
         it.increment(failed)) {
      if (!it->is_directory()) continue;
      check_folder(report, options, it->path());
      if (fs::exists(it->path() / "mimc.params")) check_mimc(report, options, it->path());
    }
  }
  report.section("circuits from files");
}

}  // namespace cuzk::bench::cuda_prove

// .params files: real ones to the byte, their digests, and damage of every kind.
#include "formats/bellperson/params.h"

#include <atomic>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "curve/pairing.h"
#include "field/convert.h"
#include "formats/bellperson/verifying_key.h"
#include "formats/test_support.h"
#include "groth16/proof_bytes.h"
#include "groth16/verify.h"
#include "hash/sha256.h"

namespace cuzk::formats {
namespace {

using base::Bytes;
using base::ErrorKind;
using testing::accepted;
using testing::file_of;
using testing::refused;
using Bls = curve::Bls12_381;

constexpr std::size_t kHeadBytes = 868;

// Offsets in mimc.params: 2 inputs, 645 aux, domain 2^10.
constexpr std::size_t kMimcIc = 2, kMimcH = 1023, kMimcL = 645;
constexpr std::size_t kMimcHAt = kHeadBytes + kMimcIc * 96;
constexpr std::size_t kMimcLAt = kMimcHAt + 4 + kMimcH * 96;
constexpr std::size_t kMimcAAt = kMimcLAt + 4 + kMimcL * 96;

class MimcParams : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto path = cuzk::testing::find_data("upstream/mimc/mimc.params");
    ASSERT_TRUE(path.has_value()) << "tests/data/upstream/mimc belongs to the repository";
    path_ = *path;
    bytes_ = cuzk::testing::read_bytes(path_);
  }
  static base::Result<LoadedParams> read(Bytes bytes, KeyCheckOptions options = {}) {
    return read_params(file_of(std::move(bytes), "mimc.params"), options);
  }
  void put_u32(std::size_t at, std::uint32_t value) {
    base::store_u32_be(bytes_.data() + at, value);
  }

  std::filesystem::path path_;
  Bytes bytes_;
};

TEST_F(MimcParams, CountsAndConventionAreRead) {
  const auto loaded = open_params(path_);
  ASSERT_TRUE(accepted(loaded));
  const BlsProvingKey& key = *loaded->key;
  EXPECT_EQ(key.vk.ic.size(), kMimcIc);
  EXPECT_EQ(key.h.size(), kMimcH);
  EXPECT_EQ(key.l.size(), kMimcL);
  EXPECT_EQ(key.domain_log2, 10u);
  EXPECT_TRUE(key.has_dense_queries);
  EXPECT_EQ(key.convention, groth16::QapConvention::kCoefficients);
  EXPECT_EQ(key.b_g1.size(), key.b_g2.size());
  EXPECT_EQ(key.name, path_.string());
  EXPECT_EQ(loaded->trailing_bytes, 0u);
  EXPECT_TRUE(loaded->warnings.empty());
  std::uint64_t total = 0;
  for (const SectionFacts& section : loaded->sections) {
    EXPECT_EQ(section.offset_bytes, total) << section.name;
    total += section.size_bytes;
  }
  EXPECT_EQ(total, bytes_.size());
}

TEST_F(MimcParams, AreRewrittenToTheByte) {
  const auto loaded = open_params(path_, {.queries = KeyCheck::kSubgroup});
  ASSERT_TRUE(accepted(loaded));
  const testing::TemporaryFolder folder;
  ASSERT_TRUE(accepted(write_params(folder / "again.params", *loaded->key)));
  EXPECT_EQ(cuzk::testing::read_bytes(folder / "again.params"), bytes_);
}

// Decoding to native points and encoding again is another way than copying the encoding.
TEST_F(MimcParams, AreRewrittenToTheByteFromPointsInMemory) {
  const auto loaded = open_params(path_);
  ASSERT_TRUE(accepted(loaded));
  BlsProvingKey key = *loaded->key;
  std::vector<Bls::G1Affine> g1[4];
  std::vector<Bls::G2Affine> g2;
  msm::PointSource<Bls::G1>* sources[] = {&key.h, &key.l, &key.a, &key.b_g1};
  for (std::size_t i = 0; i < 4; ++i) {
    g1[i].resize(sources[i]->size());
    sources[i]->decode(0, g1[i]);
    *sources[i] = msm::PointSource<Bls::G1>(std::span<const Bls::G1Affine>(g1[i]));
  }
  g2.resize(key.b_g2.size());
  key.b_g2.decode(0, g2);
  key.b_g2 = msm::PointSource<Bls::G2>(std::span<const Bls::G2Affine>(g2));
  const testing::TemporaryFolder folder;
  ASSERT_TRUE(accepted(write_params(folder / "again.params", key)));
  EXPECT_EQ(cuzk::testing::read_bytes(folder / "again.params"), bytes_);
}

TEST_F(MimcParams, MakeTheUpstreamProofVerify) {
  CUZK_DATA_OR_SKIP(proof_path, "upstream/mimc/mimc.proof");
  CUZK_DATA_OR_SKIP(json_path, "upstream/mimc/mimc.json");
  const auto loaded = open_params(path_);
  ASSERT_TRUE(accepted(loaded));
  const auto proof = groth16::decode_proof(cuzk::testing::read_bytes(proof_path), "mimc.proof");
  ASSERT_TRUE(accepted(proof));
  const auto text = cuzk::testing::read_bytes(json_path);
  const auto json = nlohmann::json::parse(text);
  std::vector<Bls::Fr> inputs;
  for (const auto& entry : json.at("public_inputs_le_hex")) {
    const auto bytes = base::from_hex(entry.get<std::string>(), "public input");
    ASSERT_TRUE(accepted(bytes));
    inputs.push_back(*field::from_bytes_le<Bls::Fr>(*bytes, "public input"));
  }
  const auto verdict = groth16::verify<Bls>(loaded->key->vk, inputs, *proof);
  ASSERT_TRUE(accepted(verdict));
  EXPECT_TRUE(*verdict);
}

TEST_F(MimcParams, KeepTheMappingAliveThroughTheKey) {
  std::shared_ptr<const BlsProvingKey> key;
  {
    auto loaded = open_params(path_);
    ASSERT_TRUE(accepted(loaded));
    key = loaded->key;
  }
  EXPECT_TRUE(key->h.at(kMimcH - 1).is_on_curve());
}

TEST_F(MimcParams, TrailingBytesAreToldNotRefused) {
  bytes_.insert(bytes_.end(), 77, 0xab);
  const auto loaded = read(bytes_);
  ASSERT_TRUE(accepted(loaded));
  EXPECT_EQ(loaded->trailing_bytes, 77u);
  ASSERT_EQ(loaded->warnings.size(), 1u);
  EXPECT_NE(loaded->warnings[0].find("mimc.params: 77 bytes follow"), std::string::npos);
}

TEST_F(MimcParams, AreRefusedWhenCutAnywhere) {
  const auto parse = [](Bytes bytes) {
    return read(std::move(bytes), {.verifying_key = KeyCheck::kCanonical});
  };
  testing::expect_every_truncation_refused(base::ByteSpan(bytes_).first(kMimcHAt + 300), 2000,
                                           parse);
  testing::expect_every_truncation_refused(bytes_, 200, parse);
  Bytes cut(bytes_.begin(), bytes_.end() - 1);
  EXPECT_TRUE(refused(read(cut), ErrorKind::kMalformed,
                      {"mimc.params", "b_g2", "records of 192 bytes", "bytes are left"}));
}

TEST_F(MimcParams, HugeCountsAreRefusedWithoutMemory) {
  for (const std::size_t at : {kHeadBytes - 4, kMimcHAt, kMimcLAt, kMimcAAt}) {
    const Bytes saved = bytes_;
    put_u32(at, 0xffffffff);
    EXPECT_TRUE(
        refused(read(bytes_), ErrorKind::kMalformed, {"mimc.params", "4294967295 records"}));
    bytes_ = saved;
  }
}

TEST_F(MimcParams, CountsThatContradictEachOtherAreRefusedWithBoth) {
  // Move one point from section h to section l: every byte is still used.
  Bytes moved = bytes_;
  base::store_u32_be(moved.data() + kMimcHAt, kMimcH - 1);
  std::copy(moved.begin() + kMimcLAt - 96, moved.begin() + kMimcLAt, moved.begin() + kMimcLAt - 92);
  base::store_u32_be(moved.data() + kMimcLAt - 96, kMimcL + 1);
  EXPECT_TRUE(refused(read(moved), ErrorKind::kMalformed,
                      {"section h has 1022 points", "a power of two less 1"}));
}

// Two inputs (the constant and another) and one private variable.
TEST_F(MimcParams, QueriesOfACircuitsSizeOnlyAreAccepted) {
  const auto read_counts = [this](std::uint32_t h, std::uint32_t l, std::uint32_t a,
                                  std::uint32_t b_g1, std::uint32_t b_g2) {
    Bytes out(bytes_.begin(), bytes_.begin() + kMimcHAt);
    const auto append = [&](std::uint32_t count, std::size_t point_at, std::size_t point_bytes) {
      out.resize(out.size() + 4);
      base::store_u32_be(out.data() + out.size() - 4, count);
      const auto point = bytes_.begin() + static_cast<std::ptrdiff_t>(point_at);
      for (std::uint32_t i = 0; i < count; ++i) {
        out.insert(out.end(), point, point + static_cast<std::ptrdiff_t>(point_bytes));
      }
    };
    for (const std::uint32_t count : {h, l, a, b_g1}) append(count, 0, 96);  // alpha_g1
    append(b_g2, 2 * 96, 192);                                               // beta_g2
    return read(std::move(out), {.queries = KeyCheck::kSubgroup});
  };
  EXPECT_TRUE(accepted(read_counts(1, 1, 3, 3, 3)));
  EXPECT_TRUE(accepted(read_counts(1, 1, 2, 0, 0)));
  const auto malformed = ErrorKind::kMalformed;
  EXPECT_TRUE(refused(read_counts(2, 1, 3, 3, 3), malformed, {"section h has 2 points"}));
  EXPECT_TRUE(refused(read_counts(1, 1, 1, 3, 3), malformed,
                      {"section a has 1 points, expected 2 (inputs) to 3"}));
  EXPECT_TRUE(refused(read_counts(1, 1, 4, 3, 3), malformed, {"section a has 4 points"}));
  EXPECT_TRUE(refused(read_counts(1, 1, 3, 4, 4), malformed,
                      {"section b_g1 has 4 points, expected at most 3"}));
  EXPECT_TRUE(refused(read_counts(1, 1, 3, 2, 3), malformed,
                      {"section b_g1 has 2 points and section b_g2 has 3"}));
}

TEST_F(MimcParams, NoInputsAreRefused) {
  put_u32(kHeadBytes - 4, 0);
  EXPECT_TRUE(refused(read(bytes_), ErrorKind::kMalformed, {"0 ic points", "at least 1"}));
}

TEST_F(MimcParams, InfinityIsRefusedEverywhere) {
  const auto put_infinity = [this](std::size_t at, std::size_t size) {
    Bytes damaged = bytes_;
    std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(at), size, 0);
    damaged[at] = 0x40;
    return damaged;
  };
  EXPECT_TRUE(refused(read(put_infinity(0, 96)), ErrorKind::kMalformed, {"alpha_g1", "infinity"}));
  EXPECT_TRUE(refused(read(put_infinity(kHeadBytes, 96)), ErrorKind::kMalformed,
                      {"ic: point 0 of 2", "infinity"}));
  const Bytes in_l = put_infinity(kMimcLAt + 4 + 5 * 96, 96);
  EXPECT_TRUE(accepted(read(in_l))) << "queries are not looked at by default";
  EXPECT_TRUE(refused(read(in_l, {.queries = KeyCheck::kCanonical}), ErrorKind::kMalformed,
                      {"section l: point 5 of 645", "infinity"}));
}

TEST_F(MimcParams, ABitOfAPointIsFoundByTheChecks) {
  for (const std::size_t at :
       {kMimcHAt + 4 + 7 * 96 + 95, kMimcLAt + 4 + 95, kMimcAAt + 4 + 100, bytes_.size() - 1}) {
    Bytes damaged = bytes_;
    damaged[at] ^= 1;
    EXPECT_TRUE(accepted(read(damaged)));
    EXPECT_FALSE(read(damaged, {.queries = KeyCheck::kOnCurve}).ok()) << "byte " << at;
  }
  Bytes damaged = bytes_;
  damaged[kMimcHAt + 4 + 7 * 96 + 95] ^= 1;
  EXPECT_TRUE(refused(read(damaged, {.queries = KeyCheck::kOnCurve}), ErrorKind::kMalformed,
                      {"mimc.params", "section h", "point 7 of 1023"}));
}

TEST_F(MimcParams, ACoordinateAboveThePrimeIsFoundByTheScan) {
  std::fill_n(bytes_.begin() + kMimcLAt + 4 + 48, 48, 0xff);
  EXPECT_TRUE(refused(read(bytes_, {.queries = KeyCheck::kCanonical}), ErrorKind::kMalformed,
                      {"section l: point 0 of 645"}));
}

TEST_F(MimcParams, EveryFlipOfTheHeadIsRefusedOrParsed) {
  const std::size_t refused_count = testing::try_every_flip(
      Bytes(bytes_.begin(), bytes_.begin() + kMimcHAt + 8), 0, kMimcHAt + 4,
      [](const Bytes& bytes) { return read(bytes, {.verifying_key = KeyCheck::kOnCurve}); });
  EXPECT_EQ(refused_count, 3 * (kMimcHAt + 4)) << "the head alone is no parameter file";
}

TEST_F(MimcParams, SectionDigestsCoverCountAndPoints) {
  const auto loaded = open_params(path_);
  ASSERT_TRUE(accepted(loaded));
  const auto file = base::MappedFile::open(path_);
  ASSERT_TRUE(accepted(file));
  const auto& l = loaded->sections[2];
  ASSERT_EQ(l.name, "l");
  EXPECT_EQ(section_sha256_hex(**file, l),
            base::to_hex(hash::sha256(base::ByteSpan(bytes_).subspan(kMimcLAt, 4 + kMimcL * 96))));
}

// --- the streaming writer ---

class CountingSink : public base::ProgressSink {
 public:
  void begin_stage(std::string_view, std::uint64_t total_units) override { total = total_units; }
  void advance(std::uint64_t units) override { done += units; }
  std::uint64_t total = 0;
  std::atomic<std::uint64_t> done{0};
};

TEST_F(MimcParams, TheWriterTakesPiecesAndReportsProgress) {
  const auto loaded = open_params(path_);
  ASSERT_TRUE(accepted(loaded));
  const BlsProvingKey& key = *loaded->key;
  const auto count = [](const auto& points) { return static_cast<std::uint32_t>(points.size()); };
  const ParamsCounts counts{count(key.h), count(key.l), count(key.a), count(key.b_g1),
                            count(key.b_g2)};
  EXPECT_EQ(params_size_bytes(key.vk.ic.size(), counts), bytes_.size());
  const testing::TemporaryFolder folder;
  CountingSink sink;
  auto writer = ParamsWriter::create(folder / "p", key.vk, counts, &sink);
  ASSERT_TRUE(accepted(writer));
  ASSERT_TRUE(accepted(writer->append(key.h.subset(0, 1000))));
  ASSERT_TRUE(accepted(writer->append(key.h.subset(1000, 23))));
  ASSERT_TRUE(accepted(writer->append(key.l)));
  ASSERT_TRUE(accepted(writer->append(key.a)));
  ASSERT_TRUE(accepted(writer->append(key.b_g1)));
  ASSERT_TRUE(accepted(writer->append(key.b_g2)));
  ASSERT_TRUE(accepted(writer->finish()));
  EXPECT_EQ(cuzk::testing::read_bytes(folder / "p"), bytes_);
  EXPECT_EQ(sink.total, bytes_.size());
  EXPECT_EQ(sink.done + 5 * 4, sink.total) << "all but the five counts";
}

TEST_F(MimcParams, ASinkGetsTheBytesOfTheFileAndMayRefuseThem) {
  const auto loaded = open_params(path_);
  ASSERT_TRUE(accepted(loaded));
  Bytes written;
  const auto keep = [&](base::ByteSpan bytes) {
    written.insert(written.end(), bytes.begin(), bytes.end());
    return base::ok_status();
  };
  ASSERT_TRUE(accepted(write_params(keep, "p", *loaded->key)));
  EXPECT_EQ(written, bytes_);
  std::size_t room = 200'000;
  const auto limited = [&](base::ByteSpan bytes) -> base::Status {
    if (bytes.size() > room) return base::Error{ErrorKind::kResourceExhausted, "p: no room"};
    room -= bytes.size();
    return base::ok_status();
  };
  EXPECT_TRUE(refused(write_params(limited, "p", *loaded->key), ErrorKind::kResourceExhausted,
                      {"p: no room"}));
}

TEST_F(MimcParams, TheWriterRefusesAWrongNumberOrGroup) {
  const auto loaded = open_params(path_);
  ASSERT_TRUE(accepted(loaded));
  const BlsProvingKey& key = *loaded->key;
  const testing::TemporaryFolder folder;
  auto writer =
      ParamsWriter::create(folder / "p", key.vk, {.h = 3, .l = 0, .a = 1, .b_g1 = 0, .b_g2 = 1});
  ASSERT_TRUE(accepted(writer));
  EXPECT_TRUE(refused(writer->append(key.h.subset(0, 4)), ErrorKind::kInternal, {"section h"}));
  EXPECT_TRUE(refused(writer->append(key.b_g2.subset(0, 1)), ErrorKind::kInternal, {"section h"}));
  ASSERT_TRUE(accepted(writer->append(key.h.subset(0, 3))));
  EXPECT_TRUE(refused(writer->finish(), ErrorKind::kInternal, {"section a has 0 points"}));
  ASSERT_TRUE(accepted(writer->append(key.a.subset(0, 1))));
  ASSERT_TRUE(accepted(writer->append(key.b_g2.subset(0, 1))));
  EXPECT_TRUE(refused(writer->append(key.h.subset(0, 1)), ErrorKind::kInternal, {"(none)"}));
  EXPECT_TRUE(accepted(writer->finish()));
}

TEST_F(MimcParams, TheWriterRefusesInfinityAndLeavesNoFile) {
  const auto loaded = open_params(path_);
  ASSERT_TRUE(accepted(loaded));
  std::vector<Bls::G1Affine> l(3, Bls::G1::generator());
  l[2] = Bls::G1Affine::infinity();
  const testing::TemporaryFolder folder;
  {
    auto writer = ParamsWriter::create(folder / "p", loaded->key->vk, {.l = 3});
    ASSERT_TRUE(accepted(writer));
    EXPECT_TRUE(
        refused(writer->append(msm::PointSource<Bls::G1>(std::span<const Bls::G1Affine>(l))),
                ErrorKind::kInvalidArgument, {"section l: point 2", "infinity"}));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// --- larger files of others ---

TEST(WindowParams, SectionsHaveThePublishedDigests) {
  const std::string name =
      "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
      "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0";
  CUZK_DATA_OR_SKIP(json_path, "upstream/keys/keys.json");
  CUZK_DATA_OR_SKIP(path, "upstream/keys/" + name + ".params");
  const auto loaded = open_params(path, {.queries = KeyCheck::kCanonical});
  ASSERT_TRUE(accepted(loaded));
  const auto file = base::MappedFile::open(path);
  ASSERT_TRUE(accepted(file));
  const auto json = nlohmann::json::parse(cuzk::testing::read_bytes(json_path));
  bool found = false;
  for (const auto& entry : json.at("params")) {
    if (entry.at("file") != name + ".params") continue;
    found = true;
    for (const SectionFacts& section : loaded->sections) {
      const auto& published = entry.at("sections").at(section.name);
      EXPECT_EQ(section.size_bytes, published.at("bytes").get<std::uint64_t>()) << section.name;
      EXPECT_EQ(section_sha256_hex(**file, section), published.at("sha256")) << section.name;
    }
  }
  EXPECT_TRUE(found);
}

TEST(SaplingParams, AreReadAndTheirTranscriptIsTold) {
  CUZK_DATA_OR_SKIP(path, "zcash/sapling-output.params");
  const auto loaded = open_params(path, {.queries = KeyCheck::kCanonical});
  ASSERT_TRUE(accepted(loaded));
  const BlsProvingKey& key = *loaded->key;
  EXPECT_EQ(key.vk.ic.size(), 6u);
  EXPECT_EQ(key.h.size(), 8191u);
  EXPECT_EQ(key.l.size(), 7821u);
  EXPECT_EQ(key.a.size(), 6298u);
  EXPECT_EQ(key.b_g1.size(), 4850u);
  EXPECT_EQ(key.b_g2.size(), 4850u);
  EXPECT_EQ(loaded->trailing_bytes, 52836u);
  ASSERT_EQ(loaded->warnings.size(), 1u);
  EXPECT_NE(loaded->warnings[0].find("52836 bytes follow"), std::string::npos);

  // e(delta_g1, G2) = e(G1, delta_g2), and the same of a combination of the B points in both
  // groups.
  const auto same = [](const Bls::G1Affine& p, const Bls::G2Affine& q) {
    const curve::PairingInput<Bls> pairs[] = {{p, Bls::G2::generator()},
                                              {-Bls::G1::generator(), q}};
    return curve::pairing_product_is_one<Bls>(pairs);
  };
  EXPECT_TRUE(same(key.vk.delta_g1, key.vk.delta_g2));
  EXPECT_TRUE(same(key.vk.beta_g1, key.vk.beta_g2));
  auto sum1 = Bls::G1Jacobian::infinity();
  auto sum2 = Bls::G2Jacobian::infinity();
  for (std::size_t i = 0; i < key.b_g1.size(); i += 97) {
    field::Limbs<1> weight;
    weight[0] = i * 2654435761u + 1;
    sum1 += Bls::G1Jacobian::from_affine(key.b_g1.at(i)).scaled(weight);
    sum2 += Bls::G2Jacobian::from_affine(key.b_g2.at(i)).scaled(weight);
  }
  EXPECT_TRUE(same(sum1.to_affine(), sum2.to_affine()));
  EXPECT_FALSE(same(sum1.doubled().to_affine(), sum2.to_affine()));
}

}  // namespace
}  // namespace cuzk::formats

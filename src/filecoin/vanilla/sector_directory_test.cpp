// Sector folders: upstream's cache files byte for byte, reading back, and refusing damage.
//
// Each kind of file is damaged in turn, and the refusal has to name the file or the field.
#include "filecoin/vanilla/sector_directory.h"

#include <unistd.h>

#include "base/file.h"
#include "filecoin/test_support.h"

namespace cuzk::filecoin {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each test, gone afterwards.
class SectorDirectory : public ::testing::Test {
 protected:
  SectorDirectory()
      : folder_(fs::path(::testing::TempDir()) /
                ("cuzk_sector_" + std::to_string(::getpid()) + "_" +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
  }
  ~SectorDirectory() override { fs::remove_all(folder_); }

  std::string sha256_of(const std::string& file) const {
    return base::to_hex(hash::sha256(cuzk::testing::read_bytes(folder_ / file)));
  }
  void flip(const std::string& file, std::size_t place) const {
    auto bytes = cuzk::testing::read_bytes(folder_ / file);
    bytes.at(place) ^= 1;
    ASSERT_TRUE(base::write_file(folder_ / file, base::ByteSpan(bytes)).ok());
  }

  fs::path folder_;
};

TEST_F(SectorDirectory, HoldsUpstreamsCacheFiles) {
  for (const auto& [number, instance] : {std::pair{5u, "instance1"}, std::pair{0u, "instance1-v1"},
                                         std::pair{15u, "instance1-ni"}}) {
    fs::remove_all(folder_);
    ASSERT_TRUE(write_sector(folder_, testing::sample_sector(number)).ok());
    const auto upstream =
        testing::read_json("upstream/" + std::string(instance) + "/instance.json")["sectors"][0];
    for (const auto& [file, content] : upstream["cache_files"].items()) {
      EXPECT_EQ(sha256_of(file), content["sha256"]) << instance << " " << file;
    }
    EXPECT_EQ(sha256_of("replica.dat"), upstream["replica_sha256"]);
  }
}

TEST_F(SectorDirectory, ReadsWhatItWrote) {
  for (const char* size : {"2KiB", "4KiB", "32KiB"}) {
    fs::remove_all(folder_);
    const SealedSector sector = testing::sealed_sector_of(size);
    ASSERT_TRUE(write_sector(folder_, sector).ok());
    const auto read = read_sector(folder_);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->comm_r, sector.comm_r);
    EXPECT_EQ(read->replica_id, sector.replica_id);
    EXPECT_EQ(read->layers, sector.layers);
    EXPECT_EQ(read->identity.sector_number, sector.identity.sector_number);
  }
}

TEST_F(SectorDirectory, KeepsSectorNumbersOf64Bits) {
  SealRequest request;
  request.config = PorepConfig::of(registered_seal(5).value());
  request.sector_number = ~std::uint64_t{0} - 1;
  const SealedSector sector = seal(request, testing::as_bytes("data")).value();
  ASSERT_TRUE(write_sector(folder_, sector).ok());
  EXPECT_EQ(read_sector(folder_)->identity.sector_number, ~std::uint64_t{0} - 1);
}

TEST_F(SectorDirectory, RefusesToOverwriteASector) {
  ASSERT_TRUE(write_sector(folder_, testing::sample_sector()).ok());
  const auto again = write_sector(folder_, testing::sample_sector());
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().kind, base::ErrorKind::kAlreadyExists);
}

TEST_F(SectorDirectory, NamesTheFileThatIsDamaged) {
  ASSERT_TRUE(write_sector(folder_, testing::sample_sector()).ok());
  for (const std::string file : {"sc-02-data-layer-1.dat", "sc-02-data-layer-2.dat",
                                 "sc-02-data-tree-d.dat", "replica.dat", "p_aux"}) {
    flip(file, 40);
    const auto read = read_sector(folder_);
    ASSERT_FALSE(read.ok()) << file;
    EXPECT_NE(read.error().message.find(folder_.string()), std::string::npos);
    flip(file, 40);
  }
  EXPECT_TRUE(read_sector(folder_).ok());
  ASSERT_TRUE(base::write_file(folder_ / "sc-02-data-layer-1.dat", std::string_view("short")).ok());
  const auto cut = read_sector(folder_);
  ASSERT_FALSE(cut.ok());
  EXPECT_NE(cut.error().message.find("sc-02-data-layer-1.dat"), std::string::npos);
  EXPECT_NE(cut.error().message.find("2048"), std::string::npos);
}

TEST_F(SectorDirectory, NamesTheManifestFieldThatIsWrong) {
  EXPECT_EQ(read_sector(folder_).error().kind, base::ErrorKind::kNotFound);
  ASSERT_TRUE(write_sector(folder_, testing::sample_sector()).ok());
  const fs::path file = folder_ / "sector.json";
  const auto good = cuzk::testing::read_bytes(file);
  const auto refuses = [&](const char* field, const nlohmann::json& value) {
    auto json = nlohmann::json::parse(good);
    json[field] = value;
    ASSERT_TRUE(base::write_file(file, std::string_view(json.dump())).ok());
    const auto read = read_sector(folder_);
    ASSERT_FALSE(read.ok()) << field << " " << value;
    EXPECT_NE(read.error().message.find("sector.json"), std::string::npos) << read.error().message;
  };
  refuses("version", 2);
  refuses("version", "1");
  refuses("sector_size", 2047);
  refuses("sector_size", std::uint64_t{32} << 30);
  refuses("sector_number", -1);
  refuses("sector_number", 1.5);
  refuses("sector_number", 43);
  refuses("porep_id", "05");
  refuses("api_version", "V2");
  refuses("kind", "other");
  refuses("kind", "synthetic");
  refuses("ticket", nullptr);
  refuses("comm_r", to_hex(Node{}));
  ASSERT_TRUE(base::write_file(file, std::string_view("[1")).ok());
  EXPECT_FALSE(read_sector(folder_).ok());
}

TEST_F(SectorDirectory, KnowsItsFilesByName) {
  EXPECT_TRUE(sector_files(folder_).empty()) << "no folder yet";
  const SealedSector sector = testing::sealed_sector_of("2KiB");
  ASSERT_TRUE(write_sector(folder_, sector).ok());
  const auto count_all = std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  EXPECT_EQ(sector_files(folder_).size(), static_cast<std::size_t>(count_all));
  for (const char* other : {"c1.json", "proof.bin", "sc-02-data-notes.txt"}) {
    ASSERT_TRUE(base::write_file(folder_ / other, std::string_view("x")).ok());
  }
  EXPECT_EQ(sector_files(folder_).size(), static_cast<std::size_t>(count_all));
}

TEST(RegisteredSealOf, IsTheProofOfItsConfigOnly) {
  for (unsigned number = 0; number < kRegisteredSealCount; ++number) {
    const auto found = registered_seal_of(PorepConfig::of(registered_seal(number).value()));
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->number, number);
  }
  PorepConfig config = PorepConfig::of(registered_seal(5).value());
  config.porep_id[8] = 1;  // a nonce
  EXPECT_FALSE(registered_seal_of(config).has_value());
}

}  // namespace
}  // namespace cuzk::filecoin

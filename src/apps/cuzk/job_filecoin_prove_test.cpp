// What is refused before a Filecoin proof is made: inputs that an output would destroy, and a C1
// that another prover, sector or ticket belongs to. A whole proof is made in tests/end_to_end.
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "apps/cuzk/job_filecoin.h"
#include "filecoin/job.h"
#include "tests/support/data.h"
#include "tests/support/gzip.h"

namespace cuzk::apps {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Upstream's C1 of sector 42 of miner 1000 beside an empty file under the parameters' name: what
// passes all checks of the C1 ends at reading that file.
class ProveC1 : public ::testing::Test {
 protected:
  void SetUp() override {
    CUZK_DATA_OR_SKIP(packed, "upstream/instance1/porep-s0.c1.json.gz");
    folder_ = fs::path(::testing::TempDir()) / ("cuzk_prove_c1_" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "params");
    text_ = cuzk::testing::read_gzip(packed);
    write("params/" + params_name(), "");
    write("c1.json", text_);
    request_.c1 = folder_ / "c1.json";
    request_.params_folder = folder_ / "params";
    request_.out = folder_ / "proof.bin";
  }
  void TearDown() override {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  static std::string params_name() {
    const auto* shape = filecoin::sector_shape_by_name("2KiB").value();
    return filecoin::parameter_set_name(filecoin::CircuitKind::kPorep, *shape) + ".params";
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  base::Error refusal() const {
    Session session(CommonOptions{});
    const auto answer = prove_c1(request_, session);
    EXPECT_FALSE(answer.ok());
    EXPECT_FALSE(fs::exists(folder_ / "proof.bin"));
    return answer.ok() ? base::Error{} : answer.error();
  }
  // The refusal comes from the empty parameters: everything before them was accepted.
  void expect_accepted_c1() const { EXPECT_THAT(refusal().message, HasSubstr(params_name())); }

  fs::path folder_;
  std::string text_;
  ProveC1Request request_;
};

TEST_F(ProveC1, RefusesAnOutputThatWouldReplaceAKey) {
  for (const std::string& name : {params_name(), std::string("other.vk"), std::string("a.meta")}) {
    write("params/" + name, "");
    request_.out = folder_ / "params" / name;
    EXPECT_THAT(refusal().message, HasSubstr("would overwrite the input"));
  }
  request_.out = request_.c1;
  EXPECT_THAT(refusal().message, HasSubstr("would overwrite the input"));
  request_.out = folder_ / "params" / "proof.bin";  // beside the keys is no harm
  expect_accepted_c1();
}

TEST_F(ProveC1, TakesTheIdentityThatSealed) {
  expect_accepted_c1();
  request_.miner_id = 1000;
  request_.sector = 42;
  expect_accepted_c1();
  request_.miner_id.reset();
  request_.prover_id_hex = filecoin::to_hex(filecoin::prover_id_of_miner(1000));
  expect_accepted_c1();
}

TEST_F(ProveC1, RefusesAnotherProverSectorOrTicket) {
  request_.miner_id = 1000;
  EXPECT_EQ(refusal().kind, base::ErrorKind::kInvalidArgument);  // no sector number at all
  request_.sector = 43;
  EXPECT_THAT(refusal().message, HasSubstr("replica_id"));
  request_.miner_id = 1001;
  request_.sector = 42;
  EXPECT_THAT(refusal().message, HasSubstr("replica_id"));
  request_.miner_id = 1000;
  auto changed = nlohmann::ordered_json::parse(text_);
  changed["ticket"][5] = changed["ticket"][5].get<int>() ^ 1;
  write("c1.json", changed.dump());
  EXPECT_THAT(refusal().message, HasSubstr("replica_id"));
  request_.miner_id.reset();
  EXPECT_EQ(refusal().kind, base::ErrorKind::kInvalidArgument);  // a sector of nobody
}

TEST_F(ProveC1, ComparesTheSectorWithTheWrappers) {
  const auto file =
      filecoin::read_c1({reinterpret_cast<const std::uint8_t*>(text_.data()), text_.size()}, "c1");
  ASSERT_TRUE(file.ok());
  write("c1.json", filecoin::write_c1_outer(file->c1, 42));
  request_.miner_id = 1000;
  expect_accepted_c1();
  write("c1.json", filecoin::write_c1_outer(file->c1, 43));
  EXPECT_THAT(refusal().message, HasSubstr("replica_id"));
  request_.sector = 42;
  EXPECT_THAT(refusal().message, HasSubstr("SectorNum is 43, --sector is 42"));
}

TEST(WriteC1, RefusesAnOutputThatIsPartOfTheSector) {
  const fs::path folder =
      fs::path(::testing::TempDir()) / ("cuzk_write_c1_" + std::to_string(::getpid()));
  Session session(CommonOptions{});
  SealSectorRequest seal;
  seal.sector_size = "2KiB";
  seal.folder = folder;
  ASSERT_TRUE(seal_sector(seal, session).ok());
  WriteC1Request request;
  request.folder = folder;
  int count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    request.out = entry.path();
    const auto answer = write_c1(request, session);
    ASSERT_FALSE(answer.ok()) << entry.path();
    EXPECT_THAT(answer.error().message, HasSubstr("would overwrite the input"));
    ++count;
  }
  EXPECT_GE(count, 7);
  request.out = folder / "c1.json";
  EXPECT_TRUE(write_c1(request, session).ok());
  EXPECT_TRUE(write_c1(request, session).ok());  // its own output it replaces
  seal.force = true;
  seal.data = folder / "replica.dat";
  const auto sealed = seal_sector(seal, session);
  ASSERT_FALSE(sealed.ok());
  EXPECT_THAT(sealed.error().message, HasSubstr("would overwrite the input"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace cuzk::apps

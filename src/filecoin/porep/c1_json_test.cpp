// The C1 writer against upstream's bytes, and the reader against everything that is not them.
//
// Members come in any order and layout; one that is wrong must be named by its path. Cuts all along
// a good file are refused.
#include "filecoin/porep/c1_json.h"

#include "filecoin/test_support.h"
#include "hash/sha256.h"

namespace cuzk::filecoin {
namespace {

using testing::as_bytes;
using testing::sample_c1;

class C1Of : public ::testing::TestWithParam<std::pair<unsigned, const char*>> {};

TEST_P(C1Of, WritesUpstreamsBytes) {
  const auto [number, folder] = GetParam();
  const auto instance =
      testing::read_json("upstream/" + std::string(folder) + "/instance.json")["sectors"][0];
  const std::string json = write_c1_inner(sample_c1(number));
  EXPECT_EQ(json.size(), instance["c1_json_bytes"]);
  EXPECT_EQ(base::to_hex(hash::sha256(as_bytes(json))),
            instance["c1_json_sha256"].get<std::string>());
}

TEST_P(C1Of, ReadsWhatItWrites) {
  const PorepC1 c1 = sample_c1(GetParam().first);
  const auto file = read_c1(as_bytes(write_c1_inner(c1)), "c1.json");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_FALSE(file->sector_number.has_value());
  EXPECT_EQ(file->c1.partitions, c1.partitions);
  EXPECT_EQ(file->c1.registered_proof.number, c1.registered_proof.number);
}

INSTANTIATE_TEST_SUITE_P(Versions, C1Of,
                         ::testing::Values(std::pair{5u, "instance1"},
                                           std::pair{0u, "instance1-v1"},
                                           std::pair{10u, "instance1-synth"},
                                           std::pair{15u, "instance1-ni"}));

std::string inner_text() { return write_c1_inner(sample_c1()); }

std::string error_of(std::string_view text) {
  const auto file = read_c1(as_bytes(text), "c1.json");
  EXPECT_FALSE(file.ok()) << text.substr(0, 200);
  return file.ok() ? "" : file.error().message;
}

TEST(C1Reader, ReadsUpstreamsFile) {
  const auto file =
      read_c1(testing::read_data("upstream/instance1/porep-s0.c1.json"), "porep-s0.c1.json");
  ASSERT_TRUE(file.ok()) << file.error().message;
  const PorepC1 expected = sample_c1();
  EXPECT_EQ(file->c1.partitions, expected.partitions);
  EXPECT_EQ(file->c1.comm_r, expected.comm_r);
  EXPECT_EQ(file->c1.comm_d, expected.comm_d);
  EXPECT_EQ(file->c1.replica_id, expected.replica_id);
  EXPECT_EQ(file->c1.seed, expected.seed);
  EXPECT_EQ(file->c1.ticket, expected.ticket);
}

TEST(C1Reader, TakesMembersInAnyOrderAndLayout) {
  const PorepC1 expected = sample_c1();
  const auto json = nlohmann::json::parse(inner_text());  // sorts members by name
  for (const int indent : {-1, 0, 3}) {
    const auto file = read_c1(as_bytes(json.dump(indent)), "c1.json");
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_EQ(file->c1.partitions, expected.partitions);
  }
}

// As editors on Windows save it; places in errors are those of the file all the same.
TEST(C1Reader, PassesOverOneByteOrderMark) {
  const std::string mark = "\xef\xbb\xbf";
  for (const std::string& text : {inner_text(), write_c1_outer(sample_c1(), 1)}) {
    const auto file = read_c1(as_bytes(mark + text), "c1.json");
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_EQ(file->c1.partitions, sample_c1().partitions);
    EXPECT_NE(error_of(mark + mark + text), "");
    EXPECT_NE(error_of(" " + mark + text), "");
  }
  EXPECT_NE(error_of(mark), "");
  const auto place_of = [](const std::string& message) {
    const std::size_t at = message.find("near byte ");
    return at == message.npos ? -1 : std::stoi(message.substr(at + 10));
  };
  std::string broken = inner_text();
  broken.replace(broken.find("\"seed\":["), 8, "\"seed\":[x");
  const int plain = place_of(error_of(broken));
  ASSERT_GT(plain, 0) << error_of(broken);
  EXPECT_EQ(place_of(error_of(mark + broken)), plain + 3);
}

TEST(C1Reader, PassesOverUnknownMembersButParsesThem) {
  auto json = nlohmann::json::parse(inner_text());
  json["x"] = {{"deep", {1, 2.5, "three", nullptr, true, {{"y", {}}}}}};
  json["vanilla_proofs"]["StackedDrg2KiBV1"][0][1]["encoding_proof"]["extra"] = -7;
  EXPECT_TRUE(read_c1(as_bytes(json.dump()), "c1.json").ok());
  std::string text = json.dump();
  text.replace(text.find("2.5"), 3, "2.x");
  EXPECT_NE(error_of(text), "");
}

TEST(C1Reader, ReadsTheOuterFormWithSectorNumbersOf64Bits) {
  for (const std::uint64_t number :
       {std::uint64_t{0}, std::uint64_t{42}, (std::uint64_t{1} << 53) + 1, ~std::uint64_t{0}}) {
    const auto file = read_c1(as_bytes(write_c1_outer(sample_c1(), number)), "c1.json");
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_EQ(file->sector_number, number);
    EXPECT_EQ(file->c1.partitions, sample_c1().partitions);
  }
}

TEST(C1Reader, RefusesAnOuterFormThatDisagreesWithItself) {
  const std::string good = write_c1_outer(sample_c1(), 42);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos);
    return error_of(text.replace(place, from.size(), to));
  };
  EXPECT_NE(changed("2048}", "4096}").find("SectorSize"), std::string::npos);
  EXPECT_NE(changed("2048}", "2048.0}").find("SectorSize"), std::string::npos);
  EXPECT_NE(changed(":42,", ":-42,").find("SectorNum"), std::string::npos);
  EXPECT_NE(changed(":42,", ":18446744073709551616,").find("SectorNum"), std::string::npos);
  EXPECT_NE(changed(":42,", ":\"42\",").find("SectorNum"), std::string::npos);
  EXPECT_NE(changed("\"SectorNum\"", "\"SectorNom\"").find("SectorNum is missing"),
            std::string::npos);
  EXPECT_NE(changed("Phase1Out\":\"", "Phase1Out\":\"!").find("base64"), std::string::npos);
}

struct WrongMember {
  const char* pointer;  // JSON pointer below the first partition's second proof, or absolute
  nlohmann::json value;
  const char* message;  // what the error must contain
};

TEST(C1Reader, NamesTheMemberThatIsWrong) {
  const std::string proof = "/vanilla_proofs/StackedDrg2KiBV1/0/1";
  const nlohmann::json order = {1,   0,  0,   0,   255, 255, 255, 255, 254, 91, 254,
                                255, 2,  164, 189, 83,  5,   216, 161, 9,   8,  216,
                                57,  51, 72,  125, 157, 41,  83,  167, 237, 115};
  const WrongMember cases[] = {
      {"/comm_d_proofs/data/Single/path/path/3/hashes/0", order,
       "[0][1].comm_d_proofs.data.Single.path.path[3].hashes[0]: is not a canonical field element"},
      {"/comm_d_proofs/data/Single/path/path/3/hashes/0/31", 256,
       "comm_d_proofs.data.Single.path.path[3].hashes[0][31]: is 256, expected at most 255"},
      {"/comm_d_proofs/data/Single/path/path/3/hashes/0/31", 1.5,
       "path[3].hashes[0][31]: expected"},
      {"/comm_d_proofs/data/Single/path/path/3/hashes/0/31", -1, "path[3].hashes[0][31]: expected"},
      {"/comm_d_proofs/data/Single/path/path/3/index", 2,
       "path[3].index: is 2, expected at most 1"},
      {"/comm_d_proofs/data/Single/path/path/3/hashes", nlohmann::json::array(),
       "path[3].hashes: has 0 elements, expected 1"},
      {"/comm_r_last_proof/data/Single/path/path", nlohmann::json::array(),
       "comm_r_last_proof.data.Single.path.path: has 0 elements, expected 2"},
      {"/comm_r_last_proof/data/Single/root", "ab", "data.Single.root: expected an array"},
      {"/comm_r_last_proof/data", {{"Sub", 1}}, "is no path of a tree of shape 8-0-0"},
      {"/comm_r_last_proof/data", nlohmann::json::object(), "has no member, expected one"},
      {"/comm_r_last_proof/data/Top", 1, "has a second member"},
      {"/replica_column_proofs/c_x/column/rows", {1}, "c_x.column.rows[0]: expected an array"},
      {"/replica_column_proofs/c_x/column/index", 64, "c_x.column.index: is 64, expected at most"},
      {"/replica_column_proofs/c_x/column/_h", 0, "c_x.column._h: expected null"},
      {"/replica_column_proofs/drg_parents/6", {{"column", 1}}, "drg_parents: has more than 6"},
      {"/replica_column_proofs/exp_parents", nullptr, "exp_parents: expected an array"},
      {"/labeling_proofs/0/parents/36", nlohmann::json::array(),
       "labeling_proofs[0].parents[36]: has 0 elements, expected 32"},
      {"/labeling_proofs/1/layer_index", 3, "labeling_proofs[1].layer_index: is 3"},
      {"/labeling_proofs/0/node", "32", "labeling_proofs[0].node: expected an integer"},
      {"/encoding_proof", nlohmann::json::array(), "encoding_proof: expected an object"},
  };
  const auto good = nlohmann::json::parse(inner_text());
  for (const WrongMember& c : cases) {
    auto json = good;
    json[nlohmann::json::json_pointer(proof + c.pointer)] = c.value;
    const std::string message = error_of(json.dump());
    EXPECT_EQ(message.find("c1.json: vanilla_proofs.StackedDrg2KiBV1[0][1]."), 0u) << message;
    EXPECT_NE(message.find(c.message), std::string::npos) << message;
  }
}

TEST(C1Reader, RefusesWrongTops) {
  const auto good = nlohmann::json::parse(inner_text());
  const auto with = [&](const char* pointer, const nlohmann::json& value) {
    auto json = good;
    json[nlohmann::json::json_pointer(pointer)] = value;
    return error_of(json.dump());
  };
  EXPECT_NE(with("/registered_proof", "StackedDrg2KiBV9").find("registered_proof"),
            std::string::npos);
  EXPECT_NE(with("/registered_proof", "StackedDrg8MiBV1_1").find("2KiB"), std::string::npos);
  EXPECT_NE(with("/registered_proof", "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep")
                .find("1 partitions, expected 13"),
            std::string::npos);
  EXPECT_NE(with("/registered_proof", 5).find("registered_proof: expected a string"),
            std::string::npos);
  EXPECT_NE(with("/vanilla_proofs", {{"StackedDrg4KiBV1", 1}}).find("is no kind"),
            std::string::npos);
  EXPECT_NE(with("/vanilla_proofs/StackedDrg2KiBV1", nlohmann::json::array()).find("0 elements"),
            std::string::npos);
  EXPECT_NE(with("/vanilla_proofs/StackedDrg2KiBV1/0/2", 1).find("more than 2"), std::string::npos);
  EXPECT_NE(with("/seed/32", 0).find("seed: has more than 32"), std::string::npos);
  auto json = good;
  json.erase("ticket");
  EXPECT_NE(error_of(json.dump()).find("ticket is missing"), std::string::npos);
}

TEST(C1Reader, RefusesWhatIsNotOneJsonObject) {
  const std::string good = inner_text();
  for (const std::string& text :
       {std::string(), std::string(" "), std::string("[]"), std::string("null"), std::string("{"),
        std::string("}"), std::string("{}"), std::string("\0\0\0", 3), good + "x", good + good,
        good + "{}", "[" + good + "]", std::string("\xef\xbb\xbf") + "{}", std::string("\xff{}"),
        std::string(100'000, '['), std::string("{\"a\":") + std::string(100'000, '[')}) {
    EXPECT_NE(error_of(text), "") << text.substr(0, 20);
  }
}

TEST(C1Reader, RefusesMembersThatOccurTwice) {
  const std::string good = inner_text();
  const auto message = error_of("{\"seed\":[1]," + good.substr(1));
  EXPECT_NE(message.find("seed"), std::string::npos) << message;
  const std::string seed = good.substr(good.find("\"seed\""));
  EXPECT_NE(error_of(good.substr(0, good.size() - 1) + "," + seed).find("occurs twice"),
            std::string::npos);
}

TEST(C1Reader, RefusesEveryCut) {
  const std::string good = inner_text();
  for (std::size_t size = 0; size < good.size(); size += 331) {
    EXPECT_NE(error_of(std::string_view(good).substr(0, size)), "");
  }
  const std::string outer = write_c1_outer(sample_c1(), 1);
  for (std::size_t size = 0; size < outer.size(); size += 997) {
    EXPECT_NE(error_of(std::string_view(outer).substr(0, size)), "");
  }
}

}  // namespace
}  // namespace cuzk::filecoin

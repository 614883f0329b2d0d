// A sealed sector's folder with one of its files replaced: sector.json, p_aux, the replica, the
// data's tree, a layer, or a cached tree that is never read.
//
// The first byte chooses the file, the rest is its content. What is accepted has to be the sector
// that was sealed: labels, replica and every commitment.
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "base/file.h"
#include "filecoin/vanilla/sector_directory.h"
#include "fuzz/target.h"

namespace {

using namespace cuzk;
namespace fs = std::filesystem;

constexpr const char* kFiles[] = {"sector.json",
                                  "p_aux",
                                  "replica.dat",
                                  "sc-02-data-tree-d.dat",
                                  "sc-02-data-layer-1.dat",
                                  "sc-02-data-layer-2.dat",
                                  "sc-02-data-tree-c.dat"};

// A whole sector in a folder of its own, removed when the process ends as it should.
class Folder {
 public:
  Folder() : sector_(seal_sample()) {
    std::string pattern = (fs::temp_directory_path() / "cuzk-fuzz-sector-XXXXXX").string();
    CUZK_FUZZ_REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
    CUZK_FUZZ_REQUIRE(filecoin::write_sector(path_, sector_).ok());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  base::Bytes read(const char* name) const {
    return base::read_file(path_ / name, std::uint64_t{1} << 20).value();
  }
  // Not by way of a second file, so that a run costs little.
  void write(const char* name, base::ByteSpan bytes) const {
    std::FILE* file = std::fopen((path_ / name).c_str(), "wb");
    CUZK_FUZZ_REQUIRE(file != nullptr);
    CUZK_FUZZ_REQUIRE(bytes.empty() || std::fwrite(bytes.data(), bytes.size(), 1, file) == 1);
    CUZK_FUZZ_REQUIRE(std::fclose(file) == 0);
  }
  const fs::path& path() const { return path_; }
  const filecoin::SealedSector& sector() const { return sector_; }

 private:
  static filecoin::SealedSector seal_sample() {
    constexpr std::uint8_t kData[] = "data of a sector";
    filecoin::SealRequest request;
    request.config = filecoin::PorepConfig::of(filecoin::registered_seal(5).value());
    request.sector_number = 42;
    return filecoin::seal(request, kData).value();
  }

  filecoin::SealedSector sector_;
  fs::path path_;
};

const Folder& folder() {
  static const Folder kept;
  return kept;
}

}  // namespace

std::vector<base::Bytes> fuzz::seeds() {
  std::vector<base::Bytes> out;
  for (std::size_t i = 0; i < std::size(kFiles); ++i) {
    base::Bytes bytes = folder().read(kFiles[i]);
    bytes.insert(bytes.begin(), static_cast<std::uint8_t>(i));
    out.push_back(std::move(bytes));
  }
  return out;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const char* name = kFiles[data[0] % std::size(kFiles)];
  static const std::vector<base::Bytes> kWhole = fuzz::seeds();
  folder().write(name, {data + 1, size - 1});
  const auto read = filecoin::read_sector(folder().path());
  folder().write(name, base::ByteSpan(kWhole[data[0] % std::size(kFiles)]).subspan(1));
  if (!read.ok()) {
    CUZK_FUZZ_REQUIRE(!read.error().message.empty());
    return 0;
  }
  const filecoin::SealedSector& sealed = folder().sector();
  CUZK_FUZZ_REQUIRE(read->layers == sealed.layers);
  CUZK_FUZZ_REQUIRE(read->replica == sealed.replica);
  CUZK_FUZZ_REQUIRE(read->comm_d == sealed.comm_d);
  CUZK_FUZZ_REQUIRE(read->comm_r == sealed.comm_r);
  CUZK_FUZZ_REQUIRE(read->replica_id == sealed.replica_id);
  return 0;
}

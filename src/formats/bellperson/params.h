// bellperson / bellman Groth16 parameter files (.params): mapped for reading, streamed for writing.
//
// Layout: docs/formats/bellperson.md. The files of large sectors have tens of gigabytes, so a
// loaded key is a view of its file: replace such a file by rename, never in place.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/progress.h"
#include "formats/key_check.h"
#include "groth16/keys.h"

namespace cuzk::formats {

using BlsProvingKey = groth16::ProvingKey<curve::Bls12_381>;

// A key over its file, and what is to be told of the file.
struct LoadedParams {
  // Its queries borrow from the mapped file, which it owns.
  std::shared_ptr<const BlsProvingKey> key;
  // vk, h, l, a, b_g1, b_g2, each with the count in front of it, as published digests cover them.
  std::vector<SectionFacts> sections;
  // The sections tile the file up to these: bytes behind the parameters, e.g. a ceremony's
  // transcript: tolerated, and told in `warnings`.
  std::uint64_t trailing_bytes = 0;
  std::vector<std::string> warnings;
};

// Errors: kMalformed with file, section, found and expected. Nothing is copied but the verifying
// key. Whether the key fits a circuit is asked where the two meet (groth16/fit.h).
base::Result<LoadedParams> read_params(std::shared_ptr<const base::MappedFile> file,
                                       const KeyCheckOptions& options = {});
base::Result<LoadedParams> open_params(const std::filesystem::path& path,
                                       const KeyCheckOptions& options = {});

// SHA-256 of one section of the file that `loaded` came from.
std::string section_sha256_hex(const base::MappedFile& file, const SectionFacts& section);

// Points of each query of a .params file.
struct ParamsCounts {
  std::uint32_t h = 0, l = 0, a = 0, b_g1 = 0, b_g2 = 0;
};

// Takes the next bytes of a file that is being made.
using ByteSink = std::function<base::Status(base::ByteSpan)>;

// Writes a .params file in order, from points that arrive in pieces, so that nothing but one piece
// is in memory beside the caller's own points. With a path, the file appears under its name when
// finish() succeeds; with a sink, the bytes go there and no file is made.
class ParamsWriter {
 public:
  using G1Source = msm::PointSource<curve::Bls12_381::G1>;
  using G2Source = msm::PointSource<curve::Bls12_381::G2>;

  // `progress` (may be null) is told of bytes written.
  static base::Result<ParamsWriter> create(const std::filesystem::path& path,
                                           const groth16::VerifyingKey<curve::Bls12_381>& vk,
                                           const ParamsCounts& counts,
                                           base::ProgressSink* progress = nullptr);
  // `name` stands for the file in errors.
  static base::Result<ParamsWriter> create(ByteSink sink, std::string name,
                                           const groth16::VerifyingKey<curve::Bls12_381>& vk,
                                           const ParamsCounts& counts,
                                           base::ProgressSink* progress = nullptr);

  // The next points, in the order h, l, a, b_g1 then b_g2; a piece may not cross a section's end.
  // Fails on a point at infinity (the format has none), naming section and index.
  base::Status append(const G1Source& points);
  base::Status append(const G2Source& points);
  // Fails when points are missing. Call once, last.
  base::Status finish();

 private:
  ParamsWriter() = default;
  static base::Result<ParamsWriter> begin(ParamsWriter writer,
                                          const groth16::VerifyingKey<curve::Bls12_381>& vk,
                                          const ParamsCounts& counts);
  base::Status write(base::ByteSpan bytes) { return file_ ? file_->write(bytes) : sink_(bytes); }
  template <class G>
  base::Status append_points(const msm::PointSource<G>& points, bool is_g2);
  base::Status open_sections();

  std::optional<base::AtomicFile> file_;  // else sink_
  ByteSink sink_;
  std::string path_;
  // Which points come next. A section whose count is written takes counts_[section_] -
  // section_done_ more points; when it is full the next one opens at once, so between calls a
  // section is open unless all are done. After an error the writer is dropped.
  std::uint32_t counts_[5] = {};
  std::size_t section_ = 0;         // the one being written
  std::uint32_t section_done_ = 0;  // points of it already written
  bool section_open_ = false;       // its count is written
  base::ProgressSink* progress_ = nullptr;
};

// A whole key. It must be in bellman's convention (kCoefficients, dense queries).
base::Status write_params(const std::filesystem::path& path, const BlsProvingKey& key,
                          base::ProgressSink* progress = nullptr);
// The same bytes into `sink`, e.g. to hash a key that is too large to store.
base::Status write_params(ByteSink sink, std::string name, const BlsProvingKey& key,
                          base::ProgressSink* progress = nullptr);

// Size of the file that write_params makes.
std::uint64_t params_size_bytes(std::uint64_t ic_count, const ParamsCounts& counts) noexcept;

}  // namespace cuzk::formats

// Writing a .params file piece by piece: encode a block on all threads, append it, report.
//
// Counts stand in front of their points, so they are given when the writer is made, and the file is
// one forward stream: it can go into a pipe or a hash as well. A block of points is all the memory
// it takes. Points that do not fit the counts are a caller's defect and still an error, as by then
// hours of set-up may be behind.
#include <algorithm>
#include <iterator>
#include <type_traits>

#include <fmt/format.h>

#include "base/check.h"
#include "base/threads.h"
#include "curve/encoding.h"
#include "formats/bellperson/params.h"
#include "formats/bellperson/verifying_key.h"

namespace cuzk::formats {
namespace {

using Bls = curve::Bls12_381;
using base::Error;
using base::ErrorKind;
using msm::PointLayout;

constexpr const char* kSectionNames[] = {"h", "l", "a", "b_g1", "b_g2"};
constexpr std::size_t kSectionCount = std::size(kSectionNames);
// Points encoded at a time: 1.5 MiB of G1.
constexpr std::size_t kBlockPoints = std::size_t{1} << 14;
// Points a thread encodes at a time: some hundred microseconds.
constexpr std::size_t kEncodeGrain = 1024;

// Points are decoded first, as they may lie in another layout or in a file; infinity is looked for
// in the decoded ones. Encodes points [first, first + count) of `points` into `out`; the index of
// the first one at infinity is returned, or `count`.
template <class G>
std::size_t encode_block(const msm::PointSource<G>& points, std::size_t first, std::size_t count,
                         base::Bytes& out) {
  constexpr std::size_t kPointBytes = msm::PointSource<G>::kPointBytes;
  CUZK_ASSERT(count > 0 && first + count <= points.size());
  std::vector<curve::Affine<G>> decoded(count);
  out.resize(count * kPointBytes);
  base::parallel_for(0, count, kEncodeGrain, [&](std::size_t begin, std::size_t end) {
    points.decode(first + begin, std::span(decoded).subspan(begin, end - begin));
    for (std::size_t i = begin; i < end; ++i) {
      curve::encode_uncompressed(decoded[i], std::span(out).subspan(i * kPointBytes, kPointBytes));
    }
  });
  const auto found = std::find_if(decoded.begin(), decoded.end(),
                                  [](const auto& point) { return point.is_infinity(); });
  return static_cast<std::size_t>(found - decoded.begin());
}

// The lengths of a key's queries are bounded by those of a domain and of 32-bit variables.
std::uint32_t narrow_count(std::size_t count) {
  CUZK_ASSERT(count <= UINT32_MAX);
  return static_cast<std::uint32_t>(count);
}

}  // namespace

std::uint64_t params_size_bytes(std::uint64_t ic_count, const ParamsCounts& counts) noexcept {
  const std::uint64_t head = kBellpersonVkHeadBytes + curve::kG1UncompressedBytes * ic_count;
  const std::uint64_t g1 = std::uint64_t{counts.h} + counts.l + counts.a + counts.b_g1;
  return head + kSectionCount * 4 + curve::kG1UncompressedBytes * g1 +
         curve::kG2UncompressedBytes * std::uint64_t{counts.b_g2};
}

base::Result<ParamsWriter> ParamsWriter::begin(ParamsWriter writer, const BlsVerifyingKey& vk,
                                               const ParamsCounts& counts) {
  CUZK_ASSERT(writer.file_.has_value() != static_cast<bool>(writer.sink_));
  CUZK_TRY(const base::Bytes head, encode_bellperson_vk(vk));
  CUZK_TRY_STATUS(writer.write(head));
  const std::uint32_t list[] = {counts.h, counts.l, counts.a, counts.b_g1, counts.b_g2};
  static_assert(std::size(list) == kSectionCount);
  static_assert(std::extent_v<decltype(writer.counts_)> == kSectionCount);
  std::copy(std::begin(list), std::end(list), writer.counts_);
  if (writer.progress_ != nullptr) {
    writer.progress_->begin_stage("writing parameters", params_size_bytes(vk.ic.size(), counts));
    writer.progress_->advance(head.size());
  }
  CUZK_TRY_STATUS(writer.open_sections());
  return writer;
}

base::Result<ParamsWriter> ParamsWriter::create(const std::filesystem::path& path,
                                                const BlsVerifyingKey& vk,
                                                const ParamsCounts& counts,
                                                base::ProgressSink* progress) {
  ParamsWriter writer;
  CUZK_TRY(base::AtomicFile file, base::AtomicFile::create(path));
  writer.file_.emplace(std::move(file));
  writer.path_ = path.string();
  writer.progress_ = progress;
  return begin(std::move(writer), vk, counts);
}

base::Result<ParamsWriter> ParamsWriter::create(ByteSink sink, std::string name,
                                                const BlsVerifyingKey& vk,
                                                const ParamsCounts& counts,
                                                base::ProgressSink* progress) {
  ParamsWriter writer;
  writer.sink_ = std::move(sink);
  writer.path_ = std::move(name);
  writer.progress_ = progress;
  return begin(std::move(writer), vk, counts);
}

// Writes the counts of sections until one has points to come (or all are done). An empty section is
// a count and no points, so several may begin at once.
base::Status ParamsWriter::open_sections() {
  while (section_ < kSectionCount) {
    if (!section_open_) {
      std::uint8_t count[4];
      base::store_u32_be(count, counts_[section_]);
      CUZK_TRY_STATUS(write(count));
      section_open_ = true;
    }
    if (section_done_ < counts_[section_]) break;
    ++section_;
    section_done_ = 0;
    section_open_ = false;
  }
  CUZK_ASSERT(section_ == kSectionCount || section_open_);
  return base::ok_status();
}

// No point is written before its whole block is known to be good.
template <class G>
base::Status ParamsWriter::append_points(const msm::PointSource<G>& points, bool is_g2) {
  if (points.size() == 0) return base::ok_status();
  // Only the last section is over G2.
  const bool wants_g2 = section_ == kSectionCount - 1;
  if (section_ == kSectionCount || is_g2 != wants_g2 ||
      points.size() > counts_[section_] - section_done_) {
    return Error{
        ErrorKind::kInternal,
        fmt::format("{}: {} more {} points for section {}, which takes {}", path_, points.size(),
                    G::kName, section_ == kSectionCount ? "(none)" : kSectionNames[section_],
                    section_ == kSectionCount ? 0 : counts_[section_] - section_done_)};
  }
  base::Bytes block;
  for (std::size_t first = 0; first < points.size(); first += kBlockPoints) {
    const std::size_t count = std::min(kBlockPoints, points.size() - first);
    const std::size_t infinite = encode_block(points, first, count, block);
    if (infinite != count) {
      return Error{ErrorKind::kInvalidArgument,
                   fmt::format("{}: section {}: point {} is at infinity, which a bellperson file "
                               "cannot hold (is a variable in no constraint?)",
                               path_, kSectionNames[section_], section_done_ + infinite)};
    }
    CUZK_TRY_STATUS(write(block));
    section_done_ += static_cast<std::uint32_t>(count);
    CUZK_ASSERT(section_done_ <= counts_[section_]);
    if (progress_ != nullptr) progress_->advance(block.size());
  }
  return open_sections();
}

base::Status ParamsWriter::append(const G1Source& points) { return append_points(points, false); }
base::Status ParamsWriter::append(const G2Source& points) { return append_points(points, true); }

base::Status ParamsWriter::finish() {
  if (section_ != kSectionCount) {
    return Error{ErrorKind::kInternal,
                 fmt::format("{}: section {} has {} points, expected {}", path_,
                             kSectionNames[section_], section_done_, counts_[section_])};
  }
  return file_ ? file_->commit() : base::ok_status();
}

namespace {

// snarkjs's queries hold points at infinity, and another H.
base::Status check_convention(const BlsProvingKey& key, const std::string& name) {
  if (key.convention == groth16::QapConvention::kCoefficients && key.has_dense_queries) {
    return base::ok_status();
  }
  return Error{ErrorKind::kInvalidArgument,
               fmt::format("{}: the key {} is in snarkjs's convention, a .params file holds "
                           "bellperson's",
                           name, key.name)};
}

ParamsCounts counts_of(const BlsProvingKey& key) {
  return {narrow_count(key.h.size()), narrow_count(key.l.size()), narrow_count(key.a.size()),
          narrow_count(key.b_g1.size()), narrow_count(key.b_g2.size())};
}

// In the order of the format, then the end.
base::Status append_queries(ParamsWriter& writer, const BlsProvingKey& key) {
  CUZK_TRY_STATUS(writer.append(key.h));
  CUZK_TRY_STATUS(writer.append(key.l));
  CUZK_TRY_STATUS(writer.append(key.a));
  CUZK_TRY_STATUS(writer.append(key.b_g1));
  CUZK_TRY_STATUS(writer.append(key.b_g2));
  return writer.finish();
}

}  // namespace

base::Status write_params(const std::filesystem::path& path, const BlsProvingKey& key,
                          base::ProgressSink* progress) {
  CUZK_TRY_STATUS(check_convention(key, path.string()));
  CUZK_TRY(ParamsWriter writer, ParamsWriter::create(path, key.vk, counts_of(key), progress));
  return append_queries(writer, key);
}

base::Status write_params(ByteSink sink, std::string name, const BlsProvingKey& key,
                          base::ProgressSink* progress) {
  CUZK_TRY_STATUS(check_convention(key, name));
  CUZK_TRY(ParamsWriter writer, ParamsWriter::create(std::move(sink), std::move(name), key.vk,
                                                     counts_of(key), progress));
  return append_queries(writer, key);
}

}  // namespace cuzk::formats

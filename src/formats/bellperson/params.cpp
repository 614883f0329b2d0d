// Reading a .params file: find the sections, compare the counts, borrow the points.
//
// Reads the verifying key and five counts, whatever the size of the file, unless a check of the
// queries is asked for. A count is believed only as far as bytes follow it. The format does not say
// what circuit it is for; counts alone tell files that are no key from keys.
#include "formats/bellperson/params.h"

#include <fmt/format.h>

#include "base/check.h"
#include "formats/bellperson/verifying_key.h"
#include "hash/sha256.h"

namespace cuzk::formats {
namespace {

using Bls = curve::Bls12_381;
using base::Error;
using base::ErrorKind;
using msm::PointLayout;

// The layouts of a point in this file and in memory are different, their sizes are not: a source's
// bytes are found by kPointBytes.
static_assert(msm::PointSource<Bls::G1>::kPointBytes == curve::kG1UncompressedBytes);
static_assert(msm::PointSource<Bls::G2>::kPointBytes == curve::kG2UncompressedBytes);

// Finds the query at the reader's place: its count, then its points.
template <class G>
base::Status read_query(base::ByteReader& reader, std::string_view name,
                        std::vector<SectionFacts>& sections, msm::PointSource<G>& out) {
  const std::size_t begin = reader.offset();
  CUZK_TRY(const std::uint32_t count, reader.u32_be(fmt::format("number of {} points", name)));
  CUZK_TRY(const base::ByteSpan points,
           reader.take_records(count, msm::PointSource<G>::kPointBytes, name));
  CUZK_ASSERT(reader.offset() - begin == 4 + points.size());
  out = msm::PointSource<G>(points.data(), count, PointLayout::kZcashUncompressed);
  sections.push_back({std::string(name), begin, reader.offset() - begin, count});
  return base::ok_status();
}

// A count that is wrong beside the key's other counts.
Error mismatch(const BlsProvingKey& key, std::string_view sentence) {
  return Error{ErrorKind::kMalformed, fmt::format("{}: {}", key.name, sentence)};
}

// What any circuit's counts obey, whichever circuit it is. The rest is compared when key and
// circuit meet.
base::Status check_counts(const BlsProvingKey& key) {
  const std::size_t domain = key.h.size() + 1;  // the quotient has degree m - 2 at most
  if ((domain & (domain - 1)) != 0) {
    return mismatch(
        key, fmt::format("section h has {} points, expected a power of two less 1", key.h.size()));
  }
  if (key.domain_log2 > Bls::Fr::kTwoAdicity) {
    return mismatch(key, fmt::format("section h has {} points, so the domain is 2^{}, the largest "
                                     "is 2^{}",
                                     key.h.size(), key.domain_log2, Bls::Fr::kTwoAdicity));
  }
  // The dense queries leave private variables out that do not occur in their matrix. A has all the
  // inputs, since each occurs in a row "input_i * 0 = 0"; B need not have any.
  const std::size_t inputs = key.vk.ic.size(), variables = inputs + key.l.size();
  if (key.a.size() < inputs || key.a.size() > variables) {
    return mismatch(key, fmt::format("section a has {} points, expected {} (inputs) to {} (inputs "
                                     "and the {} of section l)",
                                     key.a.size(), inputs, variables, key.l.size()));
  }
  if (key.b_g1.size() != key.b_g2.size()) {
    return mismatch(key, fmt::format("section b_g1 has {} points and section b_g2 has {}, expected "
                                     "the same",
                                     key.b_g1.size(), key.b_g2.size()));
  }
  if (key.b_g1.size() > variables) {
    return mismatch(key, fmt::format("section b_g1 has {} points, expected at most {} (inputs and "
                                     "section l)",
                                     key.b_g1.size(), variables));
  }
  return base::ok_status();
}

// No point of a bellperson file is at infinity: its generator leaves those variables out.
template <class G>
base::Status check_query(const BlsProvingKey& key, std::string_view name,
                         const msm::PointSource<G>& points, const KeyCheckOptions& options) {
  return check_points(points, options.queries, Infinity::kRefused,
                      fmt::format("{}: section {}", key.name, name), options.progress);
}

// In the file's order, so that a scan reads the disk forward.
base::Status check_queries(const BlsProvingKey& key, const KeyCheckOptions& options) {
  CUZK_TRY_STATUS(check_query(key, "h", key.h, options));
  CUZK_TRY_STATUS(check_query(key, "l", key.l, options));
  CUZK_TRY_STATUS(check_query(key, "a", key.a, options));
  CUZK_TRY_STATUS(check_query(key, "b_g1", key.b_g1, options));
  return check_query(key, "b_g2", key.b_g2, options);
}

}  // namespace

base::Result<LoadedParams> read_params(std::shared_ptr<const base::MappedFile> file,
                                       const KeyCheckOptions& options) {
  LoadedParams loaded;
  auto key = std::make_shared<BlsProvingKey>();
  key->name = file->name();
  base::ByteReader reader(file->bytes(), file->name());
  CUZK_TRY(key->vk, read_bellperson_vk(reader, options.verifying_key));
  loaded.sections.push_back({"vk", 0, reader.offset(), key->vk.ic.size()});
  CUZK_TRY_STATUS(read_query(reader, "h", loaded.sections, key->h));
  CUZK_TRY_STATUS(read_query(reader, "l", loaded.sections, key->l));
  CUZK_TRY_STATUS(read_query(reader, "a", loaded.sections, key->a));
  CUZK_TRY_STATUS(read_query(reader, "b_g1", loaded.sections, key->b_g1));
  CUZK_TRY_STATUS(read_query(reader, "b_g2", loaded.sections, key->b_g2));
  key->convention = groth16::QapConvention::kCoefficients;
  key->has_dense_queries = true;
  // A count has 32 bits, so this ends at 2^32 at the latest.
  while ((std::size_t{1} << key->domain_log2) < key->h.size() + 1) ++key->domain_log2;
  CUZK_ASSERT(key->domain_log2 <= 32);
  CUZK_TRY_STATUS(check_counts(*key));
  CUZK_TRY_STATUS(check_queries(*key, options));
  const SectionFacts& last = loaded.sections.back();
  CUZK_ASSERT(last.offset_bytes + last.size_bytes == reader.offset());
  loaded.trailing_bytes = reader.remaining();
  if (loaded.trailing_bytes != 0) {
    loaded.warnings.push_back(
        fmt::format("{}: {} bytes follow the parameters and are ignored (a ceremony's transcript?)",
                    file->name(), loaded.trailing_bytes));
  }
  key->owner = std::move(file);
  loaded.key = std::move(key);
  return loaded;
}

base::Result<LoadedParams> open_params(const std::filesystem::path& path,
                                       const KeyCheckOptions& options) {
  CUZK_TRY(auto file, base::MappedFile::open(path));
  return read_params(std::move(file), options);
}

std::string section_sha256_hex(const base::MappedFile& file, const SectionFacts& section) {
  CUZK_ASSERT(section.offset_bytes <= file.size_bytes() &&
              section.size_bytes <= file.size_bytes() - section.offset_bytes);
  const hash::Digest digest =
      hash::sha256(file.bytes().subspan(section.offset_bytes, section.size_bytes));
  return base::to_hex(digest);
}

}  // namespace cuzk::formats

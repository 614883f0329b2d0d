// Reading and writing the container of a job's input.
//
// Reading copies the fields and borrows the parts: a commit phase 1 of 50 MB is looked at where it
// arrived. Every length is checked against what is left before anything is taken, and each count
// against a limit before a loop, so hostile bytes cost no more than their own length.
#include "apps/jobs/job_input.h"

#include <algorithm>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;

constexpr std::string_view kMagic = "cuzkjob";
static_assert(kMagic.size() + 1 == 8);  // with the version, as the format says
constexpr char kVersion = '1';
// Fields are a dozen names and numbers; a client that sends more has mistaken them for parts.
constexpr std::size_t kHeadBytesMax = std::size_t{1} << 20;
// One a sector of the largest window partition, with room.
constexpr std::uint32_t kPartCountMax = 1u << 16;

// `found` and `expected` are words of ours or names of types, never the value itself.
Error wrong_field(std::string_view name, std::string_view found, std::string_view expected) {
  return {ErrorKind::kInvalidArgument,
          fmt::format("job input: field {}: found {}, expected {}", name, found, expected)};
}

// JSON as nlohmann reads it, but for one thing: of a name given twice the library keeps the last,
// and a client that sends two means something that is not known. So names are noted while parsing.
base::Result<InputFields> read_fields(base::ByteSpan text) {
  std::set<std::string, std::less<>> seen;
  std::optional<std::string> twice;
  const auto notice = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    if (event != nlohmann::json::parse_event_t::key || depth != 1) return true;
    const auto& name = value.get_ref<const std::string&>();
    if (!seen.insert(name).second) twice = name;
    return true;
  };
  const auto document = nlohmann::json::parse(text.begin(), text.end(), notice, false);
  if (twice) return wrong_field(twice->substr(0, 64), "a second value", "one");
  if (!document.is_object()) {
    return Error{ErrorKind::kMalformed, "job input: the fields are no JSON object"};
  }
  InputFields fields;
  for (const auto& [name, value] : document.items()) {
    if (value.is_number_unsigned()) {
      fields[name] = value.get<std::uint64_t>();
    } else if (value.is_string()) {
      fields[name] = value.get<std::string>();
    } else {
      return wrong_field(name.substr(0, 64), value.type_name(), "a whole number or a string");
    }
  }
  return fields;
}

// Fills bytes from front to back. The caller has added up the size beforehand; what is put has to
// come out at exactly that.
class Filler {
 public:
  explicit Filler(std::size_t size) : bytes_(size) {}
  void put(const void* data, std::size_t count) {
    CUZK_ASSERT(count <= bytes_.size() - offset_);
    if (count != 0) std::memcpy(bytes_.data() + offset_, data, count);
    offset_ += count;
  }
  void put_u32(std::uint64_t value) {
    CUZK_ASSERT(bytes_.size() - offset_ >= 4 && value <= 0xffffffff);
    base::store_u32_le(bytes_.data() + offset_, static_cast<std::uint32_t>(value));
    offset_ += 4;
  }
  void put_u64(std::uint64_t value) {
    CUZK_ASSERT(bytes_.size() - offset_ >= 8);
    base::store_u64_le(bytes_.data() + offset_, value);
    offset_ += 8;
  }
  base::Bytes take() && {
    CUZK_ASSERT(offset_ == bytes_.size());
    return std::move(bytes_);
  }

 private:
  base::Bytes bytes_;
  std::size_t offset_ = 0;
};

// Absence made an error; other errors stay as they are.
template <class T>
base::Result<T> required(base::Result<std::optional<T>> found, std::string_view name) {
  if (!found.ok()) return std::move(found).error();
  if (!found->has_value()) return wrong_field(name, "none", "a value");
  return **std::move(found);
}

}  // namespace

base::Result<std::optional<std::uint64_t>> JobInput::number(std::string_view name) const {
  const auto found = fields.find(name);
  if (found == fields.end()) return std::optional<std::uint64_t>();
  if (const auto* value = std::get_if<std::uint64_t>(&found->second)) return std::optional(*value);
  return wrong_field(name, "a string", "a whole number");
}

base::Result<std::optional<std::string>> JobInput::text(std::string_view name) const {
  const auto found = fields.find(name);
  if (found == fields.end()) return std::optional<std::string>();
  if (const auto* value = std::get_if<std::string>(&found->second)) return std::optional(*value);
  return wrong_field(name, "a number", "a string");
}

base::Result<std::optional<filecoin::Node>> JobInput::node(std::string_view name) const {
  CUZK_TRY(const auto hex, text(name));
  if (!hex) return std::optional<filecoin::Node>();
  CUZK_TRY(const auto value, filecoin::node_from_hex(*hex, fmt::format("job input: {}", name)));
  return std::optional(value);
}

base::Result<std::uint64_t> JobInput::required_number(std::string_view name) const {
  return required(number(name), name);
}

base::Result<std::string> JobInput::required_text(std::string_view name) const {
  return required(text(name), name);
}

base::Result<filecoin::Node> JobInput::required_node(std::string_view name) const {
  return required(node(name), name);
}

base::Status JobInput::check_fields(std::span<const std::string_view> known) const {
  for (const auto& [name, value] : fields) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("job input: found the field {}, expected only {}", name.substr(0, 64),
                             fmt::join(known, ", "))};
  }
  return base::ok_status();
}

bool is_job_input(base::ByteSpan bytes) {
  return bytes.size() > kMagic.size() &&
         std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

base::Result<JobInput> read_job_input(base::ByteSpan bytes) {
  base::ByteReader reader(bytes, "job input");
  CUZK_TRY(const base::ByteSpan magic, reader.take(kMagic.size() + 1, "the word cuzkjob1"));
  if (!is_job_input(bytes)) return reader.malformed("does not begin with the word cuzkjob1");
  // The word is right and the version another: a client of a later release, which is told so.
  if (magic.back() != kVersion) {
    return Error{
        ErrorKind::kUnsupported,
        fmt::format("job input: found version byte {}, expected '{}'", magic.back(), kVersion)};
  }
  CUZK_TRY(const std::uint32_t head_bytes, reader.u32_le("byte count of the fields"));
  if (head_bytes > kHeadBytesMax) {
    return reader.malformed(
        fmt::format("the fields take {} bytes, at most {} are read", head_bytes, kHeadBytesMax));
  }
  JobInput input;
  CUZK_TRY(const base::ByteSpan head, reader.take(head_bytes, "fields"));
  CUZK_TRY(input.fields, read_fields(head));
  CUZK_TRY(const std::uint32_t count, reader.u32_le("number of parts"));
  if (count > kPartCountMax) {
    return reader.malformed(fmt::format("{} parts, at most {} are read", count, kPartCountMax));
  }
  // Not reserved beforehand: `count` is the client's word until its parts are seen.
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string field = fmt::format("part {} of {}", i, count);
    CUZK_TRY(const std::uint64_t part_bytes, reader.u64_le(field));
    CUZK_TRY(const base::ByteSpan part, reader.take(part_bytes, field));
    input.parts.push_back(part);
  }
  if (reader.remaining() != 0) {
    return reader.malformed(fmt::format("{} bytes follow the last part", reader.remaining()));
  }
  return input;
}

base::Bytes encode_job_input(const InputFields& fields, std::span<const base::ByteSpan> parts) {
  nlohmann::json document = nlohmann::json::object();
  for (const auto& [name, value] : fields) {
    std::visit([&document, &name = name](const auto& v) { document[name] = v; }, value);
  }
  // Text that is not UTF-8 comes out with marks instead of an exception; the reader refuses what
  // needed to be exact, as hex or a name.
  const std::string head = document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::size_t size = kMagic.size() + 1 + 4 + head.size() + 4;
  for (const base::ByteSpan part : parts) size += 8 + part.size();
  Filler out(size);
  out.put(kMagic.data(), kMagic.size());
  out.put(&kVersion, 1);
  out.put_u32(head.size());
  out.put(head.data(), head.size());
  out.put_u32(parts.size());
  for (const base::ByteSpan part : parts) {
    out.put_u64(part.size());
    out.put(part.data(), part.size());
  }
  return std::move(out).take();
}

}  // namespace cuzk::apps

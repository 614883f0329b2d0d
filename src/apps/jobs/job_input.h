// The input of a job as one run of bytes: a few named values and the byte strings they go with.
//
//   offset  0   8 bytes "cuzkjob1"
//           8   u32 n, then n bytes: a JSON object of whole numbers and strings
//               u32 k, then k times: u64 m, then m bytes
//
// All integers are little-endian; nothing may follow. Kinds whose proof needs nothing beside one
// file also take that file as it is (docs/formats/job_input.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "filecoin/node.h"

namespace cuzk::apps {

using FieldValue = std::variant<std::uint64_t, std::string>;
using InputFields = std::map<std::string, FieldValue, std::less<>>;

// Borrows its parts from the bytes that were read, which have to outlive it. What a field means is
// known to the reader of its kind, which asks the questions below; nothing here knows.
class JobInput {
 public:
  InputFields fields;
  std::vector<base::ByteSpan> parts;

  // Nothing where the field is absent. Error kInvalidArgument naming a field of the other type, or
  // text that is not 32 bytes of hex.
  base::Result<std::optional<std::uint64_t>> number(std::string_view name) const;
  base::Result<std::optional<std::string>> text(std::string_view name) const;
  base::Result<std::optional<filecoin::Node>> node(std::string_view name) const;
  // The same, absence being an error.
  base::Result<std::uint64_t> required_number(std::string_view name) const;
  base::Result<std::string> required_text(std::string_view name) const;
  base::Result<filecoin::Node> required_node(std::string_view name) const;
  // Error kInvalidArgument naming a field that is none of `known`.
  base::Status check_fields(std::span<const std::string_view> known) const;
};

// Whether bytes begin as such an input does.
bool is_job_input(base::ByteSpan bytes);
// Errors: kMalformed with offset and field; kUnsupported for another version.
base::Result<JobInput> read_job_input(base::ByteSpan bytes);
// What read_job_input() takes; the order of parts is kept, that of fields is by name.
base::Bytes encode_job_input(const InputFields& fields, std::span<const base::ByteSpan> parts);

}  // namespace cuzk::apps

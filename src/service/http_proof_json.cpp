// The text is read strictly first, so that a fault of it gets one sentence of ours; what its values
// mean, in the many spellings of protobuf's mapping, is protobuf's to say.
// From the message on a request is the same as one that came over gRPC.
#include "service/http_proof_json.h"

#include <limits>
#include <map>
#include <string>

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include "formats/json.h"
#include "service/proto/proving.pb.h"
#include "service/wire_proving.h"

namespace cuzk::service {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
// The door bounds the bytes. A window partition has a few thousand proofs.
constexpr formats::JsonLimits kLimits = {.size_bytes = std::numeric_limits<std::uint64_t>::max(),
                                         .value_count = std::uint64_t{1} << 17};

base::Error malformed(std::string sentence) {
  return {base::ErrorKind::kMalformed, "the body: " + std::move(sentence)};
}

// Under its name in the .proto or the one of JSON.
const FieldDescriptor* field_named(const Descriptor& message, std::string_view name) {
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor* const field = message.field(i);
    if (field->name() == name || field->json_name() == name) return field;
  }
  return nullptr;
}

// Protobuf's reader takes one value for a list, and lists for their values.
base::Status check_type(const std::string& name, const formats::Json& value, bool is_list) {
  if (is_list != value.is_array() || value.is_object()) {
    return malformed(fmt::format("the field \"{}\" has {} {}, expected {}", name,
                                 value.is_object() || value.is_array() ? "an" : "a",
                                 value.type_name(), is_list ? "an array" : "one value"));
  }
  if (!is_list) return base::ok_status();
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i].is_string()) continue;
    return malformed(
        fmt::format("the field \"{}\" has in its place {} something of type {}, "
                    "expected a string of base64",
                    name, i, value[i].type_name()));
  }
  return base::ok_status();
}

base::Status check_names(const formats::Json& document, const Descriptor& message) {
  std::map<const FieldDescriptor*, std::string> seen;
  for (const auto& [name, value] : document.items()) {
    const FieldDescriptor* const field = field_named(message, name);
    if (field == nullptr) {
      return malformed(
          fmt::format("there is no field \"{}\" in a {}", name.substr(0, 64), message.name()));
    }
    const auto [other, is_new] = seen.emplace(field, name);
    if (!is_new) {
      return malformed(
          fmt::format("the field \"{}\" occurs twice, also as \"{}\"", other->second, name));
    }
    if (value.is_null()) continue;  // as if it were not there
    CUZK_TRY_STATUS(check_type(name, value, field->is_repeated()));
  }
  return base::ok_status();
}

base::Status check_text(base::ByteSpan bytes, const Descriptor& message) {
  CUZK_TRY(const formats::Json document, formats::parse_json(bytes, "the body", kLimits));
  if (!document.is_object()) {
    return malformed(
        fmt::format("found JSON of type {}, expected an object", document.type_name()));
  }
  return check_names(document, message);
}

// Values that are quoted in it may have lines of their own.
std::string one_line(std::string text) {
  constexpr std::size_t kCharactersMax = 256;
  if (text.size() > kCharactersMax) text = text.substr(0, kCharactersMax) + "...";
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

}  // namespace

base::Result<ProofRequest> proof_request_from_json(base::ByteSpan bytes) {
  if (bytes.empty()) {
    return base::Error{base::ErrorKind::kMalformed, "the body is empty, a JSON object is expected"};
  }
  v1::SubmitProofRequest message;
  CUZK_TRY_STATUS(check_text(bytes, *v1::SubmitProofRequest::descriptor()));
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(text.data(), text.size()), &message);
  if (!status.ok()) {
    return malformed(one_line({status.message().data(), status.message().size()}));
  }
  return proof_request_from(message);
}

}  // namespace cuzk::service

// By reflection, because protobuf's own JSON shows 64-bit numbers as strings. Scripts would have to
// turn those back, and would find members missing that are zero.
#include "service/client_json.h"

#include <algorithm>
#include <cctype>
#include <string>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

namespace cuzk::service {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Json = nlohmann::ordered_json;

// "COMPLETED" is "completed", "JOB_STATE_UNSPECIFIED" is "unspecified".
std::string enum_word(std::string_view name) {
  constexpr std::string_view kNone = "UNSPECIFIED";
  if (name.ends_with(kNone)) name = kNone;
  std::string word(name);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

// A field's value; `index` is that of an entry where the field repeats, else -1.
Json value_json(const Message& message, const FieldDescriptor& field, int index) {
  const auto* read = message.GetReflection();
  const bool one = index < 0;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return one ? read->GetInt32(message, &field) : read->GetRepeatedInt32(message, &field, index);
    case FieldDescriptor::CPPTYPE_INT64:
      return one ? read->GetInt64(message, &field) : read->GetRepeatedInt64(message, &field, index);
    case FieldDescriptor::CPPTYPE_UINT32:
      return one ? read->GetUInt32(message, &field)
                 : read->GetRepeatedUInt32(message, &field, index);
    case FieldDescriptor::CPPTYPE_UINT64:
      return one ? read->GetUInt64(message, &field)
                 : read->GetRepeatedUInt64(message, &field, index);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return one ? read->GetDouble(message, &field)
                 : read->GetRepeatedDouble(message, &field, index);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return one ? read->GetFloat(message, &field) : read->GetRepeatedFloat(message, &field, index);
    case FieldDescriptor::CPPTYPE_BOOL:
      return one ? read->GetBool(message, &field) : read->GetRepeatedBool(message, &field, index);
    case FieldDescriptor::CPPTYPE_STRING:
      return one ? read->GetString(message, &field)
                 : read->GetRepeatedString(message, &field, index);
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto* value =
          one ? read->GetEnum(message, &field) : read->GetRepeatedEnum(message, &field, index);
      return enum_word(value->name());
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return message_json(one ? read->GetMessage(message, &field)
                              : read->GetRepeatedMessage(message, &field, index));
  }
  return nullptr;
}

}  // namespace

// The order of the members is that of the proto file; a message within that is not there has none.
Json message_json(const Message& message) {
  Json out = Json::object();
  const auto* type = message.GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor& field = *type->field(i);
    // Witnesses and proofs: they are given apart, as bytes.
    if (field.type() == FieldDescriptor::TYPE_BYTES) continue;
    if (field.is_repeated()) {
      Json list = Json::array();
      for (int k = 0; k < message.GetReflection()->FieldSize(message, &field); ++k) {
        list.push_back(value_json(message, field, k));
      }
      out[field.name()] = std::move(list);
    } else if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE ||
               message.GetReflection()->HasField(message, &field)) {
      out[field.name()] = value_json(message, field, -1);
    }
  }
  return out;
}

}  // namespace cuzk::service

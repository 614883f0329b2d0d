// Messages of the protocol as JSON for people and scripts. One function for all of them, so that a
// field which is added to a proto file shows without a line of code.
#pragma once

#include <nlohmann/json.hpp>

namespace google::protobuf {
class Message;
}

namespace cuzk::service {

// Every field with its name of the proto file, set or not, but bytes; enums as lower-case words
// without the prefix of their type's zero ("unspecified" where it is that).
nlohmann::ordered_json message_json(const google::protobuf::Message& message);

}  // namespace cuzk::service

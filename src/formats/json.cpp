// A strict front to the JSON library: its event parser, with our limits, building its value tree.
//
// The library's own tree builder lets one of two equal keys win and grows with whatever the text
// asks for. A verifier must not depend on which of two keys a reader prefers, and a small hostile
// text must not make a large tree, so the tree is built here, event by event, and the first thing
// too many stops the parser. What the library throws ends here.
#include "formats/json.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "curve/groups.h"
#include "field/convert.h"

namespace cuzk::formats {
namespace {

using base::Error;
using base::ErrorKind;

Error malformed(std::string_view where, std::string_view sentence) {
  return Error{ErrorKind::kMalformed, fmt::format("{}: {}", where, sentence)};
}

// `found`, of whatever type, stands where `expected` (with its article) belongs. Its type is told,
// not its text, which may be long.
Error other_type(std::string_view where, const Json& found, std::string_view expected) {
  const std::string_view article = found.is_null()                         ? ""
                                   : found.is_object() || found.is_array() ? "an "
                                                                           : "a ";
  return malformed(where,
                   fmt::format("{}{} where {} belongs", article, found.type_name(), expected));
}

// Receives the parser's events. Returning false stops the parser; `problem` then says why.
//
// `stack_` holds the objects and arrays that are open, outermost first, and `keys_` the keys seen
// so far in each (none in arrays). `key_` waits for its value. What the parser guarantees is
// relied on: ends match starts, and a key comes before each value of an object.
class StrictBuilder : public nlohmann::json_sax<Json> {
 public:
  explicit StrictBuilder(std::uint64_t value_count_max) : value_count_max_(value_count_max) {}

  bool null() override { return place(nullptr) != nullptr; }
  bool boolean(bool value) override { return place(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return place(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return place(value) != nullptr; }
  bool number_float(number_float_t value, const string_t&) override {
    return place(value) != nullptr;
  }
  bool string(string_t& value) override { return place(std::move(value)) != nullptr; }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    CUZK_ASSERT(!stack_.empty() && stack_.back()->is_object());
    // The tree looks keys up one by one, so their number is bounded, not only their nesting.
    if (keys_.back().size() >= kJsonKeysMax) {
      problem_ = fmt::format("an object has more than the {} keys allowed", kJsonKeysMax);
      return false;
    }
    if (!keys_.back().insert(name).second) {
      problem_ = fmt::format("the key \"{}\" occurs twice", name.substr(0, 64));
      return false;
    }
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& exception) override {
    constexpr int kNumberOverflow = 406;  // the library's number for it
    problem_ = exception.id == kNumberOverflow
                   ? fmt::format("a number that is out of range ends at byte {}", position)
                   : fmt::format("not valid JSON at byte {}", position);
    return false;
  }

  Json take_root() { return std::move(root_); }
  const std::string& problem() const { return problem_; }

 private:
  // nullptr when there are too many values.
  Json* place(Json value) {
    if (value_count_ == value_count_max_) {
      problem_ = fmt::format("more than the {} values allowed", value_count_max_);
      return nullptr;
    }
    ++value_count_;
    CUZK_ASSERT(stack_.empty() == (value_count_ == 1));  // only the root stands in nothing
    if (stack_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *stack_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[key_] = std::move(value));
  }
  // Depth and number are asked before the value exists.
  // A child's address is stable while it is open: its parent grows only after it is closed.
  bool open(Json empty) {
    if (stack_.size() >= kJsonDepthMax) {
      problem_ = fmt::format("nested deeper than the {} levels allowed", kJsonDepthMax);
      return false;
    }
    Json* const placed = place(std::move(empty));
    if (placed == nullptr) return false;
    stack_.push_back(placed);
    keys_.emplace_back();
    return true;
  }
  bool close() {
    CUZK_ASSERT(!stack_.empty() && stack_.size() == keys_.size());
    stack_.pop_back();
    keys_.pop_back();
    return true;
  }

  const std::uint64_t value_count_max_;
  std::uint64_t value_count_ = 0;
  Json root_;
  std::vector<Json*> stack_;
  std::vector<std::set<std::string>> keys_;
  std::string key_;
  std::string problem_;
};

// "0x" and digits. Shorter ones are filled up with zeros; the value is still held against p.
template <class F>
base::Result<F> hex_element(std::string_view text, std::string_view where) {
  CUZK_ASSERT(text.size() >= 2);
  const std::string_view digits = text.substr(2);
  const std::size_t digits_max = 2 * F::kByteCount;
  const bool is_hex = digits.find_first_not_of("0123456789abcdefABCDEF") == digits.npos;
  if (digits.empty() || !is_hex || digits.size() > digits_max) {
    return malformed(where, fmt::format("\"{}\" is not 0x and 1 to {} hex digits",
                                        text.substr(0, 100), digits_max));
  }
  std::string padded(digits_max - digits.size(), '0');
  padded += digits;
  CUZK_ASSERT(padded.size() == digits_max);
  CUZK_TRY(const base::Bytes bytes, base::from_hex(padded, where));
  return field::from_bytes_be<F>(bytes, where);
}

}  // namespace

base::Result<Json> parse_json(base::ByteSpan text, std::string_view source,
                              const JsonLimits& limits) {
  if (text.size() > limits.size_bytes) {
    return malformed(source, fmt::format("{} bytes, a document of its kind has at most {}",
                                         text.size(), limits.size_bytes));
  }
  if (text.empty()) return malformed(source, "empty, expected a JSON document");
  // The library takes a zero byte for the end of the text, and whatever follows it for nothing.
  if (const auto zero = std::find(text.begin(), text.end(), 0); zero != text.end()) {
    return malformed(source, fmt::format("byte {} is zero, expected JSON, a text in UTF-8",
                                         zero - text.begin() + 1));
  }
  // A problem that the builder found is told before the parser's own view of the text.
  StrictBuilder builder(limits.value_count);
  try {
    if (Json::sax_parse(text.begin(), text.end(), &builder)) return builder.take_root();
  } catch (const nlohmann::json::exception& exception) {
    return malformed(source, fmt::format("not valid JSON ({})", exception.what()));
  }
  return malformed(source, builder.problem().empty() ? "not valid JSON" : builder.problem());
}

// The parser kept keys apart, so there is at most one.
base::Result<const Json*> json_member(const Json& value, std::string_view key,
                                      std::string_view where) {
  if (!value.is_object()) {
    return other_type(where, value, "an object");
  }
  const auto found = value.find(key);
  if (found == value.end()) return malformed(where, fmt::format("\"{}\" is missing", key));
  return &*found;
}

base::Result<const Json*> json_array(const Json& value, std::string_view where) {
  if (!value.is_array()) {
    return other_type(where, value, "an array");
  }
  return &value;
}

base::Result<const Json*> json_array_of(const Json& value, std::size_t count,
                                        std::string_view where) {
  CUZK_TRY(const Json* array, json_array(value, where));
  if (array->size() != count) {
    return malformed(where, fmt::format("{} entries, expected {}", array->size(), count));
  }
  return array;
}

base::Result<std::string> json_string(const Json& value, std::string_view where) {
  if (!value.is_string()) {
    return other_type(where, value, "a string");
  }
  return value.get<std::string>();
}

template <class F>
base::Result<F> json_field_element(const Json& value, std::string_view where) {
  if (!value.is_string()) {
    return other_type(where, value, "a decimal or 0x hex string");
  }
  const auto& text = value.get_ref<const std::string&>();
  if (text.starts_with("0x") || text.starts_with("0X")) return hex_element<F>(text, where);
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos) {
    return malformed(where, fmt::format("\"{}\" is neither a decimal number nor one of 0x and hex "
                                        "digits",
                                        text.substr(0, 100)));
  }
  // One value has one text, as snarkjs writes it.
  if (text.size() > 1 && text.front() == '0') {
    return malformed(where, fmt::format("\"{}\" has a leading zero", text.substr(0, 100)));
  }
  return field::from_decimal<F>(text, where);
}

template base::Result<curve::Bls12_381::Fp> json_field_element(const Json&, std::string_view);
template base::Result<curve::Bls12_381::Fr> json_field_element(const Json&, std::string_view);
template base::Result<curve::Bn254::Fp> json_field_element(const Json&, std::string_view);
template base::Result<curve::Bn254::Fr> json_field_element(const Json&, std::string_view);

// The library's own indentation is the one that JSON.stringify has.
std::string to_snarkjs_text(const Json& value) { return value.dump(1); }

}  // namespace cuzk::formats

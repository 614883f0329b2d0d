// JSON as snarkjs and the Filecoin tools write it, read strictly.
//
// On top of the JSON library: duplicate keys, more nesting or keys than the documents have, and
// trailing bytes are errors; each error names the source and the place. Numbers that are field
// elements are strings, below the modulus: canonical decimals (no sign, no leading zero), or hex
// with "0x" as other makers of these documents write it.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/result.h"

namespace cuzk::formats {

// More than any document here needs (a verifying key has 4 levels).
inline constexpr std::size_t kJsonDepthMax = 16;
// Likewise for the keys of one object.
inline constexpr std::size_t kJsonKeysMax = 256;
// Largest JSON document read, and most values in it; a verifying key of a million public inputs
// fits. A value of the tree takes up to about 160 bytes however short its text is ("[]," is three),
// so it is their number that bounds the memory: under 700 MB beside the text.
inline constexpr std::uint64_t kJsonBytesMax = std::uint64_t{1} << 28;
inline constexpr std::uint64_t kJsonValuesMax = std::uint64_t{1} << 22;

// What a document of one kind may cost; parse_json refuses more.
struct JsonLimits {
  std::uint64_t size_bytes = kJsonBytesMax;
  std::uint64_t value_count = kJsonValuesMax;
};
// A proof is eight numbers and three words.
inline constexpr JsonLimits kJsonProofLimits = {.size_bytes = std::uint64_t{1} << 16};
static_assert(kJsonProofLimits.size_bytes < kJsonBytesMax);

// The library's value with objects as lists of pairs. Key order is kept, so that documents are
// written in snarkjs's order.
using Json = nlohmann::ordered_json;

// One JSON value that fills `text`. Errors: kMalformed, "source: ...", with the byte where the text
// is not JSON; a document over the limits is refused before its tree is larger than they allow.
base::Result<Json> parse_json(base::ByteSpan text, std::string_view source,
                              const JsonLimits& limits = {});

// The member `key` of object `value`. `where` names the object in errors, e.g. "proof.json".
base::Result<const Json*> json_member(const Json& value, std::string_view key,
                                      std::string_view where);
// `value` itself, when it is an array: borrowed, as what the two around it return.
base::Result<const Json*> json_array(const Json& value, std::string_view where);
// As json_array, with exactly `count` entries.
base::Result<const Json*> json_array_of(const Json& value, std::size_t count,
                                        std::string_view where);
// A copy.
base::Result<std::string> json_string(const Json& value, std::string_view where);

// A field element from a canonical decimal string, or "0x" and at least one hex digit, at most as
// many as the field's bytes have.
template <class F>
base::Result<F> json_field_element(const Json& value, std::string_view where);

// Indented by one space a level, without a final newline: what JSON.stringify(value, null, 1)
// gives.
std::string to_snarkjs_text(const Json& value);

}  // namespace cuzk::formats

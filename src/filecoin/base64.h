// Base64 with the standard alphabet and padding (RFC 4648, section 4), strict in decoding.
//
// Each byte string has one text and each accepted text one byte string, so decoding and encoding
// again gives the same. No URL alphabet, no line breaks.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace cuzk::filecoin {

// With padding, so the length is a multiple of 4.
std::string base64_encode(base::ByteSpan bytes);

// Refuses other characters, wrong lengths, padding in the middle and bits beyond the last byte.
// `what` names the field in the error.
base::Result<base::Bytes> base64_decode(std::string_view text, std::string_view what);

}  // namespace cuzk::filecoin

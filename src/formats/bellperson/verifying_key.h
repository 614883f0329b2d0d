// bellperson verifying keys (.vk files, and the head of every .params file) and .meta files.
//
// Layout: docs/formats/bellperson.md. BLS12-381, big-endian, uncompressed points, none at infinity.
#pragma once

#include <filesystem>

#include "base/bytes.h"
#include "curve/encoding.h"
#include "formats/key_check.h"
#include "groth16/keys.h"

namespace cuzk::formats {

using BlsVerifyingKey = groth16::VerifyingKey<curve::Bls12_381>;

// Reads a verifying key from the front of `reader` and stops behind its last point. Errors:
// kMalformed with file, byte and field. At every level of `check` the points are canonical and none
// is at infinity.
base::Result<BlsVerifyingKey> read_bellperson_vk(base::ByteReader& reader, KeyCheck check);

// A whole .vk file or buffer: bytes behind the last point are an error. `source` names it.
base::Result<BlsVerifyingKey> parse_bellperson_vk(base::ByteSpan bytes, std::string source,
                                                  KeyCheck check = KeyCheck::kSubgroup);
base::Result<BlsVerifyingKey> open_bellperson_vk(const std::filesystem::path& path,
                                                 KeyCheck check = KeyCheck::kSubgroup);

// Bytes of a .vk file in front of its ic points: six points and the count.
inline constexpr std::size_t kBellpersonVkHeadBytes =
    3 * curve::kG1UncompressedBytes + 3 * curve::kG2UncompressedBytes + 4;
static_assert(kBellpersonVkHeadBytes == 868);

// The bytes of a .vk file. Fails when a point is at infinity, which the format forbids.
base::Result<base::Bytes> encode_bellperson_vk(const BlsVerifyingKey& key);
// The file appears whole or not at all.
base::Status write_bellperson_vk(const std::filesystem::path& path, const BlsVerifyingKey& key);

// A .meta file: {"sector_size":2048}, exactly as the Filecoin code writes it.
base::Result<std::uint64_t> parse_bellperson_meta(base::ByteSpan bytes, std::string source);
std::string encode_bellperson_meta(std::uint64_t sector_size_bytes);

}  // namespace cuzk::formats

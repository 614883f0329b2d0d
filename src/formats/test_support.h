// What the tests of this room share: files taken apart and put together again, refusals, folders.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/file.h"
#include "tests/support/data.h"
#include "tests/support/temporary_folder.h"

namespace cuzk::formats::testing {

using base::Bytes;
using base::ByteSpan;
using cuzk::testing::TemporaryFolder;

// An iden3 container in pieces, so that a test can move, double, drop or damage a section. Written
// anew, on purpose without the code under test.
struct Container {
  std::string magic;
  std::uint32_t version = 0;
  std::vector<std::pair<std::uint32_t, Bytes>> sections;
  // What the head announces, when it is to lie.
  std::optional<std::uint32_t> announced_count;

  static Container parse(ByteSpan bytes) {
    Container out;
    out.magic.assign(bytes.begin(), bytes.begin() + 4);
    out.version = base::load_u32_le(bytes.data() + 4);
    std::size_t at = 12;
    for (std::uint32_t i = base::load_u32_le(bytes.data() + 8); i > 0; --i) {
      const std::uint32_t id = base::load_u32_le(bytes.data() + at);
      const std::uint64_t size = base::load_u64_le(bytes.data() + at + 4);
      const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at + 12);
      out.sections.emplace_back(id, Bytes(begin, begin + static_cast<std::ptrdiff_t>(size)));
      at += 12 + size;
    }
    return out;
  }

  Bytes encode() const {
    Bytes out(magic.begin(), magic.end());
    append_u32(out, version);
    append_u32(out, announced_count.value_or(static_cast<std::uint32_t>(sections.size())));
    for (const auto& [id, bytes] : sections) {
      append_u32(out, id);
      append_u32(out, static_cast<std::uint32_t>(bytes.size()));
      append_u32(out, static_cast<std::uint32_t>(std::uint64_t{bytes.size()} >> 32));
      out.insert(out.end(), bytes.begin(), bytes.end());
    }
    return out;
  }

  Bytes& section(std::uint32_t id) {
    for (auto& [found, bytes] : sections) {
      if (found == id) return bytes;
    }
    throw std::out_of_range("no such section in the test's file");
  }
  Container& remove(std::uint32_t id) {
    std::erase_if(sections, [id](const auto& section) { return section.first == id; });
    return *this;
  }

  static void append_u32(Bytes& out, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
};

inline std::shared_ptr<const base::MappedFile> file_of(Bytes bytes,
                                                       std::string name = "test file") {
  return base::MappedFile::of_bytes(std::move(bytes), std::move(name));
}

inline Bytes bytes_of(std::string_view text) { return Bytes(text.begin(), text.end()); }

// Whether `result` is an error of `kind` whose sentence has all the `parts`.
template <class R>
::testing::AssertionResult refused(const R& result, base::ErrorKind kind,
                                   std::initializer_list<std::string_view> parts) {
  if (result.ok()) return ::testing::AssertionFailure() << "accepted";
  const base::Error& error = result.error();
  if (error.kind != kind) {
    return ::testing::AssertionFailure() << "kind is " << to_string(error.kind) << ", expected "
                                         << to_string(kind) << ": " << error.message;
  }
  for (const std::string_view part : parts) {
    if (error.message.find(part) == std::string::npos) {
      return ::testing::AssertionFailure() << "\"" << part << "\" is not in: " << error.message;
    }
  }
  return ::testing::AssertionSuccess();
}

template <class R>
::testing::AssertionResult accepted(const R& result) {
  if (result.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << result.error().message;
}

// Calls parse(prefix) for every proper prefix of `bytes` up to `count_max` evenly spread ones; each
// has to be refused.
template <class Parse>
void expect_every_truncation_refused(ByteSpan bytes, std::size_t count_max, const Parse& parse) {
  const std::size_t step = std::max<std::size_t>(1, bytes.size() / count_max);
  for (std::size_t size = 0; size < bytes.size(); size += step) {
    EXPECT_FALSE(
        parse(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))).ok())
        << "a prefix of " << size << " of " << bytes.size() << " bytes was accepted";
  }
}

// Calls parse with each byte of [first, last) changed in several ways. It may accept or refuse, and
// an error must say something; the point is that nothing breaks. Returns how many were refused.
template <class Parse>
std::size_t try_every_flip(Bytes bytes, std::size_t first, std::size_t last, const Parse& parse) {
  std::size_t refused_count = 0;
  for (std::size_t i = first; i < last; ++i) {
    for (const std::uint8_t mask : {0x01, 0x80, 0xff}) {
      bytes[i] ^= mask;
      const auto result = parse(bytes);
      if (!result.ok()) {
        ++refused_count;
        EXPECT_GT(result.error().message.size(), 10u);
      }
      bytes[i] ^= mask;
    }
  }
  return refused_count;
}

}  // namespace cuzk::formats::testing

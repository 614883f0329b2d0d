// Frames carry the salts of their generation and a checksum that runs on from frame to frame.
//
// So a frame is whole only if all before it are, and SQLite stops at the first that is not. Here
// the scan goes on behind it: salts tell frames of this generation from older ones that were there
// before the log began anew. One pass over the log, linear in its bytes.
#include "engine/journal_log.h"

#include <utility>

namespace cuzk::engine::internal {
namespace {

constexpr std::size_t kHeaderBytes = 32;
constexpr std::size_t kFrameHeaderBytes = 24;
constexpr std::uint32_t kMagic =
    0x377f0682;  // the lowest bit says: checksums over big-endian words
constexpr std::size_t kUsualPageBytes = 4096;
static_assert(kHeaderBytes == 8 * sizeof(std::uint32_t), "magic, version, page, number, 2 x 2");
static_assert(kFrameHeaderBytes == 6 * sizeof(std::uint32_t), "page, pages, 2 salts, 2 sums");
static_assert((kMagic & 1) == 0);

// Sums of the file format, section 4.2: two words at a time, in the byte order of the writer.
struct Checksum {
  std::uint32_t s0 = 0, s1 = 0;
  bool operator==(const Checksum&) const = default;

  void add(base::ByteSpan bytes, bool is_big_endian) {
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      const std::uint8_t* p = bytes.data() + i;
      s0 += (is_big_endian ? base::load_u32_be(p) : base::load_u32_le(p)) + s1;
      s1 += (is_big_endian ? base::load_u32_be(p + 4) : base::load_u32_le(p + 4)) + s0;
    }
  }
  static Checksum stored(const std::uint8_t* p) {
    return {base::load_u32_be(p), base::load_u32_be(p + 4)};
  }
};

bool is_page_size(std::size_t bytes) {
  return bytes >= 512 && bytes <= 65536 && (bytes & (bytes - 1)) == 0;
}

}  // namespace

LogScan scan_log(base::ByteSpan log) {
  LogScan scan;
  if (log.size() <= kHeaderBytes) {
    scan.unfinished_bytes = log.size() == kHeaderBytes ? 0 : log.size();
    return scan;
  }
  const std::uint32_t magic = base::load_u32_be(log.data());
  const bool is_big_endian = (magic & 1) != 0;
  Checksum running;
  running.add(log.first(24), is_big_endian);
  bool is_whole =
      (magic & ~std::uint32_t{1}) == kMagic && running == Checksum::stored(log.data() + 24);
  // A damaged header may name any size; the usual one is tried then.
  const std::size_t named_bytes = base::load_u32_be(log.data() + 8);
  scan.page_bytes = is_page_size(named_bytes) ? named_bytes : kUsualPageBytes;
  const std::size_t frame_bytes = kFrameHeaderBytes + scan.page_bytes;
  // With a damaged header the first frame says which generation this is.
  std::uint32_t salt1 = base::load_u32_be(log.data() + 16);
  std::uint32_t salt2 = base::load_u32_be(log.data() + 20);
  if (!is_whole && log.size() >= kHeaderBytes + frame_bytes) {
    salt1 = base::load_u32_be(log.data() + kHeaderBytes + 8);
    salt2 = base::load_u32_be(log.data() + kHeaderBytes + 12);
  }
  const bool has_whole_header = is_whole;
  std::size_t finished_frames = 0, finished_before = 0, end = kHeaderBytes;
  for (std::size_t at = kHeaderBytes; at + frame_bytes <= log.size(); at += frame_bytes) {
    const std::uint8_t* header = log.data() + at;
    // Frames left over from older generations differ in both salts; a flipped bit is in one.
    const bool has_salt1 = base::load_u32_be(header + 8) == salt1;
    const bool has_salt2 = base::load_u32_be(header + 12) == salt2;
    if (!has_salt1 && !has_salt2) {
      is_whole = false;
      continue;
    }
    running.add({header, 8}, is_big_endian);
    running.add(log.subspan(at + kFrameHeaderBytes, scan.page_bytes), is_big_endian);
    is_whole = is_whole && has_salt1 && has_salt2 && running == Checksum::stored(header + 16);
    end = at + frame_bytes;
    const std::uint32_t commit_pages = base::load_u32_be(header + 4);
    scan.frames.push_back({at + kFrameHeaderBytes, base::load_u32_be(header), commit_pages});
    if (commit_pages == 0) continue;
    finished_before = std::exchange(finished_frames, scan.frames.size());
    ++(is_whole ? scan.kept_commits : scan.lost_commits);
  }
  // A transaction is synced before the next one begins. When only the last one is damaged, the
  // power may have gone while it was written, its frames in any order, and nobody was told that it
  // is kept.
  if (has_whole_header && scan.lost_commits == 1) {
    scan.lost_commits = 0;
    finished_frames = finished_before;
  }
  CUZK_ASSERT(finished_frames <= scan.frames.size() && end <= log.size());
  scan.unfinished_bytes = (scan.frames.size() - finished_frames) * frame_bytes;
  // A piece of a frame after the last one; after older generations it would be theirs.
  if (log.size() - end < frame_bytes) scan.unfinished_bytes += log.size() - end;
  scan.frames.resize(finished_frames);
  return scan;
}

}  // namespace cuzk::engine::internal

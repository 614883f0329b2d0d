// Reading SQLite's write-ahead log without SQLite, which drops whatever follows a damaged frame
// and says nothing. The layout is in https://www.sqlite.org/fileformat2.html, section 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"

namespace cuzk::engine::internal {

// One page image in the log.
struct LogFrame {
  std::size_t offset = 0;          // of the page's bytes in the log
  std::uint32_t page = 0;          // number, from 1
  std::uint32_t commit_pages = 0;  // last frame of a transaction: pages of the database; else 0
};

struct LogScan {
  std::size_t page_bytes = 0;
  // All frames of the log's generation to the last one that ends a transaction, damaged or not.
  std::vector<LogFrame> frames;
  std::uint64_t kept_commits = 0;  // transactions that SQLite will see
  std::uint64_t lost_commits = 0;  // ones behind damage, which it will not see
  // After the last transaction: of one that was being written. A damaged last transaction counts
  // here, as it cannot be told from that.
  std::uint64_t unfinished_bytes = 0;
};

// Never fails: bytes that are no log at all give an empty scan.
LogScan scan_log(base::ByteSpan log);

}  // namespace cuzk::engine::internal

// Streams in the place of files: pipes by name and by number, sockets, and what is neither.
#include "base/input_file.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temporary_folder.h"

namespace cuzk::base {
namespace {

namespace fs = std::filesystem;
using cuzk::testing::TemporaryFolder;

// Not a multiple of any page or growth, and larger than several of them.
constexpr std::size_t kLongBytes = (std::size_t{5} << 20) + 123;

Bytes pattern(std::size_t size) {
  Bytes out(size);
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::uint8_t>(i * 31 + i / 4096);
  return out;
}

// Writes in pieces until all is written or nobody reads any more, then closes.
void write_and_close(int descriptor, const Bytes& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t piece = std::min<std::size_t>(bytes.size() - at, 50'000);
    const ssize_t count = ::write(descriptor, bytes.data() + at, piece);
    if (count <= 0) break;
    at += static_cast<std::size_t>(count);
  }
  ::close(descriptor);
}

bool equal(ByteSpan found, const Bytes& expected) {
  return std::equal(found.begin(), found.end(), expected.begin(), expected.end());
}

class InputFile : public ::testing::Test {
 protected:
  // A reader that goes away early must not end the test's process.
  void SetUp() override { ::signal(SIGPIPE, SIG_IGN); }

  fs::path fifo() {
    const fs::path path = folder_ / "fifo";
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    return path;
  }
  // A pipe whose reading end is known by its number, as a shell's <(...) is.
  struct Pipe {
    int ends[2] = {-1, -1};
    Pipe() { EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0); }
    ~Pipe() { ::close(ends[0]); }
    std::string name() const { return "/dev/fd/" + std::to_string(ends[0]); }
  };

  TemporaryFolder folder_;
};

TEST_F(InputFile, RegularFilesAreMappedAndTakeNothingOfTheLedger) {
  const Bytes bytes = pattern(1000);
  ASSERT_TRUE(write_file(folder_ / "file", bytes).ok());
  Ledger ledger(1);
  const auto file = open_input(folder_ / "file", {.size_bytes_max = 10, .ledger = &ledger});
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_TRUE(equal((*file)->bytes(), bytes));
  EXPECT_NE((*file)->identity().inode, 0u);
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 0u);
}

TEST_F(InputFile, APipeIsReadToItsEndAndCounted) {
  const fs::path path = fifo();
  const Bytes bytes = pattern(kLongBytes);
  std::jthread writer([&] { write_and_close(::open(path.c_str(), O_WRONLY), bytes); });
  Ledger ledger;
  {
    const auto file = open_input(path, {.ledger = &ledger});
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_EQ((*file)->name(), path.string());
    EXPECT_TRUE(equal((*file)->bytes(), bytes));
    (*file)->advise(FileAccess::kSequential);
    // What is held is what is needed, to the page.
    EXPECT_GE(ledger.snapshot().of(MemoryCategory::kInput).used_bytes, kLongBytes);
    EXPECT_LE(ledger.snapshot().of(MemoryCategory::kInput).used_bytes, kLongBytes + (64 << 10));
  }
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 0u) << "the pages outlive their file";
}

// The end of a stream is only seen after room was made for more.
TEST_F(InputFile, AStreamThatFillsItsPagesHoldsNoMore) {
  const Bytes bytes = pattern(std::size_t{1} << 18);
  const Pipe pipe;
  std::jthread writer([&] { write_and_close(pipe.ends[1], bytes); });
  Ledger ledger;
  const auto file = open_input(pipe.name(), {.ledger = &ledger});
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_TRUE(equal((*file)->bytes(), bytes));
  EXPECT_LE(ledger.snapshot().total.used_bytes, bytes.size() + (64 << 10));
}

TEST_F(InputFile, DescriptorsByNameAreRead) {
  const Bytes bytes = pattern(300'000);
  const Pipe pipe;
  std::jthread writer([&] { write_and_close(pipe.ends[1], bytes); });
  const auto file = open_input(pipe.name());
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_TRUE(equal((*file)->bytes(), bytes));
  // A second reading finds the end; the descriptor was not closed.
  const auto again = open_input(pipe.name());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE((*again)->bytes().empty());
}

// As `writer > fifo & cuzk ... < fifo`: the name is reopened by nobody, so no writer is waited for.
TEST_F(InputFile, ANamedPipeByItsNumberWhoseWriterIsGoneIsReadToItsEnd) {
  const fs::path path = fifo();
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const Bytes bytes = pattern(1000);
  write_and_close(::open(path.c_str(), O_WRONLY), bytes);
  const auto file = open_input("/proc/self/fd/" + std::to_string(reader));
  ::close(reader);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_TRUE(equal((*file)->bytes(), bytes));
}

TEST_F(InputFile, SocketsAreRead) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const Bytes bytes = pattern(kLongBytes);
  std::jthread writer([&] { write_and_close(ends[1], bytes); });
  const auto file = open_input("/dev/fd/" + std::to_string(ends[0]));
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_TRUE(equal((*file)->bytes(), bytes));
  writer.join();
  ::close(ends[0]);
}

TEST_F(InputFile, AStreamIsNotReadBeyondItsLimit) {
  const Bytes bytes = pattern(100'000);
  const auto read = [&](std::uint64_t limit) {
    const Pipe pipe;
    std::jthread writer([&] { write_and_close(pipe.ends[1], bytes); });
    const auto file = open_input(pipe.name(), {.size_bytes_max = limit});
    // The rest, so that the writer ends.
    (void)open_input(pipe.name());
    return file;
  };
  EXPECT_TRUE(read(bytes.size()).ok());
  const auto refused = read(bytes.size() - 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kMalformed);
  EXPECT_NE(refused.error().message.find("a stream of more than"), std::string::npos);
  EXPECT_NE(refused.error().message.find("/dev/fd/"), std::string::npos);
}

TEST_F(InputFile, AStreamTakesNoMoreThanTheLedgerGives) {
  const Bytes bytes = pattern(kLongBytes);
  const Pipe pipe;
  std::jthread writer([&] { write_and_close(pipe.ends[1], bytes); });
  Ledger ledger(kLongBytes / 2);
  const auto refused = open_input(pipe.name(), {.ledger = &ledger});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kResourceExhausted);
  EXPECT_NE(refused.error().message.find("read into memory"), std::string::npos);
  EXPECT_EQ(ledger.snapshot().total.used_bytes, 0u);
  (void)open_input(pipe.name());
}

TEST_F(InputFile, AStopEndsTheWaitForAWriter) {
  const fs::path path = fifo();
  std::stop_source stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop.request_stop();
  });
  const auto nobody = open_input(path, {.stop = stop.get_token()});
  ASSERT_FALSE(nobody.ok());
  EXPECT_EQ(nobody.error().kind, ErrorKind::kCancelled);
  // A writer that is there and writes nothing is no different.
  const Pipe pipe;
  const auto silent = open_input(pipe.name(), {.stop = stop.get_token()});
  ::close(pipe.ends[1]);
  ASSERT_FALSE(silent.ok());
  EXPECT_EQ(silent.error().kind, ErrorKind::kCancelled);
}

TEST_F(InputFile, DevicesFoldersAndWhatIsNotThereAreRefused) {
  const auto device = open_input("/dev/zero");
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().kind, ErrorKind::kIo);
  EXPECT_EQ(device.error().message, "/dev/zero: a device, expected a regular file or a pipe");
  const auto folder = open_input(folder_ / "");
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().kind, ErrorKind::kIo);
  const auto missing = open_input(folder_ / "nothing");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  const auto closed = open_input("/dev/fd/987");
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.error().kind, ErrorKind::kIo);
}

}  // namespace
}  // namespace cuzk::base

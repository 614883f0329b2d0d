// Mapping and atomic writing, on real files in a folder of the test's own.
#include "base/file.h"

#include <cstdlib>
#include <fstream>
#include <set>
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

class FileTest : public ::testing::Test {
 protected:
  std::set<std::string> names() const {
    std::set<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      out.insert(entry.path().filename().string());
    }
    return out;
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

  const cuzk::testing::TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

using MappedFileTest = FileTest;
using AtomicFileTest = FileTest;

TEST_F(MappedFileTest, ShowsTheBytesAndTheNameAsGiven) {
  const fs::path path = folder_ / "key";
  ASSERT_TRUE(write_file(path, std::string_view("hello")).ok());
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(std::string((*file)->bytes().begin(), (*file)->bytes().end()), "hello");
  EXPECT_EQ((*file)->size_bytes(), 5u);
  EXPECT_EQ((*file)->name(), path.string());
  (*file)->advise(FileAccess::kSequential);
  (*file)->advise(FileAccess::kRandom);
}

TEST_F(MappedFileTest, OutlivesTheRemovalOfTheName) {
  const fs::path path = folder_ / "key";
  ASSERT_TRUE(write_file(path, std::string_view("bytes")).ok());
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok());
  fs::remove(path);
  EXPECT_EQ((*file)->bytes()[4], 's');
}

TEST_F(MappedFileTest, AcceptsAnEmptyFile) {
  const fs::path path = folder_ / "empty";
  ASSERT_TRUE(write_file(path, std::string_view()).ok());
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE((*file)->bytes().empty());
}

TEST_F(MappedFileTest, SaysWhyAFileCannotBeOpened) {
  const auto missing = MappedFile::open(folder_ / "nothing");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(missing.error().message.find("nothing"), std::string::npos);

  const auto folder = MappedFile::open(folder_);
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().kind, ErrorKind::kIo);

  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  const auto pipe = MappedFile::open(folder_ / "pipe");
  ASSERT_FALSE(pipe.ok());
  EXPECT_NE(pipe.error().message.find("not a regular file"), std::string::npos);
}

TEST_F(MappedFileTest, TellsVersionsApartByIdentity) {
  const fs::path path = folder_ / "key";
  ASSERT_TRUE(write_file(path, std::string_view("one")).ok());
  const auto first = MappedFile::open(path), again = MappedFile::open(path);
  ASSERT_TRUE(write_file(path, std::string_view("two")).ok());
  const auto second = MappedFile::open(path);
  ASSERT_TRUE(first.ok() && again.ok() && second.ok());
  EXPECT_EQ((*first)->identity(), (*again)->identity());
  EXPECT_NE((*first)->identity(), (*second)->identity());
  EXPECT_EQ((*first)->bytes()[0], 'o') << "a replaced file keeps its old mapping";
}

TEST_F(MappedFileTest, WrapsBytesInMemory) {
  const auto file = MappedFile::of_bytes({1, 2, 3}, "request body");
  EXPECT_EQ(file->bytes()[2], 3);
  EXPECT_EQ(file->name(), "request body");
  EXPECT_EQ(file->size_bytes(), 3u);
}

TEST_F(MappedFileTest, ReadsBeyondFourGiB) {
  const fs::path path = folder_ / "sparse";
  const std::uint64_t size = (std::uint64_t{1} << 32) + 4096;
  { std::ofstream create(path); }
  std::error_code error;
  fs::resize_file(path, size, error);
  if (error) GTEST_SKIP() << "this file system has no sparse files of 4 GiB";
  std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(static_cast<std::streamoff>(size - 1));
  stream.put('x');
  stream.close();
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->size_bytes(), size);
  EXPECT_EQ((*file)->bytes()[size - 1], 'x');
  EXPECT_EQ((*file)->bytes()[4095], 0);
}

TEST_F(AtomicFileTest, AppearsUnderItsNameOnlyWhenCommitted) {
  const fs::path path = folder_ / "proof.json";
  auto file = AtomicFile::create(path);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write(Bytes{'a', 'b'}).ok());
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(names().size(), 1u) << "the temporary file is in the same folder";
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(text_of(path), "ab");
  EXPECT_EQ(names(), std::set<std::string>{"proof.json"});
}

TEST_F(AtomicFileTest, FailsAtSyncWhenTheDiskIsFull) {
  auto file = AtomicFile::create("/dev/full");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write(Bytes{1, 2, 3}).ok());  // still in the buffer
  const Status synced = file->sync();
  ASSERT_FALSE(synced.ok());
  EXPECT_EQ(synced.error().kind, ErrorKind::kResourceExhausted);
}

TEST_F(AtomicFileTest, SyncsBeforeItTakesItsName) {
  const auto path = folder_ / "synced";
  auto file = AtomicFile::create(path);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->write(Bytes{1, 2, 3}).ok());
  ASSERT_TRUE(file->sync().ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(file->write(Bytes{4}).ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(std::filesystem::file_size(path), 4u);
}

TEST_F(AtomicFileTest, LeavesNothingWhenDropped) {
  const fs::path path = folder_ / "key";
  ASSERT_TRUE(write_file(path, std::string_view("old")).ok());
  {
    auto file = AtomicFile::create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write(Bytes(1 << 20, 7)).ok());
  }
  EXPECT_EQ(text_of(path), "old");
  EXPECT_EQ(names(), std::set<std::string>{"key"});
}

TEST_F(AtomicFileTest, MovesItsDutyAlong) {
  const fs::path path = folder_ / "key";
  auto file = AtomicFile::create(path);
  ASSERT_TRUE(file.ok());
  {
    AtomicFile moved = std::move(*file);
    ASSERT_TRUE(moved.write(Bytes{'x'}).ok());
    EXPECT_EQ(moved.offset_bytes(), 1u);
    ASSERT_TRUE(moved.commit().ok());
  }
  EXPECT_EQ(text_of(path), "x");
}

TEST_F(AtomicFileTest, KeepsTheOrderOfSmallAndLargePieces) {
  const fs::path path = folder_ / "key";
  auto file = AtomicFile::create(path);
  ASSERT_TRUE(file.ok());
  Bytes expected;
  for (std::size_t size : {1u, 300000u, 5u, 262144u, 17u, 1u << 20, 3u}) {
    const Bytes piece(size, static_cast<std::uint8_t>(size));
    expected.insert(expected.end(), piece.begin(), piece.end());
    ASSERT_TRUE(file->write(piece).ok());
  }
  EXPECT_EQ(file->offset_bytes(), expected.size());
  ASSERT_TRUE(file->commit().ok());
  const auto found = read_file(path, expected.size());
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, expected);
}

TEST_F(AtomicFileTest, RespectsUmaskAndKeepsTheModeOfTheOldFile) {
  const mode_t old_mask = ::umask(022);
  ASSERT_TRUE(write_file(folder_ / "new", std::string_view("x")).ok());
  struct stat info = {};
  ASSERT_EQ(::stat((folder_ / "new").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0644u);
  for (const mode_t mode : {0600u, 0664u, 0440u}) {
    ASSERT_EQ(::chmod((folder_ / "new").c_str(), mode), 0);
    ASSERT_TRUE(write_file(folder_ / "new", std::string_view("y")).ok());
    ASSERT_EQ(::stat((folder_ / "new").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, mode);
  }
  ::umask(old_mask);
}

TEST_F(AtomicFileTest, FollowsASymbolicLink) {
  fs::create_directory(folder_ / "store");
  fs::create_symlink("store/real", folder_ / "link");
  ASSERT_TRUE(write_file(folder_ / "link", std::string_view("first")).ok());
  ASSERT_TRUE(write_file(folder_ / "link", std::string_view("second")).ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(text_of(folder_ / "store" / "real"), "second");
}

TEST_F(AtomicFileTest, WritesThroughAPipe) {
  const fs::path path = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string found;
  std::thread reader([&] { found = text_of(path); });
  EXPECT_TRUE(write_file(path, std::string_view("through")).ok());
  reader.join();
  EXPECT_EQ(found, "through");
  EXPECT_TRUE(fs::is_fifo(path));
}

// As `cuzk prove --proof /dev/stdout | ...` and `--proof >(...)` have it.
TEST_F(AtomicFileTest, WritesToAPipeThatIsNamedByItsDescriptor) {
  for (const std::string folder : {"/dev/fd/", "/proc/self/fd/"}) {
    int ends[2] = {};
    ASSERT_EQ(::pipe(ends), 0);
    const Status written =
        write_file(folder + std::to_string(ends[1]), std::string_view("through"));
    EXPECT_TRUE(written.ok()) << written.error().message;
    ::close(ends[1]);
    EXPECT_EQ(text_of("/dev/fd/" + std::to_string(ends[0])), "through");
    ::close(ends[0]);
  }
}

// A socket cannot be opened by name, whatever the name: what it is open as is used.
TEST_F(AtomicFileTest, WritesToASocketThatIsNamedByItsDescriptor) {
  int ends[2] = {};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const Status written = write_file("/dev/fd/" + std::to_string(ends[1]), std::string_view("ab"));
  EXPECT_TRUE(written.ok()) << written.error().message;
  char found[2] = {};
  EXPECT_EQ(::read(ends[0], found, sizeof found), 2);
  EXPECT_EQ(std::string(found, 2), "ab");
  ::close(ends[0]);
  ::close(ends[1]);
}

// As `cuzk prove --proof /dev/stdout >> log` has it: what was there stays.
TEST_F(AtomicFileTest, WritesBehindWhatAnOpenFileHolds) {
  const int log = ::open((folder_ / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(log, 0);
  ASSERT_EQ(::write(log, "one ", 4), 4);
  ASSERT_TRUE(write_file("/dev/fd/" + std::to_string(log), std::string_view("two ")).ok());
  ASSERT_EQ(::write(log, "three", 5), 5);
  ::close(log);
  EXPECT_EQ(text_of(folder_ / "log"), "one two three");
  const auto closed = AtomicFile::create("/dev/fd/" + std::to_string(log));
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.error().kind, ErrorKind::kIo);
}

// Before the work, not when its result is to be given its name.
TEST_F(AtomicFileTest, RefusesANameThatNoRenameCouldGive) {
  const auto too_long = AtomicFile::create(folder_ / std::string(256, 'a'));
  ASSERT_FALSE(too_long.ok());
  EXPECT_NE(too_long.error().message.find("too long"), std::string::npos)
      << too_long.error().message;
  EXPECT_TRUE(write_file(folder_ / std::string(255, 'a'), std::string_view("x")).ok());
  fs::create_symlink("circle", folder_ / "circle");
  EXPECT_FALSE(AtomicFile::create(folder_ / "circle").ok());
}

TEST_F(AtomicFileTest, SaysWhyAFileCannotBeWritten) {
  const auto no_folder = AtomicFile::create(folder_ / "absent" / "file");
  ASSERT_FALSE(no_folder.ok());
  EXPECT_EQ(no_folder.error().kind, ErrorKind::kNotFound);
  const auto folder = AtomicFile::create(folder_);
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().kind, ErrorKind::kIo);
}

TEST_F(AtomicFileTest, CallsAFullDiskExhausted) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  const Status status = write_file("/dev/full", std::string_view("x"));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kResourceExhausted);
}

TEST_F(AtomicFileTest, WritersOfOneNameDoNotMix) {
  const fs::path path = folder_ / "key";
  std::vector<std::thread> writers;
  for (char c = 'a'; c < 'i'; ++c) {
    writers.emplace_back([&, c] {
      EXPECT_TRUE(write_file(path, Bytes(100000, static_cast<std::uint8_t>(c))).ok());
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string text = text_of(path);
  EXPECT_EQ(text, std::string(100000, text.empty() ? '?' : text[0]));
  EXPECT_EQ(names().size(), 1u);
}

TEST_F(FileTest, ReadFileRefusesWhatIsLongerThanAllowed) {
  const fs::path path = folder_ / "big";
  ASSERT_TRUE(write_file(path, Bytes(1000, 1)).ok());
  EXPECT_TRUE(read_file(path, 1000).ok());
  const auto result = read_file(path, 999);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("999"), std::string::npos);
  EXPECT_FALSE(read_file(folder_ / "absent", 10).ok());
}

}  // namespace
}  // namespace cuzk::base

// What may stand at the place of a socket.
#include "service/unix_socket.h"

#include <atomic>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/support/temporary_folder.h"

namespace cuzk::service {
namespace {

using base::ErrorKind;
using cuzk::testing::TemporaryFolder;

// A bound socket; listens when asked to.
class Server {
 public:
  Server(const std::filesystem::path& path, bool listens)
      : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.string().size());
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    if (listens) {
      EXPECT_EQ(::listen(socket_, 1), 0);
    }
  }
  ~Server() { ::close(socket_); }

 private:
  int socket_;
};

template <class T>
ErrorKind kind_of(const base::Result<T>& status) {
  EXPECT_FALSE(status.ok());
  return status.ok() ? ErrorKind::kInternal : status.error().kind;
}

TEST(UnixSocket, TakesAFreePlace) {
  const TemporaryFolder folder;
  EXPECT_TRUE(SocketPlace::take(folder / "free").ok());
}

TEST(UnixSocket, ReplacesOneThatNobodyListensOn) {
  const TemporaryFolder folder;
  { const Server gone(folder / "stale", true); }
  ASSERT_TRUE(std::filesystem::exists(folder / "stale"));
  EXPECT_TRUE(SocketPlace::take(folder / "stale").ok());
  EXPECT_FALSE(std::filesystem::exists(folder / "stale"));
}

TEST(UnixSocket, RefusesALiveOne) {
  const TemporaryFolder folder;
  const Server alive(folder / "live", true);
  const auto status = SocketPlace::take(folder / "live");
  EXPECT_EQ(kind_of(status), ErrorKind::kAlreadyExists);
  EXPECT_NE(status.error().message.find("another server"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder / "live"));
}

TEST(UnixSocket, KeepsWhatIsNoSocket) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "precious";
  std::filesystem::create_directory(folder / "folder");
  std::filesystem::create_symlink(folder / "file", folder / "link");
  for (const char* name : {"file", "folder", "link"}) {
    EXPECT_EQ(kind_of(SocketPlace::take(folder / name)), ErrorKind::kAlreadyExists) << name;
    EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
  }
  EXPECT_EQ(std::filesystem::file_size(folder / "file"), 8u);
}

TEST(UnixSocket, RefusesPlacesThatCannotBe) {
  const TemporaryFolder folder;
  EXPECT_EQ(kind_of(SocketPlace::take(folder.path() / "no" / "folder")), ErrorKind::kNotFound);
  EXPECT_EQ(kind_of(SocketPlace::take(folder / std::string(120, 'x'))),
            ErrorKind::kInvalidArgument);
}

// Two daemons that start at once: the one that is about to listen has the place, although nobody
// answers there yet, and the other one leaves it alone.
TEST(UnixSocket, APlaceIsTakenByOneAtATime) {
  const TemporaryFolder folder;
  { const Server gone(folder / "s", true); }
  auto first = SocketPlace::take(folder / "s");
  ASSERT_TRUE(first.ok()) << first.error().message;
  const Server bound(folder / "s", false);
  const auto second = SocketPlace::take(folder / "s");
  EXPECT_EQ(kind_of(second), ErrorKind::kAlreadyExists);
  EXPECT_NE(second.error().message.find("another server"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder / "s"));
  // The holder's end frees it, and leaves nothing beside the socket.
  first->release();
  EXPECT_FALSE(std::filesystem::exists(folder / "s.lock"));
  EXPECT_TRUE(SocketPlace::take(folder / "s").ok());
}

// Of any number that race for a place, also one that is just being given up, one at a time has it.
TEST(UnixSocket, APlaceIsNeverHeldTwice) {
  const TemporaryFolder folder;
  std::atomic<int> holders{0}, taken_count{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        auto place = SocketPlace::take(folder / "s");
        if (!place.ok()) continue;
        EXPECT_EQ(++holders, 1);
        ++taken_count;
        --holders;
        place->release();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(taken_count, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "s.lock"));
}

TEST(UnixSocket, ALockThatCannotBeTakenIsNamed) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "s.lock");
  const auto place = SocketPlace::take(folder / "s");
  EXPECT_EQ(kind_of(place), ErrorKind::kIo);
  EXPECT_NE(place.error().message.find("s.lock"), std::string::npos);
}

TEST(UnixSocket, GetsItsRights) {
  const TemporaryFolder folder;
  const Server server(folder / "s", true);
  ASSERT_TRUE(set_socket_mode(folder / "s", 0600).ok());
  struct stat found = {};
  ASSERT_EQ(::stat((folder / "s").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777u, 0600u);
  EXPECT_EQ(kind_of(set_socket_mode(folder / "none", 0600)), ErrorKind::kIo);
}

}  // namespace
}  // namespace cuzk::service

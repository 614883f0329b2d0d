// What may stand at the place of a socket.
#include "service/unix_socket.h"

#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/fsuid.h>
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
  std::filesystem::create_symlink(folder / "none", folder / "t.lock");
  ASSERT_EQ(::mkfifo((folder / "u.lock").c_str(), 0600), 0);  // nobody writes; not waited for
  for (const std::string name : {"s", "t", "u"}) {
    const auto place = SocketPlace::take(folder / name);
    EXPECT_EQ(kind_of(place), ErrorKind::kIo) << name;
    EXPECT_NE(place.error().message.find(name + ".lock cannot be taken"), std::string::npos);
    EXPECT_EQ(place.error().message.find("remove it"), std::string::npos);
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "none"));
}

// Calls `body` as a user who is neither this file's owner nor root. Of one thread only, so others
// keep their rights.
void as_another_user(const std::function<void()>& body) {
  std::thread([&] {
    if (::geteuid() == 0) ::setfsuid(65534);
    body();
  }).join();
}

// Goal: who may not look is told what to do, and nothing is removed. Rights of 0 keep an owner who
// is not root out too.
TEST(UnixSocket, WhatAnotherUsersDaemonLeftIsNamed) {
  const TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  const auto refused = [&] {
    base::Error error;
    as_another_user([&] {
      const auto place = SocketPlace::take(folder / "s");
      EXPECT_EQ(kind_of(place), ErrorKind::kIo);
      if (!place.ok()) error = place.error();
    });
    return error.message;
  };
  const std::string remedy = "; where no daemon listens there any more, remove it";
  std::ofstream(folder / "s.lock").close();
  std::filesystem::permissions(folder / "s.lock", std::filesystem::perms(0));
  EXPECT_EQ(refused(), (folder / "s").string() + ": its lock " + (folder / "s.lock").string() +
                           " cannot be taken: Permission denied" + remedy);
  std::filesystem::permissions(folder / "s.lock", std::filesystem::perms(0444));
  { const Server gone(folder / "s", true); }
  std::filesystem::permissions(folder / "s", std::filesystem::perms(0));
  EXPECT_EQ(refused(),
            (folder / "s").string() + ": is a socket that this user may not connect to" + remedy);
  EXPECT_TRUE(std::filesystem::exists(folder / "s"));
  // The folder's rights are no file's to remove.
  std::filesystem::remove(folder / "s.lock");
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  EXPECT_EQ(refused().find("remove it"), std::string::npos);
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
}

// Folders like /tmp: the system may refuse to open what another user made where the call would make
// it, so a lock file that is there is only opened. Of a system that does not, nothing is seen here.
TEST(UnixSocket, ALockLeftInAFolderOfAllUsersIsTaken) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs the right to give a file away";
  const TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(01777));
  std::ofstream(folder / "s.lock").close();
  if (::chown((folder / "s.lock").c_str(), 65534, 65534) != 0) {
    GTEST_SKIP() << "this container gives no file away";
  }
  const auto place = SocketPlace::take(folder / "s");
  EXPECT_TRUE(place.ok()) << place.error().message;
}

// A stranger who holds the lock keeps a daemon from starting.
TEST(UnixSocket, NobodyElseCanHoldTheLock) {
  const TemporaryFolder folder;
  const auto place = SocketPlace::take(folder / "s");
  ASSERT_TRUE(place.ok());
  struct stat found = {};
  ASSERT_EQ(::stat((folder / "s.lock").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0077u, 0u);
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

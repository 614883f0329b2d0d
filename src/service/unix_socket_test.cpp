// What may stand at the place of a socket.
#include "service/unix_socket.h"

#include <cstring>
#include <fstream>
#include <string>

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

ErrorKind kind_of(const base::Status& status) {
  EXPECT_FALSE(status.ok());
  return status.ok() ? ErrorKind::kInternal : status.error().kind;
}

TEST(UnixSocket, TakesAFreePlace) {
  const TemporaryFolder folder;
  EXPECT_TRUE(clear_unix_socket(folder / "free").ok());
}

TEST(UnixSocket, ReplacesOneThatNobodyListensOn) {
  const TemporaryFolder folder;
  { const Server gone(folder / "stale", true); }
  ASSERT_TRUE(std::filesystem::exists(folder / "stale"));
  EXPECT_TRUE(clear_unix_socket(folder / "stale").ok());
  EXPECT_FALSE(std::filesystem::exists(folder / "stale"));
}

TEST(UnixSocket, RefusesALiveOne) {
  const TemporaryFolder folder;
  const Server alive(folder / "live", true);
  const auto status = clear_unix_socket(folder / "live");
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
    EXPECT_EQ(kind_of(clear_unix_socket(folder / name)), ErrorKind::kAlreadyExists) << name;
    EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
  }
  EXPECT_EQ(std::filesystem::file_size(folder / "file"), 8u);
}

TEST(UnixSocket, RefusesPlacesThatCannotBe) {
  const TemporaryFolder folder;
  EXPECT_EQ(kind_of(clear_unix_socket(folder.path() / "no" / "folder")), ErrorKind::kNotFound);
  EXPECT_EQ(kind_of(clear_unix_socket(folder / std::string(120, 'x'))),
            ErrorKind::kInvalidArgument);
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

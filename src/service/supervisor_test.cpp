// What arrives at systemd's socket.
#include "service/supervisor.h"

#include <map>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/support/temporary_folder.h"

namespace cuzk::service {
namespace {

class SupervisorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = folder_.file("notify");
    socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_un at = {};
    at.sun_family = AF_UNIX;
    path_.copy(at.sun_path, sizeof at.sun_path - 1);
    ASSERT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    set_["NOTIFY_SOCKET"] = path_;
  }
  void TearDown() override { ::close(socket_); }
  Supervisor supervisor() {
    return Supervisor([this](const char* name) { return set_[name]; });
  }
  std::string received() {
    char text[512];
    const ssize_t size = ::recv(socket_, text, sizeof text, 0);
    return size <= 0 ? std::string() : std::string(text, static_cast<std::size_t>(size));
  }

  cuzk::testing::TemporaryFolder folder_;
  std::string path_;
  std::map<std::string, std::string> set_;
  int socket_ = -1;
};

TEST_F(SupervisorTest, HearsEachState) {
  const Supervisor supervisor = this->supervisor();
  EXPECT_TRUE(supervisor.present());
  supervisor.ready("at 127.0.0.1:1\nREADY=0");
  EXPECT_EQ(received(), "READY=1\nSTATUS=at 127.0.0.1:1 READY=0") << "a status is one line";
  supervisor.reloading();
  EXPECT_EQ(received().substr(0, 27), "RELOADING=1\nMONOTONIC_USEC=");
  supervisor.stopping("3 jobs run");
  EXPECT_EQ(received(), "STOPPING=1\nSTATUS=3 jobs run");
  supervisor.alive();
  EXPECT_EQ(received(), "WATCHDOG=1");
}

TEST_F(SupervisorTest, KnowsItsWatchdog) {
  set_["WATCHDOG_USEC"] = "30000000";
  EXPECT_EQ(supervisor().watchdog_interval(), std::chrono::milliseconds(30'000));
  set_["WATCHDOG_PID"] = "1";
  EXPECT_FALSE(supervisor().watchdog_interval()) << "that of another process";
  set_.erase("WATCHDOG_PID");
  for (const char* odd : {"", "x", "0", "-5"}) {
    set_["WATCHDOG_USEC"] = odd;
    EXPECT_FALSE(supervisor().watchdog_interval()) << odd;
  }
}

TEST_F(SupervisorTest, AbsentOrGoneItIsNoTrouble) {
  ::unlink(path_.c_str());
  supervisor().ready("nobody hears");
  set_["NOTIFY_SOCKET"] = "relative";
  EXPECT_FALSE(supervisor().present());
  set_["NOTIFY_SOCKET"] = ("/" + std::string(500, 'a')).c_str();
  supervisor().ready("too long to be a socket");
  set_.erase("NOTIFY_SOCKET");
  EXPECT_FALSE(supervisor().present());
  supervisor().alive();
}

}  // namespace
}  // namespace cuzk::service

// Signals in child processes: the flag, the second signal, the grace, and what is removed.
#include "base/interrupt.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace cuzk::base {
namespace {

namespace fs = std::filesystem;

std::string partial_file(const char* name) {
  const fs::path path =
      fs::path(::testing::TempDir()) / (std::string(name) + std::to_string(::getpid()));
  std::ofstream(path) << "half";
  return path.string();
}

TEST(InterruptDeathTest, FirstSignalSetsTheFlagForOrderlyWork) {
  const auto orderly = [] {
    install_interrupt_handlers();
    if (interrupted()) std::_Exit(1);
    ::raise(SIGINT);
    std::_Exit(interrupted() ? 77 : 2);
  };
  EXPECT_EXIT(orderly(), ::testing::ExitedWithCode(77), "");
}

TEST(InterruptDeathTest, SecondSignalEndsAndRemovesPartialFiles) {
  const std::string left = partial_file("left"), removed = partial_file("removed");
  const auto twice = [&] {
    install_interrupt_handlers();
    { const PartialFileGuard finished(left); }
    const PartialFileGuard unfinished(removed);
    if (!unfinished.registered()) std::_Exit(1);
    ::raise(SIGINT);
    ::raise(SIGTERM);
  };
  EXPECT_EXIT(twice(), ::testing::ExitedWithCode(kInterruptedExitCode), "interrupted");
  EXPECT_TRUE(fs::exists(left));
  EXPECT_FALSE(fs::exists(removed));
  fs::remove(left);
}

TEST(InterruptDeathTest, WorkThatDoesNotLookIsEndedAfterTheGrace) {
  const std::string removed = partial_file("slow");
  const auto deaf = [&] {
    install_interrupt_handlers();
    const PartialFileGuard unfinished(removed);
    ::raise(SIGTERM);
    std::this_thread::sleep_for(std::chrono::seconds(60));
  };
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EXIT(deaf(), ::testing::ExitedWithCode(kInterruptedExitCode), "interrupted");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_FALSE(fs::exists(removed));
}

TEST(PartialFileGuard, HasSixteenPlacesAndReusesThem) {
  {
    std::vector<std::unique_ptr<PartialFileGuard>> guards;
    for (int i = 0; i < 16; ++i) guards.push_back(std::make_unique<PartialFileGuard>("x"));
    for (const auto& guard : guards) EXPECT_TRUE(guard->registered());
    EXPECT_FALSE(PartialFileGuard("y").registered());
  }
  EXPECT_TRUE(PartialFileGuard("z").registered());
  EXPECT_FALSE(PartialFileGuard(std::string(5000, 'a')).registered());
}

}  // namespace
}  // namespace cuzk::base

// Which backend the options mean where no device is needed, and what is said where one is missing.
//
// Holds on machines with and without a card; proving on one is for bench/cuda_prove.
#include "apps/cuzk/backend_choice.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::apps {
namespace {

using C = curve::Bn254;

TEST(BackendChoice, CpuAndSmallCircuitsNeedNoDevice) {
  for (const char* backend : {"cpu", "auto"}) {
    BackendChoice choice;
    choice.backend = backend;
    std::string told;
    const auto made = make_chosen_backend<C>(choice, 10, &told);
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_EQ((*made)->name(), "cpu");
    EXPECT_EQ(told, "cpu");
  }
}

TEST(BackendChoice, AutoNeverFailsForLackOfADevice) {
  const auto made = make_chosen_backend<C>({}, 27, nullptr);
  EXPECT_TRUE(made.ok());
}

TEST(BackendChoice, ADeviceThatIsAskedForAndNotThereIsAnError) {
  for (const char* backend : {"cuda", "auto"}) {
    BackendChoice choice;
    choice.backend = backend;
    choice.devices = {"GPU-00000000-0000-0000-0000-000000000000"};
    std::string told;
    const auto made = make_chosen_backend<C>(choice, 10, &told);
    ASSERT_FALSE(made.ok());
    // Without CUDA in the build, without a driver, or without such a card.
    EXPECT_THAT(made.error().kind,
                ::testing::AnyOf(base::ErrorKind::kUnsupported, base::ErrorKind::kUnavailable,
                                 base::ErrorKind::kNotFound));
    EXPECT_FALSE(made.error().message.empty());
  }
  if (cuda::is_built_in()) return;
  BackendChoice choice;
  choice.backend = "cuda";
  EXPECT_THAT(make_chosen_backend<C>(choice, 20, nullptr).error().message,
              ::testing::HasSubstr("CUZK_CUDA=ON"));
}

TEST(BackendChoice, SharingNeedsDevicesToo) {
  BackendChoice choice;
  choice.split = true;
  choice.devices = {"GPU-00000000-0000-0000-0000-000000000000"};
  choice.backend = "cuda";
  EXPECT_FALSE(make_chosen_backend<C>(choice, 20, nullptr).ok());
  choice.backend = "cpu";
  EXPECT_TRUE(make_chosen_backend<C>(choice, 20, nullptr).ok());
}

TEST(BackendChoice, OptionsAreReadAndChecked) {
  const auto parse = [](std::vector<std::string> words, BackendChoice& choice) {
    CLI::App app;
    add_backend_options(app, choice);
    std::reverse(words.begin(), words.end());
    app.parse(words);
  };
  BackendChoice choice;
  parse({"--backend", "cuda", "--device", "0", "--device", "17:00.0", "--vram", "8GiB"}, choice);
  EXPECT_EQ(choice.backend, "cuda");
  EXPECT_THAT(choice.devices, ::testing::ElementsAre("0", "17:00.0"));
  EXPECT_EQ(choice.vram, "8GiB");
  EXPECT_FALSE(choice.split);
  parse({"--backend", "cuda", "--split"}, choice);
  EXPECT_TRUE(choice.split);
  BackendChoice wrong;
  EXPECT_THROW(parse({"--backend", "gpu"}, wrong), CLI::ParseError);
  EXPECT_THROW(parse({"--vram", "8"}, wrong), CLI::ParseError) << "8 what?";
  EXPECT_THROW(parse({"--vram", "8G"}, wrong), CLI::ParseError);
  parse({"--vram", "8000000000"}, choice);
  EXPECT_EQ(choice.vram, "8000000000");
}

}  // namespace
}  // namespace cuzk::apps

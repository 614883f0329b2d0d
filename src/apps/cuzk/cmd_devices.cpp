// cuzk devices: the cards that this process sees and whether they compute what they should.
//
// A card that computes wrongly does so silently; the known-answer test is what a prover runs before
// it trusts one (cuda/backend.h), and here its verdict can be had without proving.
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "apps/cuzk/commands.h"
#include "base/byte_size.h"
#include "cuda/backend.h"

namespace cuzk::apps {
namespace {

struct DevicesRequest {
  bool skips_test = false;
};

// Exit code "no" when a device failed its test; the others are tested all the same.
base::Result<Answer> show_devices(const DevicesRequest& request, Session& session) {
  session.stage("asking the driver");
  CUZK_TRY(const auto devices, cuda::list_devices());
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::string text;
  std::size_t failed_count = 0;
  for (const auto& device : devices) {
    std::string state = "not tested";
    if (!request.skips_test) {
      session.stage("known-answer test of device " + std::to_string(device.index));
      const auto status = cuda::test_device(device.uuid);
      state = status.ok() ? "passed" : status.error().message;
      failed_count += status.ok() ? 0 : 1;
    }
    list.push_back(
        {{"index", device.index},
         {"name", device.name},
         {"uuid", device.uuid},
         {"pci_address", device.pci_address},
         {"capability", fmt::format("{}.{}", device.capability / 10, device.capability % 10)},
         {"memory_bytes", device.memory_bytes},
         {"memory_free_bytes", device.memory_free_bytes},
         {"known_answer_test", state}});
    text += fmt::format("{}  {}  {}  {}  {} ({} free)  known-answer test: {}\n", device.index,
                        device.name, device.uuid, device.pci_address,
                        base::format_byte_size(device.memory_bytes),
                        base::format_byte_size(device.memory_free_bytes), state);
  }
  if (!text.empty()) text.pop_back();
  CUZK_ASSERT(failed_count <= devices.size());
  Answer answer(text, failed_count == 0 ? kExitYes : kExitNo);
  answer.add("device_count", devices.size(), "").add("devices", std::move(list), "");
  return answer;
}

}  // namespace

void add_devices_command(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<DevicesRequest>();
  CLI::App* command =
      add_command(app, invocation, "devices",
                  "List the CUDA devices and test whether they compute correctly", "cuzk devices");
  command->add_flag("--no-test", request->skips_test, "Only list them");
  command->callback([&invocation, request] {
    invocation.action = [request](Session& session) { return show_devices(*request, session); };
  });
}

}  // namespace cuzk::apps

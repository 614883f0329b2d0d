// Cards are asked for once, at the start.
#include "apps/cuzk/daemon_devices.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apps/jobs/proof_stages.h"
#include "cuda/backend.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using service::CpuUse;

// Free and all memory of a card as the driver tells it now; zeros when it does not.
std::pair<std::uint64_t, std::uint64_t> memory_of(const std::string& uuid) {
  const auto reports = cuda::list_devices();
  if (!reports.ok()) return {0, 0};
  for (const cuda::DeviceReport& report : *reports) {
    if (report.uuid == uuid) return {report.memory_free_bytes, report.memory_bytes};
  }
  return {0, 0};
}

base::Result<engine::ProvingDevice> make_card(const cuda::DeviceReport& report,
                                              std::uint32_t worker_count) {
  cuda::BackendOptions options;
  options.device = report.uuid;
  options.lanes = std::max(1u, worker_count);
  engine::ProvingDevice device;
  device.name = report.name;
  device.identifier = report.uuid;
  device.worker_count = worker_count;
  CUZK_TRY(device.bls12_381, cuda::make_backend<curve::Bls12_381>(options));
  CUZK_TRY(device.bn254, cuda::make_backend<curve::Bn254>(options));
  device.free_and_total_bytes = [uuid = report.uuid] { return memory_of(uuid); };
  return device;
}

// All cards of the configuration that work; those that it names have to.
base::Result<DaemonDevices> find_cards(const service::Config::Gpus& config) {
  CUZK_TRY(const std::vector<cuda::DeviceReport> reports, cuda::list_devices());
  DaemonDevices cards;
  for (const std::uint32_t wanted : config.devices) {
    if (wanted < reports.size()) continue;
    return Error{ErrorKind::kNotFound, fmt::format("gpus.devices: found {}, but there are {} cards",
                                                   wanted, reports.size())};
  }
  for (const cuda::DeviceReport& report : reports) {
    const auto index = static_cast<std::uint32_t>(report.index);
    const bool named =
        std::find(config.devices.begin(), config.devices.end(), index) != config.devices.end();
    if (!config.devices.empty() && !named) continue;
    auto card = make_card(report, config.gpu_workers_per_device);
    if (card.ok()) {
      cards.remarks.push_back(
          fmt::format("proving on card {}: {} ({})", report.index, report.name, report.uuid));
      cards.devices.push_back(std::move(card).value());
    } else if (named) {
      return std::move(card).error();
    } else {
      cards.remarks.push_back(fmt::format("card {} ({}) is not used: {}", report.index, report.name,
                                          card.error().message));
    }
  }
  if (cards.devices.empty()) return Error{ErrorKind::kUnavailable, "no card can be used"};
  return cards;
}

}  // namespace

base::Result<DaemonDevices> find_devices(const service::Config::Gpus& config) {
  DaemonDevices found;
  if (config.cpu != CpuUse::kOnly) {
    auto cards = find_cards(config);
    if (cards.ok()) {
      found = std::move(cards).value();
    } else if (config.cpu == CpuUse::kNever || !config.devices.empty()) {
      return std::move(cards).error().within("the configuration wants a card");
    } else {
      found.remarks.push_back("no card is used: " + cards.error().message);
    }
  }
  if (config.cpu == CpuUse::kNever) return found;
  engine::ProvingDevice cpu = make_cpu_device();
  cpu.fallback_only = !found.devices.empty();
  found.remarks.emplace_back(cpu.fallback_only ? "the CPU takes what failed on a card"
                                               : "proving on the CPU");
  found.devices.insert(found.devices.begin(), std::move(cpu));
  return found;
}

}  // namespace cuzk::apps

// Cards are asked for once, at the start.
//
// Of one that cannot be used the reason is kept as a remark for the log, unless the configuration
// names it: then the daemon must not start without it. With share_proofs all usable cards stand as
// one device, which the scheduler sees as such.
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

// Of each card, with a lane of its own: a critical proof begins at once, beside those under way.
constexpr std::uint32_t kCriticalWorkers = 1;
static_assert(kCriticalWorkers > 0);  // a lane and a worker: else critical work waits for a proof

// Free and all memory of a card as the driver tells it now; zeros when it does not.
std::pair<std::uint64_t, std::uint64_t> memory_of(const std::string& uuid) {
  const auto reports = cuda::list_devices();
  if (!reports.ok()) return {0, 0};
  for (const cuda::DeviceReport& report : *reports) {
    if (report.uuid == uuid) return {report.memory_free_bytes, report.memory_bytes};
  }
  return {0, 0};
}

// What cuda::streamed_bytes says of all these cards together.
std::pair<std::uint64_t, std::uint64_t> streamed_by(const std::vector<int>& indices) {
  std::pair<std::uint64_t, std::uint64_t> sum{0, 0};
  for (const int index : indices) {
    const cuda::StreamedBytes of_card = cuda::streamed_bytes(index);
    sum.first += of_card.uploaded_bytes;
    sum.second += of_card.shared_bytes;
  }
  return sum;
}

// Lanes are what a backend proves on at once: as many as workers that call it.
cuda::BackendOptions options_of(const cuda::DeviceReport& report,
                                const service::Config::Gpus& config) {
  cuda::BackendOptions options;
  options.device = report.uuid;
  options.lanes = config.gpu_workers_per_device + kCriticalWorkers;
  options.vram_limit_bytes = config.memory_bytes_max.value_or(0);
  return options;
}

// A backend for each curve over one card. Errors: why it cannot be used.
base::Result<engine::ProvingDevice> make_card(const cuda::DeviceReport& report,
                                              const service::Config::Gpus& config) {
  const cuda::BackendOptions options = options_of(report, config);
  engine::ProvingDevice device;
  device.name = report.name;
  device.identifier = report.uuid;
  device.worker_count = config.gpu_workers_per_device;
  device.critical_worker_count = kCriticalWorkers;
  CUZK_TRY(device.bls12_381, cuda::make_backend<curve::Bls12_381>(options));
  CUZK_TRY(device.bn254, cuda::make_backend<curve::Bn254>(options));
  CUZK_ASSERT(device.bls12_381 != nullptr && device.bn254 != nullptr);
  device.free_and_total_bytes = [uuid = report.uuid] { return memory_of(uuid); };
  device.streamed_and_shared_bytes = [index = report.index] { return streamed_by({index}); };
  return device;
}

// Cards that make each proof together, as one device.
base::Result<engine::ProvingDevice> make_shared_card(const std::vector<cuda::DeviceReport>& reports,
                                                     const service::Config::Gpus& config) {
  CUZK_ASSERT(reports.size() > 1);
  cuda::SplitOptions split;
  engine::ProvingDevice device;
  device.name = fmt::format("{} cards together", reports.size());
  device.worker_count = config.gpu_workers_per_device;
  device.critical_worker_count = kCriticalWorkers;
  std::vector<int> indices;
  for (const cuda::DeviceReport& report : reports) {
    indices.push_back(report.index);
    split.devices.push_back(options_of(report, config));
    device.identifier += (device.identifier.empty() ? "" : "+") + report.uuid;
  }
  CUZK_TRY(device.bls12_381, cuda::make_split_backend<curve::Bls12_381>(split));
  CUZK_TRY(device.bn254, cuda::make_split_backend<curve::Bn254>(split));
  device.free_and_total_bytes = [reports] {
    std::pair<std::uint64_t, std::uint64_t> sum{0, 0};
    for (const cuda::DeviceReport& report : reports) {
      const auto [free, total] = memory_of(report.uuid);
      sum.first += free;
      sum.second += total;
    }
    return sum;
  };
  device.streamed_and_shared_bytes = [indices] { return streamed_by(indices); };
  return device;
}

// The cards that the configuration names, or all.
base::Result<std::vector<cuda::DeviceReport>> wanted_cards(const service::Config::Gpus& config) {
  CUZK_TRY(std::vector<cuda::DeviceReport> reports, cuda::list_devices());
  // A number without a card is an error even where other cards are there: it is a slip of the pen
  // or a card that is gone, and both should be seen.
  for (const std::uint32_t wanted : config.devices) {
    if (wanted < reports.size()) continue;
    return Error{ErrorKind::kNotFound, fmt::format("gpus.devices: found {}, but there are {} cards",
                                                   wanted, reports.size())};
  }
  std::erase_if(reports, [&](const cuda::DeviceReport& report) {
    const auto& named = config.devices;
    return !named.empty() && std::find(named.begin(), named.end(),
                                       static_cast<std::uint32_t>(report.index)) == named.end();
  });
  return reports;
}

// All cards of the configuration that work; those that it names have to.
base::Result<DaemonDevices> find_cards(const service::Config::Gpus& config) {
  CUZK_TRY(std::vector<cuda::DeviceReport> reports, wanted_cards(config));
  DaemonDevices cards;
  std::vector<cuda::DeviceReport> usable;
  for (const cuda::DeviceReport& report : reports) {
    auto card = make_card(report, config);
    if (card.ok()) {
      cards.remarks.push_back(
          fmt::format("proving on card {}: {} ({})", report.index, report.name, report.uuid));
      cards.devices.push_back(std::move(card).value());
      usable.push_back(report);
    } else if (!config.devices.empty()) {
      return std::move(card).error();
    } else {
      cards.remarks.push_back(fmt::format("card {} ({}) is not used: {}", report.index, report.name,
                                          card.error().message));
    }
  }
  CUZK_ASSERT(cards.devices.size() == usable.size());
  if (cards.devices.empty()) return Error{ErrorKind::kUnavailable, "no card can be used"};
  // The single devices have shown that each card works; the shared one takes their place.
  if (config.share_proofs && usable.size() > 1) {
    CUZK_TRY(auto shared, make_shared_card(usable, config));
    cards.devices.clear();
    cards.devices.push_back(std::move(shared));
    cards.remarks.push_back(fmt::format("the {} cards make each proof together", usable.size()));
  }
  return cards;
}

}  // namespace

// The CPU beside cards takes only what failed there or finds no room. That there is no card is fine
// unless the configuration forbids the CPU; a card that it names has to be there in any case.
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
  CUZK_ASSERT(config.cpu != CpuUse::kNever || !found.devices.empty());
  if (config.cpu == CpuUse::kNever) return found;
  engine::ProvingDevice cpu = make_cpu_device();
  cpu.fallback_only = !found.devices.empty();
  found.remarks.emplace_back(cpu.fallback_only
                                 ? "the CPU takes what failed on a card or has no room there"
                                 : "proving on the CPU");
  found.devices.insert(found.devices.begin(), std::move(cpu));
  return found;
}

}  // namespace cuzk::apps

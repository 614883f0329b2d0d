// cuda_prove_suite [check] [shared] [vectors] [pinned-fault] [tables] [time] [limits] [tight]
//                  [devices] [full LOG2] [vram MIB] [fault|shared-fault] [quick|tiny]
//                  [device NAME] [data FOLDER]... [c1 FILE] [proofs N]
//
// check: byte equality of proofs on all circuits found; shared: of those that share uploads;
// vectors: of those whose vectors lie on the host;
// pinned-fault: of those made while pinned memory is refused; tables: when tables of multiples are
// made and who gets their memory, and with time or full the times with and without; check has all.
// limits: the same under limits of device memory; tight: under those alone that send vectors to the
// host. time: stage times and the steady rate of PoRep
// proofs. devices: PoRep proofs on all visible devices beside one. full: a proof of 2^LOG2 rows.
// fault: a device is broken on purpose.
#include <chrono>

#include "base/ledger.h"
#include "bench/cuda_prove/prove_suite.h"

namespace cuzk::bench::cuda_prove {

double Clock::now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
double Clock::ms() const { return now_ms() - begin_ms_; }

namespace {

Options read_options(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool has_value = i + 1 < count;
    if (word == "check") options.checks = true;
    if (word == "time") options.times = true;
    if (word == "limits") options.limits = true;
    if (word == "devices") options.devices = true;
    if (word == "quick" || word == "tiny") options.quick = true;
    if (word == "tiny") options.tiny = true;
    if (word == "fault") options.fault = true;
    if (word == "shared") options.shared = true;
    if (word == "tables") options.tables = true;
    if (word == "vectors") options.vectors = true;
    if (word == "tight" || word == "limits") options.tight = true;
    if (word == "vram" && has_value) {
      options.vram_bytes = std::strtoull(words[++i], nullptr, 10) << 20;
    }
    if (word == "pinned-fault") options.pinned_fault = true;
    if (word == "shared-fault") options.shared_fault = true;
    if (word == "full" && has_value) options.full_log2 = std::strtoul(words[++i], nullptr, 10);
    if (word == "device" && has_value) options.device = words[++i];
    if (word == "data" && has_value) options.data.emplace_back(words[++i]);
    if (word == "c1" && has_value) options.c1 = words[++i];
    if (word == "proofs" && has_value) {
      options.proofs = static_cast<unsigned>(std::strtoul(words[++i], nullptr, 10));
    }
  }
  return options;
}

int run(const Options& options) {
  Report report;
  const auto devices = ::cuzk::cuda::list_devices();
  if (!devices.ok() || devices->empty()) {
    std::printf("no device: %s\n", devices.ok() ? "none found" : devices.error().message.c_str());
    return 2;
  }
  for (const auto& device : *devices) {
    std::printf("device %d: %s, %s, %s, sm_%d, %.1f GiB, %.1f GiB free\n", device.index,
                device.name.c_str(), device.uuid.c_str(), device.pci_address.c_str(),
                device.capability, double(device.memory_bytes) / (1 << 30),
                double(device.memory_free_bytes) / (1 << 30));
    const Clock clock;
    if (options.quick) break;  // its sums take a checker minutes
    report.expect_ok(::cuzk::cuda::test_device(device.uuid), "known-answer test");
    std::printf("known-answer test of device %d: %.0f ms\n", device.index, clock.ms());
  }
  if (options.checks) check_circuits(report, options);
  if (options.checks) check_robustness(report, options);
  if (options.checks || options.shared) check_shared_uploads(report, options);
  if ((options.checks && !options.tiny) || options.tables) check_tables(report, options);
  // These run no other kernels with shared memory: race checkers, who see tiny circuits, would
  // learn nothing from them.
  if ((options.checks && !options.tiny) || options.vectors) check_vectors(report, options);
  if ((options.checks && !options.tiny) || options.pinned_fault) {
    check_pinned_faults(report, options);
  }
  if (!options.c1.empty()) run_porep(report, options);
  if (options.full_log2 != 0) run_full(report, options);
  if (options.fault) run_fault(report, options);
  if (options.shared_fault) run_shared_fault(report, options);
  report.section("all");
  return report.failure_count() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cuzk::bench::cuda_prove

int main(int count, char** words) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was said before a crash is seen
  return cuzk::bench::cuda_prove::run(cuzk::bench::cuda_prove::read_options(count, words));
}

// cuda_suite [check] [time] [quick|tiny] [memory|field|ntt|msm|forms|setup|split] [device NAME]:
// all checks, then all timings, by default. cuda_suite trace|sweep [ntt|msm] size LOG2 is for
// profilers and for tuning.
#include <charconv>

#include "bench/cuda/suite.h"
#include "cuda/device/stream.h"

namespace cuzk::bench::cuda {

double Suite::median_ms(int repeats, const std::function<base::Status()>& work) {
  using ::cuzk::cuda::device::Event;
  std::vector<double> times;
  for (int i = 0; i <= repeats; ++i) {
    auto begin = Event::create(), end = Event::create();
    if (!expect_ok(begin, "event") || !expect_ok(end, "event")) return 0;
    expect_ok(stream_.record(*begin), "record");
    if (!expect_ok(work(), "timed work")) return 0;
    expect_ok(stream_.record(*end), "record");
    if (!expect_ok(end->synchronize(), "timed work")) return 0;
    auto elapsed = end->milliseconds_since(*begin);
    if (!expect_ok(elapsed, "elapsed")) return 0;
    if (i > 0) times.push_back(*elapsed);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

namespace {

struct Options {
  bool checks = false, times = false, quick = false, tiny = false, traces = false, sweeps = false;
  std::size_t size_log2 = 22;
  std::string only, device = "0";
};

// A part of the suite: its checks, then its timings. In this order, so that what is built upon is
// checked first.
struct Section {
  const char* name;
  void (*check)(Suite&);
  void (*time)(Suite&);
};
constexpr Section kSections[] = {
    {"memory", check_memory, time_memory},
    {"field", check_fields, time_fields},
    {"ntt", check_transforms, time_transforms},
    {"msm", check_multiplications, time_multiplications},
    {"forms", check_forms_of_multiplication, time_forms_of_multiplication},
    {"setup", check_fixed_bases, time_fixed_bases},
    {"split", check_splits, time_splits},
};

Options read_options(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "check") options.checks = true;
    if (word == "time") options.times = true;
    if (word == "quick") options.quick = true;
    if (word == "tiny") options.tiny = true;
    for (const Section& section : kSections) {
      if (word == section.name) options.only = word;
    }
    if (word == "trace") options.traces = true;
    if (word == "sweep") options.sweeps = true;
    if (word == "size" && i + 1 < count) {
      const std::string number = words[++i];
      std::from_chars(number.data(), number.data() + number.size(), options.size_log2);
    }
    if (word == "device" && i + 1 < count) options.device = words[++i];
  }
  if (options.traces || options.sweeps) return options;
  if (!options.checks && !options.times) options.checks = options.times = true;
  return options;
}

// 0: all checks hold; 1: some do not; 2: there is no device to check.
int run(const Options& options) {
  auto device = ::cuzk::cuda::device::find_device(options.device);
  if (!device.ok()) {
    std::printf("no device: %s\n", device.error().message.c_str());
    return 2;
  }
  std::printf("device %d: %s, %s, %s, sm_%d, %d multiprocessors, %d MHz, %llu MiB\n", device->index,
              device->name.c_str(), device->uuid.c_str(), device->pci_address.c_str(),
              device->capability, device->multiprocessor_count, device->clock_khz / 1000,
              static_cast<unsigned long long>(device->memory_bytes >> 20));
  if (!::cuzk::cuda::device::use_device(*device).ok()) return 2;
  auto stream = ::cuzk::cuda::device::Stream::create();
  if (!stream.ok()) return 2;
  Suite suite(std::move(stream).value(), options.quick, options.tiny);
  const auto wanted = [&](const char* name) {
    return options.only.empty() || options.only == name;
  };
  for (const Section& section : kSections) {
    if (!wanted(section.name)) continue;
    if (options.checks) section.check(suite);
    if (options.times) section.time(suite);
  }
  if (wanted("ntt") && options.traces) trace_transforms(suite, options.size_log2);
  if (wanted("msm") && options.traces) trace_multiplications(suite, options.size_log2);
  if (wanted("ntt") && options.sweeps) sweep_transforms(suite, options.size_log2);
  if (wanted("msm") && options.sweeps) sweep_multiplications(suite, options.size_log2);
  suite.section("all");
  return suite.failure_count() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cuzk::bench::cuda

int main(int count, char** words) {
  return cuzk::bench::cuda::run(cuzk::bench::cuda::read_options(count, words));
}

// Devices come up one after the other; one that cannot be used is told and left out.
//
// The rule of "auto": what the user named has to work, what was only found may fail. A device that
// fails later, in the middle of a proof, is the pool's affair (cuda/device_pool.h), which under
// "auto" has the CPU to fall back to.
#include "apps/cuzk/backend_choice.h"

#include <CLI/CLI.hpp>

#include "base/log.h"
#include "base/memory_size.h"
#include "cuda/device_pool.h"

namespace cuzk::apps {
namespace {

// Below it the CPU has proved before a device's context and its test are there.
constexpr std::size_t kWorthADeviceLog2 = 18;

std::string check_size(const std::string& text) {
  const auto bytes = base::parse_memory_size(text);
  return bytes.ok() ? std::string() : bytes.error().message;
}

template <class C>
using Shared = std::shared_ptr<groth16::Backend<C>>;

template <class C>
Shared<C> cpu_backend() {
  return Shared<C>(groth16::make_cpu_backend<C>());
}

// The names of the devices that were asked for; without any, of all that the driver shows, by UUID:
// indices move when a card is taken out between two calls.
base::Result<std::vector<std::string>> device_names(const BackendChoice& choice) {
  if (!choice.devices.empty()) return choice.devices;
  CUZK_TRY(const auto all, cuda::list_devices());
  std::vector<std::string> names;
  for (const auto& device : all) names.push_back(device.uuid);
  return names;
}

base::Result<cuda::BackendOptions> device_options(const BackendChoice& choice) {
  cuda::BackendOptions options;
  if (!choice.vram.empty()) {
    CUZK_TRY(options.vram_limit_bytes, base::parse_memory_size(choice.vram));
    if (options.vram_limit_bytes == 0) {
      return base::Error{base::ErrorKind::kInvalidArgument,
                         "--vram: found " + choice.vram + ", expected more than nothing"};
    }
  }
  return options;
}

// All devices as one that makes each proof together. Here each of them has to come up, named or
// not.
template <class C>
base::Result<std::vector<typename cuda::DevicePool<C>::Member>> sharing_devices(
    const BackendChoice& choice) {
  CUZK_TRY(const auto options, device_options(choice));
  CUZK_TRY(const auto names, device_names(choice));
  cuda::SplitOptions split;
  for (const std::string& name : names) {
    split.devices.push_back(options);
    split.devices.back().device = name;
  }
  CUZK_TRY(auto backend, cuda::make_split_backend<C>(split));
  return std::vector<typename cuda::DevicePool<C>::Member>{{"all", std::move(backend)}};
}

// A backend for each usable device. Fails when none is, or when one that was named is not.
template <class C>
base::Result<std::vector<typename cuda::DevicePool<C>::Member>> device_members(
    const BackendChoice& choice) {
  if (choice.split) return sharing_devices<C>(choice);
  CUZK_TRY(auto options, device_options(choice));
  CUZK_TRY(const auto names, device_names(choice));
  std::vector<typename cuda::DevicePool<C>::Member> members;
  // All reasons are told together: the first is not always the one that matters.
  std::string reasons;
  for (const std::string& name : names) {
    options.device = name;
    auto backend = cuda::make_backend<C>(options);
    if (backend.ok()) {
      members.push_back({name, std::move(backend).value()});
      continue;
    }
    if (!choice.devices.empty()) return backend.error();
    base::log(base::LogLevel::kWarning, backend.error().message);
    reasons += (reasons.empty() ? "" : "; ") + backend.error().message;
  }
  if (members.empty()) {
    return base::Error{base::ErrorKind::kUnavailable, "no device can be used: " + reasons};
  }
  return members;
}

}  // namespace

// Words are checked here, devices only when a backend is made: a driver should not be called for
// --help.
void add_backend_options(CLI::App& command, BackendChoice& choice) {
  command
      .add_option("--backend", choice.backend,
                  "Where to prove: cpu, cuda, or auto (devices for large circuits, if any)")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}).description(""))
      ->type_name("cpu|cuda|auto")
      ->default_str("auto");
  command
      .add_option("--device", choice.devices,
                  "A device to use, by index, UUID or PCI address; may be repeated\n"
                  "(default: all visible ones)")
      ->allow_extra_args(false)
      ->type_name("NAME");
  command
      .add_option("--vram", choice.vram,
                  "Most memory to take on each device, e.g. 8GiB (default: what is free)")
      ->check(CLI::Validator(check_size, ""))
      ->type_name("SIZE");
  command.add_flag("--split", choice.split,
                   "Let all devices share each proof: one is there sooner, many later");
}

template <class C>
base::Result<std::shared_ptr<groth16::Backend<C>>> make_chosen_backend(const BackendChoice& choice,
                                                                       std::size_t domain_log2,
                                                                       std::string* told) {
  const auto tell = [told](const char* word) {
    if (told != nullptr) *told = word;
  };
  CUZK_ASSERT(choice.backend == "auto" || choice.backend == "cpu" || choice.backend == "cuda");
  const bool is_auto = choice.backend == "auto";
  const bool wants_device =
      choice.backend == "cuda" ||
      (is_auto &&
       (!choice.devices.empty() || (cuda::is_built_in() && domain_log2 >= kWorthADeviceLog2)));
  tell("cpu");
  if (!wants_device) return cpu_backend<C>();
  auto members = device_members<C>(choice);
  if (!members.ok()) {
    // A device that was named is meant; without names "auto" does with what there is.
    if (!is_auto || !choice.devices.empty()) return members.error();
    return cpu_backend<C>();
  }
  CUZK_ASSERT(!members->empty());
  tell("cuda");
  return Shared<C>(std::make_shared<cuda::DevicePool<C>>(std::move(members).value(),
                                                         is_auto ? cpu_backend<C>() : nullptr));
}

template base::Result<std::shared_ptr<groth16::Backend<curve::Bls12_381>>> make_chosen_backend(
    const BackendChoice&, std::size_t, std::string*);
template base::Result<std::shared_ptr<groth16::Backend<curve::Bn254>>> make_chosen_backend(
    const BackendChoice&, std::size_t, std::string*);

}  // namespace cuzk::apps

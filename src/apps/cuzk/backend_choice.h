// Which processor proves: --backend, --device, --vram and --split, and the backend that they mean.
//
// For commands that prove in their own process; the daemon has daemon_devices.h, which gives the
// engine one device each instead of a pool. This is where the command meets src/cuda, which in a
// build without CUDA answers that there is none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cuda/backend.h"
#include "groth16/backend.h"

namespace CLI {
class App;
}  // namespace CLI

namespace cuzk::apps {

// As the options were given; nothing is checked beyond their form until a backend is made.
struct BackendChoice {
  // "cpu", "cuda", or "auto": devices for circuits that are worth their start, if there are any,
  // and the CPU for the rest and when devices fail.
  std::string backend = "auto";
  // Indices, UUIDs or PCI addresses; none: all visible devices.
  std::vector<std::string> devices;
  std::string vram;  // most device memory on each, a size; empty: what is free
  // Whether all devices share each proof, which is then there sooner; else each makes its own, and
  // many are there sooner.
  bool split = false;
};

// Adds the four options to a command.
void add_backend_options(CLI::App& command, BackendChoice& choice);

// A backend that keeps what it learns of keys, so one a command. Nothing of CUDA is called for
// "cpu" or for a small circuit under "auto". Errors for "cuda": kUnsupported in a build without it,
// kUnavailable without a driver or a usable device, kNotFound for a device's name,
// kInvalidArgument for a size. `told`, if not null, gets a word for the answer: "cpu", "cuda", ...
template <class C>
base::Result<std::shared_ptr<groth16::Backend<C>>> make_chosen_backend(const BackendChoice& choice,
                                                                       std::size_t domain_log2,
                                                                       std::string* told);

extern template base::Result<std::shared_ptr<groth16::Backend<curve::Bls12_381>>>
make_chosen_backend(const BackendChoice&, std::size_t, std::string*);
extern template base::Result<std::shared_ptr<groth16::Backend<curve::Bn254>>> make_chosen_backend(
    const BackendChoice&, std::size_t, std::string*);

}  // namespace cuzk::apps

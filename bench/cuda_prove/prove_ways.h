// The ways of making a proof on devices that must all give the CPU's bytes.
//
// A way is made when it is its turn and dropped before the next: a device has one limit of memory
// in a process, and each way sets its own.
#pragma once

#include <utility>

#include "bench/cuda_prove/prove_suite.h"

namespace cuzk::bench::cuda_prove {

// A name for reports, and the backend that it stands for. No known-answer test: the checks are one.
struct Way {
  std::string name;
  ::cuzk::cuda::BackendOptions options;
  // Names of devices that share each proof; none: the one of `options` makes it.
  std::vector<std::string> sharing;

  template <class C>
  base::Result<std::shared_ptr<groth16::Backend<C>>> make() const {
    if (sharing.empty()) return ::cuzk::cuda::make_backend<C>(options);
    ::cuzk::cuda::SplitOptions split;
    split.cuts_finely = true;
    for (const std::string& device : sharing) {
      split.devices.push_back(options);
      split.devices.back().device = device;
    }
    return ::cuzk::cuda::make_split_backend<C>(split);
  }
};

// Everything resident; the same with tables of multiples of all queries that gain by them; B in G2
// on the host; so little memory that keys and matrices pass in pieces; shared by three seats, on
// two devices where there are two and else on one.
std::vector<Way> ways(const Options& options, std::uint64_t little_bytes);

}  // namespace cuzk::bench::cuda_prove

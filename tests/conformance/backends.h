// The one list of backends that the conformance cases run on. A backend that is built in is added
// here and nowhere else; the CPU backend comes first and is what the others are compared with.
#pragma once

#include <memory>
#include <vector>

#include "groth16/backend.h"

namespace cuzk::conformance {

template <class C>
std::vector<std::unique_ptr<groth16::Backend<C>>> registered_backends() {
  std::vector<std::unique_ptr<groth16::Backend<C>>> backends;
  backends.push_back(groth16::make_cpu_backend<C>());
  return backends;
}

}  // namespace cuzk::conformance

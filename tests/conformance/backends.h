// The one list of backends that the conformance cases run on. A backend that is built in is added
// here and nowhere else; the CPU backend comes first and is what the others are compared with.
#pragma once

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "cuda/backend.h"
#include "groth16/backend.h"

namespace cuzk::conformance {

// A backend that is shared, as one that is owned.
template <class C>
class SharedBackend final : public groth16::Backend<C> {
 public:
  using Fr = typename C::Fr;
  explicit SharedBackend(std::shared_ptr<groth16::Backend<C>> inner) : inner_(std::move(inner)) {}
  std::string_view name() const override { return inner_->name(); }
  base::Result<groth16::MemoryPlan> plan(const groth16::ProvingKey<C>& key,
                                         const r1cs::Shape<Fr>& shape,
                                         const r1cs::Assignment<Fr>* assignment) const override {
    return inner_->plan(key, shape, assignment);
  }
  base::Result<std::unique_ptr<groth16::PendingProof<C>>> start(
      const groth16::ProveInputs<C>& inputs, const groth16::Blinding<C>& blinding) override {
    return inner_->start(inputs, blinding);
  }

 private:
  std::shared_ptr<groth16::Backend<C>> inner_;
};

template <class C>
std::vector<std::unique_ptr<groth16::Backend<C>>> registered_backends() {
  std::vector<std::unique_ptr<groth16::Backend<C>>> backends;
  backends.push_back(groth16::make_cpu_backend<C>());
  // Where the build has device code and the machine a device, each case runs there too.
  const auto cards = cuda::list_devices();
  const bool has_card = cards.ok() && !cards->empty();
  auto device = cuda::make_backend<C>({});
  EXPECT_TRUE(device.ok() || !has_card) << device.error().message;
  if (device.ok()) {
    backends.push_back(std::make_unique<SharedBackend<C>>(std::move(device).value()));
    // And cut into parts, as several devices share one.
    cuda::SplitOptions split;
    split.devices.resize(3);
    for (auto& own : split.devices) own.known_answer_test = false;  // it has just run
    split.cuts_finely = true;
    auto parts = cuda::make_split_backend<C>(split);
    EXPECT_TRUE(parts.ok()) << parts.error().message;
    if (parts.ok()) {
      backends.push_back(std::make_unique<SharedBackend<C>>(std::move(parts).value()));
    }
  }
  return backends;
}

}  // namespace cuzk::conformance

// The doors of the room in a build without CUDA: they say so. Built instead of prove/.
//
// So callers link the same names in every build and need no switch of their own; a request for a
// device fails as one sentence that says how to configure, and `auto` goes on with the CPU.
#include "cuda/backend.h"
#include "cuda/measure.h"
#include "cuda/setup/device_multiplier.h"

namespace cuzk::cuda {
namespace {

base::Error not_built_in() {
  return {base::ErrorKind::kUnsupported,
          "this build has no CUDA backend (configure with -DCUZK_CUDA=ON, which needs nvcc)"};
}

}  // namespace

bool is_built_in() noexcept { return false; }

base::Result<std::vector<DeviceReport>> list_devices() { return not_built_in(); }

base::Status test_device(const std::string&, std::uint64_t) { return not_built_in(); }

template <class C>
base::Result<std::shared_ptr<groth16::Backend<C>>> make_backend(const BackendOptions&) {
  return not_built_in();
}

template <class C>
base::Result<std::shared_ptr<groth16::Backend<C>>> make_split_backend(const SplitOptions&) {
  return not_built_in();
}

template <class C>
base::Result<Measured> measure_transform(const std::string&, std::size_t, unsigned) {
  return not_built_in();
}
template <class G>
base::Result<Measured> measure_multiply(const std::vector<std::string>&, std::size_t, unsigned) {
  return not_built_in();
}

namespace setup {

template <class C>
base::Result<std::unique_ptr<groth16::GeneratorMultiplier<C>>> make_device_multiplier(
    const std::string&, std::size_t) {
  return not_built_in();
}
template base::Result<std::unique_ptr<groth16::GeneratorMultiplier<cuzk::curve::Bls12_381>>>
make_device_multiplier(const std::string&, std::size_t);
template base::Result<std::unique_ptr<groth16::GeneratorMultiplier<cuzk::curve::Bn254>>>
make_device_multiplier(const std::string&, std::size_t);

}  // namespace setup

CUZK_CUDA_MEASURE(, cuzk::curve::Bls12_381)
CUZK_CUDA_MEASURE(, cuzk::curve::Bn254)
template base::Result<std::shared_ptr<groth16::Backend<cuzk::curve::Bls12_381>>> make_backend(
    const BackendOptions&);
template base::Result<std::shared_ptr<groth16::Backend<cuzk::curve::Bn254>>> make_backend(
    const BackendOptions&);
template base::Result<std::shared_ptr<groth16::Backend<cuzk::curve::Bls12_381>>> make_split_backend(
    const SplitOptions&);
template base::Result<std::shared_ptr<groth16::Backend<cuzk::curve::Bn254>>> make_split_backend(
    const SplitOptions&);

}  // namespace cuzk::cuda

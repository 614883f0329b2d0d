// A device that is lost while it holds a key: the proof that meets it fails, the pool makes it on
// the CPU, and nobody is answered from the device again. Comes last: the process loses the device.
#include "bench/cuda_prove/prove_suite.h"
#include "bench/cuda_prove/trap.h"
#include "cuda/device_pool.h"
#include "groth16/setup.h"
#include "groth16/test_circuits.h"

namespace cuzk::bench::cuda_prove {

void run_fault(Report& report, const Options& options) {
  using C = curve::Bls12_381;
  namespace t = groth16::testing;
  const auto circuit = t::mixed<C::Fr>(500, 8);
  groth16::ProveInputs<C> inputs;
  inputs.shape = circuit.shape();
  inputs.assignment = circuit.assignment();
  const auto key =
      groth16::setup<C>(*inputs.shape, t::test_waste<C>(), groth16::QapConvention::kCoefficients);
  if (!report.expect_ok(key, "key")) return;
  inputs.key = *key;
  ::cuzk::cuda::BackendOptions how;
  how.device = options.device;
  how.known_answer_test = false;
  const auto device = ::cuzk::cuda::make_backend<C>(how);
  if (!report.expect_ok(device, "backend")) return;
  const std::shared_ptr<groth16::Backend<C>> cpu = groth16::make_cpu_backend<C>();
  ::cuzk::cuda::DevicePool<C> pool({{"device", *device}}, cpu);
  // The lost device shares proofs, with another one where there is one.
  const auto devices = ::cuzk::cuda::list_devices();
  const bool are_two = devices.ok() && devices->size() > 1;
  ::cuzk::cuda::SplitOptions split;
  split.cuts_finely = true;
  split.devices = {how, how};
  if (are_two) split.devices[1].device = (*devices)[options.device == "0" ? 1 : 0].uuid;
  const auto shared = ::cuzk::cuda::make_split_backend<C>(split);
  if (!report.expect_ok(shared, "devices that share")) return;
  report.expect_ok(raw_proof<C>(**shared, inputs), "shared proof before the fault");
  const auto before = raw_proof<C>(pool, inputs), expected = raw_proof<C>(*cpu, inputs);
  if (!report.expect_ok(before, "proof before the fault")) return;
  report.expect(*before == *expected, "proof before the fault: other bytes");
  const auto stream = ::cuzk::cuda::device::Stream::create();
  if (!report.expect_ok(stream, "stream")) return;
  const auto broken = run_trap(*stream);
  report.expect(!broken.ok() && broken.error().kind == base::ErrorKind::kUnavailable,
                "a trap loses the device");
  const auto alone = raw_proof<C>(**device, inputs);
  report.expect(!alone.ok() && alone.error().kind == base::ErrorKind::kUnavailable,
                "a lost device says that it is unavailable");
  if (!alone.ok()) std::printf("  %s\n", alone.error().message.c_str());
  const auto elsewhere = raw_proof<C>(pool, inputs);
  if (report.expect_ok(elsewhere, "proof elsewhere")) {
    report.expect(*elsewhere == *expected, "proof elsewhere: other bytes");
  }
  report.expect(!pool.loads()[0].lost.empty(), "the pool knows of the loss");
  // A second device may be left, or lost as well: "the process must be terminated and relaunched"
  // (CUDA Runtime API, cudaErrorLaunchFailure), and some drivers refuse it every call from then on.
  const auto left = raw_proof<C>(**shared, inputs);
  if (left.ok()) {
    report.expect(are_two && *left == *expected, "shared proof on the device that is left");
  } else {
    report.expect(left.error().kind == base::ErrorKind::kUnavailable, left.error().message);
  }
  const auto again = ::cuzk::cuda::make_backend<C>(how);
  report.expect(!again.ok() && again.error().kind == base::ErrorKind::kUnavailable,
                "a lost device is not opened again");
  report.section("a device is lost");
}

}  // namespace cuzk::bench::cuda_prove

// What a caller may ask of a device backend, and the doors of the room: free of CUDA, so that a
// build without it has them too (and refuses with a sentence).
//
// All of the room that a prover needs is behind groth16::Backend; what is declared here makes one,
// says which devices there are, and counts what they were sent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "groth16/backend.h"

namespace cuzk::cuda {

// Where the sum over the B query in G2 runs.
enum class G2Place { kDevice, kHost };

// Tables of multiples of a key's points: sums are shorter with them, proofs the same.
enum class TableUse {
  kByPlan,  // once a key has made so many proofs that they pay, where memory is left for them
  kNever,
  kAtOnce,  // before the first proof, whatever they save: for tests and measurements
};

struct BackendOptions {
  // Index, UUID or PCI address of a visible device (device_name.h).
  std::string device = "0";
  // Most bytes of device memory for keys, circuits and proofs together; 0: what is free when the
  // device is first used. A smaller limit makes proofs slower, not different.
  std::uint64_t vram_limit_bytes = 0;
  // Proofs that may be on the device at once; memory may allow fewer.
  unsigned lanes = 3;
  G2Place b_g2 = G2Place::kDevice;
  // Of keys that are resident; a proof that devices share uses none.
  TableUse tables = TableUse::kByPlan;
  // Whether the known-answer test runs before the first proof; a device that fails is condemned.
  bool known_answer_test = true;
  // Waits for the device at the end of each stage, so that progress stages show device times.
  bool exact_stages = false;
  // Not 0: no query of a key stays on the device, and they pass in pieces of at most so many points
  // (at least 128). For tests: a short limit does it where it must be.
  std::uint64_t streamed_piece_points = 0;
  // Most vectors of a circuit's rows on the device at once, 3 to 0; with fewer than two they wait
  // on the host. For tests: a short limit does it where it must be.
  unsigned vectors_on_device_max = 3;
};

// A visible device as users are told of it.
struct DeviceReport {
  int index = 0;
  std::string name, uuid, pci_address;
  int capability = 0;  // 90 for compute capability 9.0
  // What is free is 0 for a device that cannot be opened, which test_device explains.
  std::uint64_t memory_bytes = 0, memory_free_bytes = 0;
};

// Bytes of keys that do not stay on a device, since the process began: what was copied to it, and
// what further proofs took of the same copies instead of making their own.
struct StreamedBytes {
  std::uint64_t uploaded_bytes = 0, shared_bytes = 0;
};
// Of the device at `device_index` (DeviceReport::index); nothing for one that was never used. The
// two only grow; read at different moments, so their ratio is that of a moment only nearly.
StreamedBytes streamed_bytes(int device_index);

// Whether this build has device code.
bool is_built_in() noexcept;

// All visible devices. kUnavailable without a driver or a device, kUnsupported in a build without
// CUDA.
base::Result<std::vector<DeviceReport>> list_devices();

// Runs the known-answer test on a device: field, transforms, sums and a whole proof of either curve
// against the CPU. Takes about a second. A device that fails is condemned for this process and the
// error says what was wrong; kUnavailable when it is condemned already.
base::Status test_device(const std::string& device, std::uint64_t vram_limit_bytes = 0);

// A backend on one device. The first use of a device takes its context and the test's time. Thread-
// safe: starts from several threads overlap. Errors as list_devices, kNotFound for an unknown name.
template <class C>
base::Result<std::shared_ptr<groth16::Backend<C>>> make_backend(const BackendOptions& options);

// How several devices share one proof.
struct SplitOptions {
  // Of each device; no device twice. `lanes` and `b_g2` of the first count for all.
  std::vector<BackendOptions> devices;
  // Cuts even what is too short to be worth it, and lets a device share with itself: for tests.
  bool cuts_finely = false;
};

// A backend that makes each proof on all of its devices together: for one proof soon, where a
// DevicePool (device_pool.h) makes many. The parts follow the devices' speeds and memory, so keys
// that no card holds alone may fit them all. The bytes are those of one device. A device that is
// lost leaves; the proof is begun anew on the others. Thread-safe. Errors as make_backend,
// kInvalidArgument when a device is named twice or none is.
template <class C>
base::Result<std::shared_ptr<groth16::Backend<C>>> make_split_backend(const SplitOptions& options);

extern template base::Result<std::shared_ptr<groth16::Backend<cuzk::curve::Bls12_381>>>
make_split_backend(const SplitOptions&);
extern template base::Result<std::shared_ptr<groth16::Backend<cuzk::curve::Bn254>>>
make_split_backend(const SplitOptions&);

extern template base::Result<std::shared_ptr<groth16::Backend<cuzk::curve::Bls12_381>>>
make_backend(const BackendOptions&);
extern template base::Result<std::shared_ptr<groth16::Backend<cuzk::curve::Bn254>>> make_backend(
    const BackendOptions&);

}  // namespace cuzk::cuda

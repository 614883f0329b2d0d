// Pieces go up, are multiplied and come back on one stream; the host waits for each.
//
// Points come back to pageable memory at a tenth of the rate at which they are made; that is still
// ten seconds for the 44 GiB of the largest keys, so nothing is overlapped.
#include "cuda/setup/device_multiplier.h"

#include <algorithm>
#include <utility>

#include "cuda/device/device.h"
#include "cuda/setup/fixed_base.h"

namespace cuzk::cuda::setup {
namespace {

// One generator: its table, and room for the points of a piece. `table` is a view of `memory`, so
// they stay together; a move leaves the device's bytes where they are.
template <class G>
struct Generator {
  device::Buffer memory, points;
  FixedBaseTable<G> table;

  static base::Result<Generator> create(const device::Stream& stream, std::size_t piece_count) {
    Generator out;
    CUZK_TRY(out.memory, device::Buffer::create(FixedBaseTable<G>::byte_count()));
    CUZK_TRY(out.points, device::Buffer::create(piece_count * sizeof(cuzk::curve::Affine<G>)));
    CUZK_TRY(out.table, FixedBaseTable<G>::create(
                            stream, G::generator(),
                            out.memory.template span<std::byte>(FixedBaseTable<G>::byte_count())));
    return out;
  }
};

// What is taken in create() stays until the end; multiply() allocates nothing. One stream, so the
// pieces need no order of their own, and one block of scalars is enough.
template <class C>
class DeviceMultiplier : public groth16::GeneratorMultiplier<C> {
 public:
  using Canonical = typename C::FrCanonical;

  // Finds the device, takes all memory, fills both tables and waits for that.
  static base::Result<std::unique_ptr<groth16::GeneratorMultiplier<C>>> create(
      const std::string& name, std::size_t piece_count) {
    CUZK_ASSERT(piece_count > 0);
    auto out = std::unique_ptr<DeviceMultiplier>(new DeviceMultiplier);
    CUZK_TRY(out->device_, device::find_device(name));
    CUZK_TRY_STATUS(device::use_device(out->device_));
    out->piece_count_ = piece_count;
    CUZK_TRY(out->stream_, device::Stream::create());
    CUZK_TRY(out->scalars_, device::Buffer::create(piece_count * sizeof(Canonical)));
    CUZK_TRY(out->g1_, Generator<typename C::G1>::create(out->stream_, piece_count));
    CUZK_TRY(out->g2_, Generator<typename C::G2>::create(out->stream_, piece_count));
    CUZK_TRY_STATUS(out->stream_.synchronize());
    return std::unique_ptr<groth16::GeneratorMultiplier<C>>(std::move(out));
  }
  base::Status multiply(std::span<const Canonical> scalars,
                        std::span<typename C::G1Affine> out) override {
    return multiply_by(g1_, scalars, out);
  }
  base::Status multiply(std::span<const Canonical> scalars,
                        std::span<typename C::G2Affine> out) override {
    return multiply_by(g2_, scalars, out);
  }

 private:
  DeviceMultiplier() = default;

  // By pieces of piece_count_: each is waited for, since the next one writes to the same blocks and
  // its scalars come from memory that the caller may change after the call.
  template <class G>
  base::Status multiply_by(const Generator<G>& generator, std::span<const Canonical> scalars,
                           std::span<cuzk::curve::Affine<G>> out) {
    CUZK_ASSERT(scalars.size() == out.size() && piece_count_ > 0);
    // The caller's thread may have used another device since.
    CUZK_TRY_STATUS(device::use_device(device_));
    for (std::size_t first = 0; first < out.size(); first += piece_count_) {
      const std::size_t count = std::min(piece_count_, out.size() - first);
      const auto on_device = scalars_.template span<Canonical>(count);
      const auto points = generator.points.template span<cuzk::curve::Affine<G>>(count);
      CUZK_TRY_STATUS(device::upload<Canonical>(stream_, on_device, scalars.subspan(first, count)));
      CUZK_TRY_STATUS(generator.table.multiply(stream_, {on_device.data, count},
                                               msm::ScalarForm::kCanonical, points));
      CUZK_TRY_STATUS(
          device::download<cuzk::curve::Affine<G>>(stream_, out.subspan(first, count), points));
      CUZK_TRY_STATUS(stream_.synchronize());
    }
    return base::ok_status();
  }

  device::DeviceInfo device_;
  std::size_t piece_count_ = 0;
  device::Stream stream_;
  device::Buffer scalars_;
  Generator<typename C::G1> g1_;
  Generator<typename C::G2> g2_;
};

}  // namespace

template <class C>
base::Result<std::unique_ptr<groth16::GeneratorMultiplier<C>>> make_device_multiplier(
    const std::string& device, std::size_t piece_count) {
  return DeviceMultiplier<C>::create(device, piece_count);
}

template base::Result<std::unique_ptr<groth16::GeneratorMultiplier<cuzk::curve::Bls12_381>>>
make_device_multiplier(const std::string&, std::size_t);
template base::Result<std::unique_ptr<groth16::GeneratorMultiplier<cuzk::curve::Bn254>>>
make_device_multiplier(const std::string&, std::size_t);

}  // namespace cuzk::cuda::setup

// Host clocks around work that is waited for: what a caller sees.
//
// Events of the device would leave out what the host adds to a sum (its last doublings, its waits);
// a prover pays for those too. Values are made and results are checked by all processors, as
// neither is what is measured.
#include "cuda/measure.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/ledger.h"
#include "base/threads.h"
#include "cuda/device/device.h"
#include "cuda/msm/msm.h"
#include "cuda/msm/multiples.h"
#include "cuda/poly/ntt.h"

namespace cuzk::cuda {
namespace {

constexpr std::size_t kGrain = 1 << 14;  // elements
constexpr std::size_t kPartCount = 64;   // sums on the host are cut in so many

// Bits of element i, word k; Steele, Lea, Flood, "Fast splittable pseudorandom number generators"
// (2014).
std::uint64_t mixed(std::uint64_t i, std::uint64_t k) {
  std::uint64_t z = (4 * i + k + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Elements as they lie in memory, spread over the whole field.
template <class F>
void fill_samples(std::span<F> out) {
  static_assert(F::kLimbCount == 4);
  base::parallel_for(0, out.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      cuzk::field::Limbs<4> limbs;
      for (std::size_t k = 0; k < 4; ++k) limbs[k] = mixed(i, k);
      limbs[3] >>= 64 * 4 - (F::kBitCount - 1);  // below half the modulus's power of two
      out[i] = F::from_montgomery(limbs);
    }
  });
}

// sum over all i of part(first, last), which sums [first, last).
template <class F, class Part>
F sum_parts(std::size_t count, const Part& part) {
  // Parts of a fixed number, whatever the threads: each writes its own place.
  std::vector<F> sums(kPartCount, F::zero());
  base::parallel_for(0, kPartCount, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      sums[p] = part(count * p / kPartCount, count * (p + 1) / kPartCount);
    }
  });
  F sum = F::zero();
  for (const F& value : sums) sum += value;
  return sum;
}

// A stream of the named device, which is the thread's current one from then on.
base::Result<device::Stream> stream_on(const std::string& name) {
  CUZK_TRY(const auto info, device::find_device(name));
  CUZK_TRY_STATUS(device::use_device(info));
  return device::Stream::create();
}

// Times of work(), which waits for the device, after one run that is not counted: it brings up
// clocks and loads kernels.
template <class Work>
base::Result<Measured> timed(unsigned repeats, const Work& work) {
  CUZK_ASSERT(repeats > 0);
  std::vector<double> times;
  for (unsigned i = 0; i <= repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    CUZK_TRY_STATUS(work());
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    if (i > 0) times.push_back(taken.count());
  }
  std::sort(times.begin(), times.end());
  Measured out;
  out.median_ms = times[times.size() / 2];
  out.least_ms = times.front();
  CUZK_ASSERT(times.size() == repeats && out.least_ms <= out.median_ms);
  return out;
}

// A copy on the device, which has arrived.
template <class T>
base::Result<device::Buffer> on_device(const device::Stream& stream, std::span<const T> values) {
  CUZK_TRY(auto buffer, device::Buffer::create(values.size_bytes()));
  CUZK_TRY_STATUS(device::upload<T>(stream, buffer.template span<T>(values.size()), values));
  CUZK_TRY_STATUS(stream.synchronize());
  return buffer;
}

}  // namespace

template <class C>
base::Result<Measured> measure_transform(const std::string& device, std::size_t size_log2,
                                         unsigned repeats) {
  using F = typename C::Fr;
  using poly::Order;
  CUZK_TRY(const auto stream, stream_on(device));
  CUZK_TRY(const auto transform, poly::Transform<F>::create(stream, size_log2));
  const std::size_t n = transform.size();
  CUZK_TRY(auto values, base::Buffer<F>::allocate(n, base::MemoryCategory::kOther, "bench ntt"));
  fill_samples(values.span());
  CUZK_TRY(const auto buffer, on_device<F>(stream, values.span()));
  const auto span = buffer.template span<F>(n);
  // Checked before it is timed: timed runs transform again and again what is there.
  // At index 0 is the value at 1: the sum of all coefficients.
  CUZK_TRY_STATUS(transform.forward(stream, span, Order::kNaturalToReversed));
  F first;
  CUZK_TRY_STATUS(device::download<F>(stream, {&first, 1}, span.first(1)));
  CUZK_TRY_STATUS(transform.inverse(stream, span, Order::kReversedToNatural));
  CUZK_TRY_STATUS(stream.synchronize());
  const F expected = sum_parts<F>(n, [&](std::size_t begin, std::size_t end) {
    F sum = F::zero();
    for (std::size_t i = begin; i < end; ++i) sum += values[i];
    return sum;
  });
  CUZK_TRY(auto back, base::Buffer<F>::allocate(n, base::MemoryCategory::kOther, "bench ntt"));
  CUZK_TRY_STATUS(device::download<F>(stream, back.span(), span));
  CUZK_TRY_STATUS(stream.synchronize());
  CUZK_TRY(Measured out, timed(repeats, [&]() -> base::Status {
             CUZK_TRY_STATUS(transform.forward(stream, span, Order::kNaturalToReversed));
             return stream.synchronize();
           }));
  out.is_right = first == expected && std::equal(back.begin(), back.end(), values.begin());
  return out;
}

namespace {

// One device's share of a sum: terms [first, first + count), over the bases (i + 1) G.
template <class G>
class SumShare {
 public:
  using F = typename G::Scalar;
  using Sum = cuzk::curve::Jacobian<G>;

  // Everything that a sum needs on the device, filled; the share's memory is its own.
  static base::Result<SumShare> create(const std::string& device, std::span<const F> values,
                                       std::size_t first) {
    using Point = cuzk::curve::Affine<G>;
    SumShare out;
    const std::size_t count = values.size();
    CUZK_TRY(out.info_, device::find_device(device));
    CUZK_TRY(out.stream_, stream_on(device));
    CUZK_TRY(out.scalars_, on_device<F>(out.stream_, values));
    CUZK_TRY(out.bases_, device::Buffer::create(count * sizeof(Point)));
    const auto points = out.bases_.template span<Point>(count);
    CUZK_TRY_STATUS(msm::fill_multiples<G>(out.stream_, G::generator(), first + 1, points));
    CUZK_TRY(out.plan_, msm::plan_msm<G>(count));
    CUZK_TRY(out.scratch_, device::Buffer::create(out.plan_.scratch_bytes + out.plan_.sums_bytes));
    CUZK_TRY_STATUS(out.stream_.synchronize());
    return out;
  }

  // On a thread of its own or the caller's.
  base::Result<Sum> sum() const {
    CUZK_TRY_STATUS(device::use_device(info_));
    msm::Terms<G> terms;
    terms.bases = {reinterpret_cast<const cuzk::curve::Affine<G>*>(bases_.data()), plan_.count};
    terms.scalars = {reinterpret_cast<const msm::Scalar<G>*>(scalars_.data()), plan_.count};
    terms.form = msm::ScalarForm::kMontgomery;
    return msm::multiply<G>(stream_, plan_, terms,
                            scratch_.template span<std::byte>(scratch_.size_bytes()));
  }

 private:
  device::DeviceInfo info_;
  device::Stream stream_;
  device::Buffer scalars_, bases_, scratch_;
  msm::MsmPlan plan_;
};

// All shares at once, each by its own thread.
// The first error, if any; the threads, which use the shares, have all ended also then.
template <class G>
base::Result<cuzk::curve::Jacobian<G>> sum_of_shares(const std::vector<SumShare<G>>& shares) {
  CUZK_ASSERT(!shares.empty());
  std::vector<std::future<base::Result<cuzk::curve::Jacobian<G>>>> parts;
  for (std::size_t i = 1; i < shares.size(); ++i) {
    parts.push_back(std::async(std::launch::async, [&share = shares[i]] { return share.sum(); }));
  }
  auto sum = shares[0].sum();
  for (auto& part : parts) {
    auto value = part.get();
    if (!value.ok() || !sum.ok()) {
      if (sum.ok()) sum = std::move(value);
      continue;
    }
    *sum += *value;
  }
  return sum;
}

}  // namespace

// Bases and scalars are spread before the clock starts; what is timed is the sums and their
// addition.
template <class G>
base::Result<Measured> measure_multiply(const std::vector<std::string>& devices,
                                        std::size_t size_log2, unsigned repeats) {
  using F = typename G::Scalar;
  CUZK_ASSERT(!devices.empty());
  const std::size_t n = std::size_t{1} << size_log2;
  CUZK_TRY(auto values, base::Buffer<F>::allocate(n, base::MemoryCategory::kOther, "bench msm"));
  fill_samples(values.span());
  std::vector<SumShare<G>> shares;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const std::size_t first = n * d / devices.size(), last = n * (d + 1) / devices.size();
    CUZK_TRY(auto share,
             SumShare<G>::create(devices[d],
                                 std::as_const(values).span().subspan(first, last - first), first));
    shares.push_back(std::move(share));
  }
  cuzk::curve::Jacobian<G> found;
  CUZK_TRY(Measured out, timed(repeats, [&]() -> base::Status {
             CUZK_TRY(found, sum_of_shares(shares));
             return base::ok_status();
           }));
  const F weight = sum_parts<F>(n, [&](std::size_t begin, std::size_t end) {
    F sum = F::zero();
    for (std::size_t i = begin; i < end; ++i) sum += values[i] * F::from_u64(i + 1);
    return sum;
  });
  out.is_right =
      found ==
      cuzk::curve::Jacobian<G>::from_affine(G::generator()).scaled(weight.to_canonical().value);
  return out;
}

CUZK_CUDA_MEASURE(, cuzk::curve::Bls12_381)
CUZK_CUDA_MEASURE(, cuzk::curve::Bn254)

}  // namespace cuzk::cuda

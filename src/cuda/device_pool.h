// Several backends as one: a proof goes to the device that will likely be done first.
//
// Free of CUDA: members are backends of any kind. A member that answers kUnavailable is lost and
// not asked again; its proof is made elsewhere, by another member or by the fallback. A proof never
// comes from a member after it failed.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "groth16/backend.h"

namespace cuzk::cuda {

template <class C>
class DevicePool final : public groth16::Backend<C> {
 public:
  using Fr = typename C::Fr;
  using Inner = std::shared_ptr<groth16::Backend<C>>;
  using Pending = std::unique_ptr<groth16::PendingProof<C>>;
  struct Member {
    std::string name;
    Inner backend;
  };
  // What a member is doing.
  struct Load {
    std::string name;
    unsigned in_flight = 0;
    std::uint64_t started_count = 0;
    std::string lost;  // why it is no longer used; empty while it is
  };

  // `fallback` (may be null) takes proofs when no member is left. At least one of both is given.
  // `clock_ms` tells the time; tests give their own.
  explicit DevicePool(std::vector<Member> members, Inner fallback = nullptr,
                      std::function<double()> clock_ms = steady_ms)
      : fallback_(std::move(fallback)), clock_ms_(std::move(clock_ms)) {
    CUZK_CHECK(!members.empty() || fallback_ != nullptr);
    for (Member& member : members) {
      State state;
      state.load.name = std::move(member.name);
      state.backend = std::move(member.backend);
      members_.push_back(std::move(state));
    }
  }

  std::string_view name() const override { return "devices"; }

  base::Result<groth16::MemoryPlan> plan(const groth16::ProvingKey<C>& key,
                                         const r1cs::Shape<Fr>& shape,
                                         const r1cs::Assignment<Fr>* assignment) const override {
    Inner any = fallback_;
    {
      const std::lock_guard lock(mutex_);
      for (const State& member : members_) {
        if (!member.load.lost.empty()) continue;
        any = member.backend;
        break;
      }
    }
    if (any == nullptr) return none_left();
    return any->plan(key, shape, assignment);
  }

  base::Result<Pending> start(const groth16::ProveInputs<C>& inputs,
                              const groth16::Blinding<C>& blinding) override {
    for (std::size_t index = choose(); index < members_.size(); index = choose()) {
      const double begin_ms = clock_ms_();
      auto pending = members_[index].backend->start(inputs, blinding);
      const double taken_ms = clock_ms_() - begin_ms;
      const bool is_lost = !pending.ok() && pending.error().kind == base::ErrorKind::kUnavailable;
      leave(index, pending.ok() ? taken_ms : 0, is_lost ? pending.error().message : "");
      if (!is_lost) return pending;
      base::log(base::LogLevel::kWarning,
                "a proof is started again elsewhere: " + pending.error().message);
    }
    if (fallback_ == nullptr) return none_left();
    return fallback_->start(inputs, blinding);
  }

  std::vector<Load> loads() const {
    const std::lock_guard lock(mutex_);
    std::vector<Load> out;
    for (const State& member : members_) out.push_back(member.load);
    return out;
  }

 private:
  static double steady_ms() {
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  struct State {
    Load load;
    Inner backend;
    double start_ms = 0;  // mean time of a start, newest counting most; 0: not known
  };

  // The member that will likely end one proof more first, entered; members_.size() when none is
  // left. Members of about the same speed are taken for equal: what differs between them is noise,
  // and equal cards are to get equal shares.
  std::size_t choose() {
    constexpr double kAlike = 1.3;
    const std::lock_guard lock(mutex_);
    double fastest_ms = 0;
    for (const State& member : members_) {
      const bool is_known = member.load.lost.empty() && member.start_ms > 0;
      if (is_known && (fastest_ms == 0 || member.start_ms < fastest_ms)) {
        fastest_ms = member.start_ms;
      }
    }
    std::size_t best = members_.size();
    double best_ms = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const State& member = members_[i];
      if (!member.load.lost.empty()) continue;
      // Who was not tried yet counts as the fastest.
      const bool is_slow = member.start_ms > kAlike * fastest_ms;
      const double one_ms = is_slow ? member.start_ms : std::max(fastest_ms, 1e-3);
      const double done_ms = one_ms * (member.load.in_flight + 1);
      if (best < members_.size() &&
          (done_ms > best_ms || (done_ms == best_ms &&
                                 member.load.started_count >= members_[best].load.started_count))) {
        continue;
      }
      best = i;
      best_ms = done_ms;
    }
    if (best < members_.size()) {
      ++members_[best].load.in_flight;
      ++members_[best].load.started_count;
    }
    return best;
  }

  // `taken_ms` of 0 teaches nothing. While several starts share a device each takes longer, so the
  // time is divided among them.
  void leave(std::size_t index, double taken_ms, const std::string& lost) {
    const std::lock_guard lock(mutex_);
    State& member = members_[index];
    if (taken_ms > 0) {
      constexpr double kNewest = 0.25;
      const double own_ms = taken_ms / member.load.in_flight;
      member.start_ms =
          member.start_ms == 0 ? own_ms : (1 - kNewest) * member.start_ms + kNewest * own_ms;
    }
    --member.load.in_flight;
    if (member.load.lost.empty()) member.load.lost = lost;
  }

  base::Error none_left() const {
    const std::lock_guard lock(mutex_);
    std::string reasons;
    for (const State& member : members_) {
      reasons += (reasons.empty() ? "" : "; ") + member.load.name + ": " + member.load.lost;
    }
    return {base::ErrorKind::kUnavailable, "no device is left: " + reasons};
  }

  mutable std::mutex mutex_;
  std::vector<State> members_;  // its size and the backends do not change
  const Inner fallback_;
  const std::function<double()> clock_ms_;
};

}  // namespace cuzk::cuda

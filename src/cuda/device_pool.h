// Several backends as one: a proof goes to the device that will likely be done first.
//
// Free of CUDA: members are backends of any kind. A member that answers kUnavailable is lost and
// not asked again; its proof is made elsewhere, by another member or by the fallback. One that has
// no room for a proof, or fails at it, stays, and that proof is made elsewhere too. Where the proof
// of a member does not verify (groth16/prove.h) and one made elsewhere does, the member is lost.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
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
  // What a member is doing, as loads() tells it.
  struct Load {
    std::string name;
    unsigned in_flight = 0;
    std::uint64_t started_count = 0;
    double start_ms = 0;  // mean time of a start, newest counting most; 0: not known
    std::string lost;     // why it is no longer used; empty while it is
  };

  // `fallback` (may be null) takes proofs when no member is left. At least one of both is given,
  // and no member's backend is null. Proofs must end before the pool does: they know where they are
  // from. `clock_ms` tells the time; tests give their own.
  explicit DevicePool(std::vector<Member> members, Inner fallback = nullptr,
                      std::function<double()> clock_ms = steady_ms)
      : fallback_(std::move(fallback)), clock_ms_(std::move(clock_ms)) {
    CUZK_ASSERT(!members.empty() || fallback_ != nullptr);
    for (Member& member : members) {
      CUZK_ASSERT(member.backend != nullptr);
      State state;
      state.load.name = std::move(member.name);
      state.backend = std::move(member.backend);
      members_.push_back(std::move(state));
    }
  }

  std::string_view name() const override { return "devices"; }

  // Of the first member that is left: they plan alike, as it is the host's memory that counts here.
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

  // An error of a member's is the proof's where nobody else can make it: the last one's, if any had
  // no room for it or failed at it.
  base::Result<Pending> start(const groth16::ProveInputs<C>& inputs,
                              const groth16::Blinding<C>& blinding) override {
    return start_apart_from(std::vector<bool>(members_.size()), inputs, blinding);
  }

  // A copy of all members' loads at one moment.
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
  // A member: idle or busy (in_flight), and lost or not, which nothing turns back. Changed under
  // the lock only. in_flight counts the starts between choose() and leave(); a start that is over,
  // but whose proof is not finished, no longer counts, as the device is done with it.
  struct State {
    Load load;
    Inner backend;
    // The time that one start had to itself so far, had there been one all along: the clock's time
    // divided by the proofs in flight, summed. Its growth while a start lasts is that start's own.
    double shared_ms = 0, counted_until_ms = 0;
  };
  // A member that was chosen, and its shared_ms then.
  struct Turn {
    std::size_t index = 0;
    double begin_ms = 0;
  };

  // A member's proof, which can be had from elsewhere again. inner_ is there until
  // start_elsewhere() gives it up, to make room where the second one may be made; finish() comes
  // before that.
  class Made final : public groth16::PendingProof<C> {
   public:
    Made(DevicePool& pool, std::size_t member, Pending inner)
        : pool_(pool), member_(member), inner_(std::move(inner)) {
      CUZK_ASSERT(member_ < pool_.members_.size());
    }

    base::Result<groth16::Proof<C>> finish() override {
      CUZK_ASSERT(inner_ != nullptr);
      return inner_->finish();
    }
    std::uint64_t byte_count() const override {
      return inner_ == nullptr ? 0 : inner_->byte_count();
    }

    base::Result<Pending> start_elsewhere(const groth16::ProveInputs<C>& inputs,
                                          const groth16::Blinding<C>& blinding) override {
      inner_.reset();
      std::vector<bool> tried(pool_.members_.size());
      tried[member_] = true;
      auto again = pool_.start_apart_from(std::move(tried), inputs, blinding);
      // Nobody is left: no second opinion, which is not an error of the proof's.
      if (!again.ok() && again.error().kind == base::ErrorKind::kUnavailable) return Pending();
      return again;
    }
    void blame() override {
      const std::string reason = "it made a wrong proof; the same proof made elsewhere verifies";
      base::log(base::LogLevel::kError,
                "device " + pool_.members_[member_].load.name + " is not used again: " + reason);
      pool_.lose(member_, reason);
    }

   private:
    DevicePool& pool_;
    const std::size_t member_;
    Pending inner_;
  };

  // On a member that is not among `tried` (one flag a member), else on the fallback. Each member is
  // asked at most once, so this ends. Only choosing and leaving are under the lock: starts overlap.
  base::Result<Pending> start_apart_from(std::vector<bool> tried,
                                         const groth16::ProveInputs<C>& inputs,
                                         const groth16::Blinding<C>& blinding) {
    CUZK_ASSERT(tried.size() == members_.size());
    std::optional<base::Error> own_error;
    for (Turn turn = choose(tried); turn.index < members_.size(); turn = choose(tried)) {
      const std::size_t index = turn.index;
      tried[index] = true;
      auto pending = start_on(turn, inputs, blinding);
      if (pending.ok()) {
        return Pending(std::make_unique<Made>(*this, index, std::move(pending).value()));
      }
      base::Error error = std::move(pending).error();
      if (error.kind == base::ErrorKind::kUnavailable) {
        // Told once more by none_left(), should nobody else make it.
        lose(index, error.message);
      } else if (may_work_elsewhere(error.kind)) {
        own_error = error;
      } else {
        return error;  // of the inputs, or a cancel: the same everywhere
      }
      base::log(base::LogLevel::kWarning, "device " + members_[index].load.name +
                                              " does not make this proof: " + error.message);
    }
    if (fallback_ != nullptr) return fallback_->start(inputs, blinding);
    if (own_error) return *own_error;
    return none_left();
  }

  // Leaves the member whatever happens: else it would look busy for ever.
  base::Result<Pending> start_on(const Turn& turn, const groth16::ProveInputs<C>& inputs,
                                 const groth16::Blinding<C>& blinding) {
    struct Leaving {
      DevicePool& pool;
      const Turn& turn;
      bool is_made = false;
      ~Leaving() { pool.leave(turn, is_made); }
    } leaving{*this, turn};
    auto pending = members_[turn.index].backend->start(inputs, blinding);
    leaving.is_made = pending.ok();
    return pending;
  }

  // Errors of a member that tell of itself: no room there, a call that failed.
  static bool may_work_elsewhere(base::ErrorKind kind) {
    return kind == base::ErrorKind::kResourceExhausted || kind == base::ErrorKind::kInternal ||
           kind == base::ErrorKind::kIo;
  }

  // The member that will likely end one proof more first, entered, of those that were not tried;
  // members_.size() when none is left. Members of about the same speed are taken for equal: what
  // differs between them is noise, and equal cards are to get equal shares. A card makes one proof
  // in up to 1.5 times the time that each of several takes of it (docs/cuda.md), so where one is
  // alone it only seems slow.
  Turn choose(const std::vector<bool>& tried) {
    constexpr double kAlike = 1.6;
    CUZK_ASSERT(tried.size() == members_.size());
    const std::lock_guard lock(mutex_);
    double fastest_ms = 0;
    for (const State& member : members_) {
      const bool is_known = member.load.lost.empty() && member.load.start_ms > 0;
      if (is_known && (fastest_ms == 0 || member.load.start_ms < fastest_ms)) {
        fastest_ms = member.load.start_ms;
      }
    }
    std::size_t best = members_.size();
    double best_ms = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const State& member = members_[i];
      if (!member.load.lost.empty() || tried[i]) continue;
      // Who was not tried yet counts as the fastest.
      const bool is_slow = member.load.start_ms > kAlike * fastest_ms;
      const double one_ms = is_slow ? member.load.start_ms : std::max(fastest_ms, 1e-3);
      const double done_ms = one_ms * (member.load.in_flight + 1);
      // Of equals the one with fewer starts so far, so that they take turns.
      if (best < members_.size() &&
          (done_ms > best_ms || (done_ms == best_ms &&
                                 member.load.started_count >= members_[best].load.started_count))) {
        continue;
      }
      best = i;
      best_ms = done_ms;
    }
    if (best == members_.size()) return {best, 0};
    State& member = members_[best];
    count_time(member);
    ++member.load.started_count;
    ++member.load.in_flight;
    return {best, member.shared_ms};
  }

  // Adds the time since the last change to what one start had to itself, up to now; called before
  // each change of in_flight, as the time in between was shared among so many.
  void count_time(State& member) const {
    const double now_ms = clock_ms_();
    if (member.load.in_flight > 0) {
      member.shared_ms += (now_ms - member.counted_until_ms) / member.load.in_flight;
    }
    member.counted_until_ms = now_ms;
  }

  // A start that failed teaches nothing of the member's speed.
  void leave(const Turn& turn, bool is_made) {
    const std::lock_guard lock(mutex_);
    State& member = members_[turn.index];
    Load& load = member.load;
    CUZK_ASSERT(load.in_flight > 0);
    count_time(member);
    if (is_made) {
      constexpr double kNewest = 0.25;
      const double own_ms = member.shared_ms - turn.begin_ms;
      load.start_ms =
          load.start_ms == 0 ? own_ms : (1 - kNewest) * load.start_ms + kNewest * own_ms;
    }
    --load.in_flight;
  }

  // The first reason stays: what comes after follows from it.
  void lose(std::size_t index, const std::string& reason) {
    CUZK_ASSERT(index < members_.size());
    const std::lock_guard lock(mutex_);
    std::string& lost = members_[index].load.lost;
    if (lost.empty()) lost = reason;
  }

  // With each member's reason, as none is left to be asked.
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

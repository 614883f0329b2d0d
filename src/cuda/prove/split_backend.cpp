// Several devices on one proof: the first forms the quotient, all sum their parts, the host adds.
//
// Lanes are taken on all devices in their order, then workspaces in the same order, so proofs that
// want the same devices cannot wait for each other in a ring. Each part runs on a thread of its
// own; nothing is given back before all of them have ended, since devices write to each other.
#include <algorithm>
#include <future>
#include <string>
#include <system_error>

#include "base/check.h"
#include "base/log.h"
#include "base/scratch.h"
#include "cuda/backend.h"
#include "cuda/prove/circuit_cache.h"
#include "cuda/prove/known_answer.h"
#include "cuda/prove/pending_proof.h"

namespace cuzk::cuda {
namespace prove {
namespace {

// One device of the group. A new group makes new seats: keys and lanes of the old one stay until
// its last proof has ended.
template <class C>
struct Seat {
  Seat(std::shared_ptr<Context> own_context, unsigned lane_count)
      : context(std::move(own_context)),
        lanes(context->info().index, lane_count),
        circuits(context) {}
  std::shared_ptr<Context> context;
  LanePool lanes;
  CircuitCache<C> circuits;

  // In any unit, as only ratios count. Not measured: what else runs on the card would be in it.
  double speed() const {
    const auto& info = context->info();
    return static_cast<double>(info.multiprocessor_count) * std::max(1, info.clock_khz);
  }
};

// The devices that still work, and how they share the proofs of each circuit. The seats and their
// order do not change; a device that is lost makes another group. `divisions` is under the lock:
// one for each pair of key and shape that is alive, since all devices must cut all its proofs
// alike.
template <class C>
struct Group {
  using Fr = typename C::Fr;
  struct Division {
    std::weak_ptr<const groth16::ProvingKey<C>> key;
    std::weak_ptr<const r1cs::Shape<Fr>> shape;
    std::shared_ptr<const CircuitFacts<Fr>> facts;
    std::vector<ProofPart> parts;
  };
  std::vector<std::unique_ptr<Seat<C>>> seats;
  std::mutex mutex;
  std::list<std::shared_ptr<const Division>> divisions;
};

// The fastest first: it has the transforms, which are not shared. Then those with the least memory,
// so that what they cannot hold goes on to the others.
template <class C>
void order_seats(std::vector<std::unique_ptr<Seat<C>>>& seats) {
  CUZK_ASSERT(!seats.empty());
  const auto fastest =
      std::max_element(seats.begin(), seats.end(),
                       [](const auto& a, const auto& b) { return a->speed() < b->speed(); });
  std::rotate(seats.begin(), fastest, fastest + 1);
  std::stable_sort(seats.begin() + 1, seats.end(), [](const auto& a, const auto& b) {
    return a->context->budget_bytes() < b->context->budget_bytes();
  });
}

// group_ is replaced under the lock, never changed: a proof keeps the group that it began with,
// with its devices, until it ends or begins anew. Proofs from several threads overlap as far as
// lanes and memory allow.
template <class C>
class SplitBackend final : public groth16::Backend<C> {
 public:
  using Fr = typename C::Fr;
  using Inputs = groth16::ProveInputs<C>;
  using InputRun = r1cs::CompactWitness<Fr>;
  using Pending = std::unique_ptr<groth16::PendingProof<C>>;
  using Division = typename Group<C>::Division;
  using Sums = base::Result<ProofSums<C>>;

  SplitBackend(std::vector<std::shared_ptr<Context>> contexts, const SplitOptions& options)
      : options_(options), group_(make_group(std::move(contexts))) {}

  std::string_view name() const override { return "cuda, shared"; }

  base::Result<groth16::MemoryPlan> plan(const groth16::ProvingKey<C>& key,
                                         const r1cs::Shape<Fr>& shape,
                                         const r1cs::Assignment<Fr>* assignment) const override {
    CUZK_TRY_STATUS(groth16::check_key_fits(key, shape, r1cs::density_of(shape)));
    if (assignment != nullptr) {
      CUZK_TRY_STATUS(groth16::check_assignment_fits(*assignment, shape));
    }
    // Host memory: each device's staging. What the devices hold their own accounts admit.
    groth16::MemoryPlan plan;
    const auto group = current_group();
    if (!group->seats.empty()) {
      const std::uint64_t budget = group->seats.front()->context->budget_bytes();
      plan.evaluation_bytes = host_vector_bytes(key.domain_log2, budget);
    }
    plan.msm_scratch_bytes = options_.devices.size() * kSlotCount * kSlotBytes;
    plan.pending_bytes = sizeof(CudaPendingProof<C>);
    return plan;
  }

  base::Result<Pending> start(const Inputs& inputs, const groth16::Blinding<C>& blinding) override {
    return base::catch_out_of_memory("a proof", [&]() -> base::Result<Pending> {
      while (true) {
        const auto group = current_group();
        if (group->seats.empty()) {
          return base::Error{base::ErrorKind::kUnavailable, "no device of the group is left"};
        }
        auto sums = run(*group, inputs);
        if (sums.ok()) {
          return Pending(std::make_unique<CudaPendingProof<C>>(
              inputs, blinding, std::move(sums).value(), std::nullopt));
        }
        // Without the devices that were lost meanwhile; an error of any other kind stays.
        const bool is_lost = sums.error().kind == base::ErrorKind::kUnavailable;
        if (!is_lost || !leave_lost(group)) return sums.error();
        base::log(base::LogLevel::kWarning,
                  "a proof is begun anew on fewer devices: " + sums.error().message);
      }
    });
  }

 private:
  // An empty one of no contexts: start() then says that no device is left.
  std::shared_ptr<Group<C>> make_group(std::vector<std::shared_ptr<Context>> contexts) const {
    auto group = std::make_shared<Group<C>>();
    const unsigned lanes = options_.devices.front().lanes;
    for (auto& context : contexts) {
      group->seats.push_back(std::make_unique<Seat<C>>(std::move(context), lanes));
    }
    if (group->seats.empty()) return group;
    order_seats(group->seats);
    const int first = group->seats.front()->context->info().index;
    for (const auto& seat : group->seats) {
      // Where the first cannot write to another's memory, copies pass through the host.
      if (const auto is_in = seat->context->pool().let_in(first); !is_in.ok()) {
        base::log(base::LogLevel::kWarning, is_in.error().message);
      }
    }
    return group;
  }

  std::shared_ptr<Group<C>> current_group() const {
    const std::lock_guard lock(mutex_);
    return group_;
  }

  // A new group of the devices of `group` that are not condemned; false when all still are in.
  bool leave_lost(const std::shared_ptr<Group<C>>& group) {
    const std::lock_guard lock(mutex_);
    CUZK_ASSERT(group_ != nullptr);
    if (group_ != group) return true;  // somebody else did
    std::vector<std::shared_ptr<Context>> left;
    for (const auto& seat : group->seats) {
      if (seat->context->use().ok()) left.push_back(seat->context);
    }
    if (left.size() == group->seats.size()) return false;
    group_ = make_group(std::move(left));
    return true;
  }

  // How the group shares the proofs of a key: found with its first witness, kept with the key.
  base::Result<std::shared_ptr<const Division>> division(Group<C>& group, const Inputs& inputs,
                                                         const InputRun& input_run) {
    const std::lock_guard lock(group.mutex);
    group.divisions.remove_if(
        [](const auto& known) { return known->key.expired() || known->shape.expired(); });
    for (const auto& known : group.divisions) {
      if (known->key.lock() == inputs.key && known->shape.lock() == inputs.shape) return known;
    }
    // Under the lock: two first proofs of a key must come to the same division.
    auto made = std::make_shared<Division>();
    made->key = inputs.key;
    made->shape = inputs.shape;
    CUZK_TRY(made->facts, checked_facts<C>(inputs));
    std::vector<SharingDevice> devices;
    for (const auto& seat : group.seats) {
      // Half for the key: the other half is for proofs, and for what else is there.
      devices.push_back(
          {seat->speed() / (1 + seat->context->proof_count()), seat->context->room_bytes() / 2});
    }
    made->parts = share_proof(shared_work<C>(inputs, *made->facts, input_run, true), devices,
                              options_.cuts_finely);
    CUZK_ASSERT(made->parts.size() == group.seats.size());
    for (ProofPart& part : made->parts) {
      part.evaluation_buffers_most = options_.devices.front().vectors_on_device_max;
    }
    group.divisions.push_front(made);
    return std::shared_ptr<const Division>(std::move(made));
  }

  // What a device's part runs with, filled in this order and given back in the opposite one
  // (give_back, or the destructor where preparing failed).
  struct PartRun {
    Seat<C>* seat = nullptr;
    std::optional<LanePool::Lease> lane;
    Loaded<C> circuit;
    ProofSizes sizes;
    Workspace workspace;
    Inputs inputs;
  };

  template <class T>
  static bool lacks_room(const base::Result<T>& result) {
    return !result.ok() && result.error().kind == base::ErrorKind::kResourceExhausted;
  }

  // All parts with what they need. The parts' keys go up side by side.
  base::Result<std::vector<PartRun>> prepare(Group<C>& group, const Inputs& inputs,
                                             const InputRun& input_run, const Division& shares) {
    CUZK_ASSERT(shares.parts.size() == group.seats.size());
    std::vector<PartRun> runs(group.seats.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      PartRun& run = runs[i];
      run.seat = group.seats[i].get();
      run.inputs = inputs;
      // One part tells of its stages; a sink is for one thread.
      if (i > 0) run.inputs.control = {nullptr, inputs.control.cancel, nullptr};
      CUZK_TRY_STATUS(run.seat->context->use());
      CUZK_TRY(auto lane, run.seat->lanes.take(inputs.control.cancel));
      run.lane.emplace(std::move(lane));
    }
    QuotientHandover nothing(0);
    CUZK_TRY_STATUS(on_all(runs, nothing, [&](PartRun& run, std::size_t i) -> base::Status {
      using Wanted = typename CircuitCache<C>::Wanted;
      bool never_fits = false;
      CUZK_TRY(run.circuit, run.seat->circuits.get(**run.lane, inputs, input_run, lane_count(),
                                                   KeyShelf::Turn::kRegardless, never_fits,
                                                   [&]() -> base::Result<Wanted> {
                                                     return Wanted{shares.facts, shares.parts[i]};
                                                   }));
      run.sizes = proof_sizes<C>(inputs, run.circuit->facts(), input_run, run.circuit->part());
      return base::ok_status();
    }));
    // One after the other, in the order of the seats: proofs that wait for memory form no ring.
    for (PartRun& run : runs) {
      CUZK_TRY_STATUS(run.seat->context->use());
      auto workspace = take_workspace(*run.seat->context, run.circuit, run.sizes, **run.lane,
                                      lane_count(), inputs.control.cancel);
      if (!workspace.ok()) {
        // It may be laid out for a witness of other density.
        if (lacks_room(workspace)) run.circuit.retire();
        return workspace.error();
      }
      run.workspace = std::move(workspace).value();
    }
    return runs;
  }

  // work(run, index) for all parts at once, each with its device current: the first on this thread.
  // Whoever fails wakes those who wait for it.
  template <class Work>
  static base::Status on_all(std::vector<PartRun>& runs, QuotientHandover& handover,
                             const Work& work) {
    CUZK_ASSERT(!runs.empty());
    const auto one = [&](std::size_t i) -> base::Status {
      base::Status status = base::catch_out_of_memory("a proof", [&]() -> base::Status {
        CUZK_TRY_STATUS(runs[i].seat->context->use());
        return work(runs[i], i);
      });
      if (!status.ok()) handover.abandon(status.error());
      return status;
    };
    std::vector<std::future<base::Status>> others;
    others.reserve(runs.size() - 1);
    base::Status status = base::ok_status();
    try {
      for (std::size_t i = 1; i < runs.size(); ++i) {
        others.push_back(std::async(std::launch::async, [&one, i] { return one(i); }));
      }
    } catch (const std::system_error& error) {  // those that began wait for parts that will not
      status = base::Error{base::ErrorKind::kResourceExhausted,
                           std::string("a thread for each device: ") + error.what()};
      handover.abandon(status.error());
    }
    // All are waited for, also after an error: they use what the caller's frame holds.
    if (status.ok()) status = one(0);
    for (auto& other : others) {
      base::Status theirs = other.get();
      if (status.ok() && !theirs.ok()) status = std::move(theirs);
    }
    return status;
  }

  // One try of a proof on the group: share it out, prepare all parts, run them, give back, add up.
  Sums run(Group<C>& group, const Inputs& inputs) {
    CUZK_ASSERT(inputs.key != nullptr && inputs.shape != nullptr && inputs.assignment != nullptr);
    CUZK_TRY_STATUS(groth16::check_assignment_fits(*inputs.assignment, *inputs.shape));
    const InputRun input_run = r1cs::compact_inputs(*inputs.assignment);
    CUZK_TRY(const auto shares, division(group, inputs, input_run));
    auto prepared = prepare(group, inputs, input_run, *shares);
    // Once more, with all given back and keys that were laid out for another witness retired.
    if (lacks_room(prepared)) prepared = prepare(group, inputs, input_run, *shares);
    CUZK_TRY(auto runs, std::move(prepared));
    QuotientHandover handover(runs.size());
    std::vector<ProofSums<C>> sums(runs.size());
    const bool exact_stages = options_.devices.front().exact_stages;
    const auto part = [&](PartRun& run, std::size_t i) -> base::Status {
      const Sharing sharing = {&handover, i};
      auto own =
          run_proof<C>(*run.seat->context, **run.lane, *run.circuit, run.sizes, run.workspace.plan,
                       run.workspace.memory.buffer(), run.inputs, input_run, exact_stages, sharing);
      if (!own.ok()) return own.error();
      sums[i] = std::move(own).value();
      return base::ok_status();
    };
    const base::Status status = on_all(runs, handover, part);
    give_back(runs);
    CUZK_TRY_STATUS(status);
    CUZK_ASSERT(sums.size() == group.seats.size());
    for (std::size_t i = 1; i < sums.size(); ++i) sums[0].add(sums[i]);
    // No part has a query without points.
    if (!sums[0].b_g2) sums[0].b_g2 = cuzk::curve::Jacobian<typename C::G2>::infinity();
    return std::move(sums[0]);
  }

  // Memory goes back in the order of its stream, with its device current.
  static void give_back(std::vector<PartRun>& runs) {
    for (PartRun& run : runs) {
      (void)run.seat->context->use();
      run.workspace = {};
      run.circuit = {};
      run.lane.reset();
    }
  }

  unsigned lane_count() const { return options_.devices.front().lanes; }

  const SplitOptions options_;
  mutable std::mutex mutex_;
  std::shared_ptr<Group<C>> group_;
};

// Checks the options as a whole, then each device alone, then all together.
template <class C>
base::Result<std::shared_ptr<groth16::Backend<C>>> make_split(const SplitOptions& options) {
  const auto invalid = [](std::string what) {
    return base::Error{base::ErrorKind::kInvalidArgument, std::move(what)};
  };
  if (options.devices.empty()) return invalid("sharing a proof needs a device");
  if (options.devices.front().lanes == 0) return invalid("a device backend needs a lane");
  if (options.devices.front().b_g2 == G2Place::kHost) {
    return invalid("a proof that devices share has its sum in G2 on a device");
  }
  std::vector<std::shared_ptr<Context>> contexts;
  for (const BackendOptions& own : options.devices) {
    CUZK_TRY(const auto info, device::find_device(own.device));
    for (const auto& other : contexts) {
      // Tests let a device share with itself: its parts then take turns, and never wait for room.
      if (other->info().index != info.index || options.cuts_finely) continue;
      return invalid("device " + std::to_string(info.index) + " is named twice, as " + own.device +
                     " and before");
    }
    // Each device is tested alone first.
    BackendOptions alone = own;
    alone.lanes = 1;
    if (own.known_answer_test) CUZK_TRY_STATUS(make_backend<C>(alone));
    CUZK_TRY_STATUS(device::use_device(info));
    CUZK_TRY(auto context, Context::open(info, own.vram_limit_bytes));
    contexts.push_back(std::move(context));
  }
  // Then together, finely cut, so that every device has a part of everything and hands it on.
  if (options.devices.front().known_answer_test) {
    SplitOptions finely = options;
    finely.cuts_finely = true;
    SplitBackend<C> tested(contexts, finely);
    auto status = test_proofs<C>(tested);
    if (!status.ok()) return std::move(status).error().within("devices that share a proof");
  }
  return std::shared_ptr<groth16::Backend<C>>(
      std::make_shared<SplitBackend<C>>(std::move(contexts), options));
}

}  // namespace
}  // namespace prove

template <class C>
base::Result<std::shared_ptr<groth16::Backend<C>>> make_split_backend(const SplitOptions& options) {
  return prove::make_split<C>(options);
}

template base::Result<std::shared_ptr<groth16::Backend<cuzk::curve::Bls12_381>>> make_split_backend(
    const SplitOptions&);
template base::Result<std::shared_ptr<groth16::Backend<cuzk::curve::Bn254>>> make_split_backend(
    const SplitOptions&);

}  // namespace cuzk::cuda

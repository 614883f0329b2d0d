// Who does what next: the state machine of jobs, partitions, workers and memory.
//
// It is pure. It has no thread, no lock and no clock; time and events come in through calls and
// decisions go out as values. The pipeline calls it under its own mutex, the simulation calls it in
// virtual time; both see the same decisions.
//
//   job         queued -> in flight -> completed | failed | cancelled
//   partition   queued -> witness -> waiting for a device -> device -> waiting for finish
//               -> finish -> done
//               any of these -> ended, when its job fails or is cancelled
//
// Order. At every stage the most urgent job goes first (Rank), within a job the lowest partition.
// Three things bend this, each bounded and named in the assignment (GrantReason):
//   - ageing: a job that got no grant of a stage for `ageing_ms` while it could use one gets every
//     kAgedTurn-th grant there, the one that waited longest first; never ahead of critical. The
//     same holds for jobs that wait to enter
//   - grouping: a device, or admission, may stay with its key for up to `grouping_max` grants
//     while jobs of the same priority with another key wait
//   - inline: a worker asked by should_yield() runs a critical partition in between, but for those
//     of a device that does not (DeviceSetup::takes_inline)
// Who is first and does not fit the memory keeps those behind it from beginning, so nothing large
// is starved by what is small.
//
// Hand-over. A witness slot (there are `witness_workers`) is taken when the witness begins and
// given back when a device worker takes the witness over: what waits is bounded like what runs.
// Bytes follow engine/memory_rule.h, which has the argument why it cannot block.
//
// Failure. A partition that fails is tried once more, on another worker or device where there is
// one; then the job fails by its name, its waiting partitions end at once and its running ones are
// asked to stop (should_stop). A device that fails `quarantine_failures` times in a row gets no
// more work until restore_device(). Wrong proofs alone do not tell a bad device from a bad key or
// witness: where a second device makes a wrong proof of the same partition neither is blamed, and
// the last usable device stays in use.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/memory_rule.h"
#include "engine/policy.h"
#include "engine/shared_keys.h"

namespace cuzk::engine {

using JobId = std::uint64_t;

// One proving device, as far as the order of work needs to know it: how many workers it has and
// which partitions they may take. Its memory and speed are no concern of the scheduler.
struct DeviceSetup {
  std::uint32_t worker_count = 2;
  // Takes only what failed on another device, and everything while no other is usable: the CPU
  // beside GPUs.
  bool fallback_only = false;
  // Further workers, which take critical partitions alone: they find one free however busy the
  // others are.
  std::uint32_t critical_worker_count = 0;
  // Whether its workers run critical work in between. Not on a card: who is in the middle of a
  // proof there holds what the one in between would wait for.
  bool takes_inline = true;

  std::uint32_t all_workers() const { return worker_count + critical_worker_count; }
};

// Fixed for the scheduler's life; check() says what it may be. The names beside the counts are the
// short ones under which people set them.
struct SchedulerConfig {
  std::uint32_t witness_workers = 1;        // pw
  std::vector<DeviceSetup> devices = {{}};  // gw of each; the CPU is one where it proves
  std::uint32_t finish_workers = 1;         // gt
  std::uint32_t jobs_in_flight_max = 4;     // j, counting jobs of the same or more urgency
  MemoryRuleConfig memory;
  SlotRelease slot_release = SlotRelease::kAtDelivery;
  std::int64_t ageing_ms = 60'000;
  std::uint32_t grouping_max = 8;  // 0: never out of order for a key
  std::uint32_t quarantine_failures = 3;
};

// One job as it is submitted.
struct JobSpec {
  JobId id = 0;
  std::string name;  // for messages
  Priority priority = Priority::kNormal;
  std::optional<std::int64_t> deadline_ms;
  SharedKey key;
  std::uint64_t input_bytes = 0;  // held once, from admission to the job's end
  // Until open() one partition at a time is given out: the first one fetches what all need, and
  // the other witness workers do not wait for it.
  bool opens_later = false;
  std::vector<PartitionPlan> partitions;  // those still to be proved; at least one

  std::uint64_t peak_bytes() const;
};

// A worker of one kind. Device workers are numbered through all devices.
struct WorkerId {
  Stage kind = Stage::kWitness;
  std::uint32_t index = 0;
  auto operator<=>(const WorkerId&) const = default;
};

// Why this one and not the first in order; traces show it.
enum class GrantReason : std::uint8_t { kOrder, kAged, kGrouped, kInline };

// What a worker does now. It already holds what its stage needs.
struct Assignment {
  JobId job = 0;
  std::size_t partition = 0;  // position in JobSpec::partitions
  Stage stage = Stage::kWitness;
  std::uint32_t attempt = 1;
  std::uint32_t device = 0;  // device stage, and the device that made it in the finish stage
  GrantReason reason = GrantReason::kOrder;
};

enum class PartitionState : std::uint8_t {
  kQueued,
  kWitness,
  kDeviceQueued,
  kDevice,
  kFinishQueued,
  kFinish,
  kDone,
  kEnded,
};
// The order of the list is the way of a partition: waiting, then running, stage after stage. Code
// relies on it where it asks for a range of states, and worker processes send the numbers.
inline constexpr std::size_t kPartitionStateCount = 8;
static_assert(kPartitionStateCount == static_cast<std::size_t>(PartitionState::kEnded) + 1);
static_assert(static_cast<std::size_t>(PartitionState::kFinish) == 2 * kStageCount - 1,
              "each stage has a state to wait for it and one to run in it");

// How a job ended, told once. The job is unknown to the scheduler from then on.
struct JobOutcome {
  JobId job = 0;
  std::optional<base::Error> failure;  // none: completed; kCancelled: cancelled
  bool withdrawn = false;
};

// What happened to a partition, beside its reason in words.
enum class Fault : std::uint8_t {
  kWork,        // the stage itself: a witness that breaks a constraint, memory refused
  kDevice,      // the device: counts towards its quarantine
  kWrongProof,  // the self-check said no: counts towards the quarantine of the device that made it
  kFinal,       // the job's own doing: another attempt is in vain
  kNoRoom,      // a start found no memory on the device: it runs elsewhere, which counts as no
                // attempt and against nobody; where there is no elsewhere as kWork
};

// A reading for status pages and for checks. The partitions of jobs in the queue are in none of
// the states; those of a job that is over are in none either.
struct SchedulerCounts {
  std::uint64_t queued_jobs = 0, in_flight_jobs = 0;
  std::array<std::uint64_t, kPartitionStateCount> partitions{};  // of jobs in flight
  std::uint64_t slots_held = 0;
  std::uint64_t held_bytes = 0;  // without the fixed bytes
  // What only the memory keeps from beginning now: queued jobs while a place is free, partitions of
  // a stage that has an idle worker.
  std::uint64_t waiting_for_memory = 0;
  // Since the beginning.
  std::uint64_t completed_jobs = 0, failed_jobs = 0, cancelled_jobs = 0, retried_partitions = 0;
  std::uint64_t inline_grants = 0, aged_grants = 0, key_switches = 0, evicted_keys = 0;

  std::uint64_t in_state(PartitionState state) const {
    return partitions[static_cast<std::size_t>(state)];
  }
};

// Whether an error says that something can never fit the budget: to try again is in vain. Its
// sentence tells, for that is what reaches a client through all processes and protocols.
bool says_never_fits(const base::Error& error);

// Not thread-safe. Times are milliseconds of one clock that does not go back.
class Scheduler {
 public:
  // Of so many grants of a stage one goes to who waited too long, while somebody does. Large enough
  // that a backlog of old jobs costs urgent ones little, small enough that each old one moves.
  static constexpr std::uint32_t kAgedTurn = 8;
  static_assert(kAgedTurn >= 2, "else nothing but aged jobs would run");

  // Error kInvalidArgument naming the field that cannot be.
  static base::Status check(const SchedulerConfig& config);
  // The configuration passes check().
  explicit Scheduler(SchedulerConfig config);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Takes the job into the queue. Errors: kInvalidArgument (no partition, a plan that keeps more
  // than it held), kAlreadyExists, kUnavailable (draining, no device left), kResourceExhausted with
  // the arithmetic when it can never fit.
  base::Status submit(JobSpec spec, std::int64_t now_ms);

  // The next work of an idle worker, or nothing: then ask again after any event.
  std::optional<Assignment> next(WorkerId worker, std::int64_t now_ms);

  // The worker's assignment ended: well, badly, or because should_stop() asked for it.
  void done(WorkerId worker, std::int64_t now_ms);
  // In the witness stage: the partition turned out to be proved already, and is done.
  void done_whole(WorkerId worker, std::int64_t now_ms);
  // Of the device stage: `keeps_witness` says whether it is still there for the second attempt.
  void failed(WorkerId worker, Fault fault, base::Error reason, std::int64_t now_ms,
              bool keeps_witness = true);
  void stopped(WorkerId worker, std::int64_t now_ms);

  // The job's input and key are there: from now on its partitions go to as many workers as are
  // free. Nothing happens where the job is over.
  void open(JobId job);

  // To be asked at chunk borders. Whether the running assignment is no longer wanted; whether a
  // critical partition waits that no idle worker can take: then take_inline() gives it, and this
  // worker reports its end before that of its own work.
  bool should_stop(WorkerId worker) const;
  bool should_yield(WorkerId worker) const;
  // Whether a critical partition waits for any stage; where none does nobody should yield.
  bool critical_waits() const;
  std::optional<Assignment> take_inline(WorkerId worker, std::int64_t now_ms);

  // Error kNotFound: unknown, or over already. Cancelling twice is fine.
  base::Status cancel(JobId job, std::int64_t now_ms);

  // Takes a job back for its owner, who keeps it: its outcome has the error and is marked, the
  // counts leave it out. Nothing happens where it is over or ending. The second: all jobs.
  void withdraw(JobId job, base::Error reason, std::int64_t now_ms);
  void withdraw_all(const base::Error& reason, std::int64_t now_ms);

  // A reference to a key by somebody who is no job, from hold_key until release_key; idle keys go
  // where its bytes need their room. Error kUnavailable, or kResourceExhausted where it can never
  // fit, with the arithmetic.
  base::Status hold_key(const SharedKey& key, std::int64_t now_ms);
  void release_key(const SharedKey& key, std::int64_t now_ms);
  // Drops a key that nobody refers to; it is among the evictions then. False where it is not there.
  // Error kUnavailable: it is in use.
  base::Result<bool> drop_key(KeyId key, std::int64_t now_ms);

  // No more submissions; what is accepted goes on.
  void drain() { draining_ = true; }
  bool idle() const { return jobs_.empty(); }
  bool device_usable(std::uint32_t device) const { return !devices_.at(device).quarantined; }
  // Ends the quarantine of a device and forgets its failures. Jobs that failed meanwhile stay so.
  void restore_device(std::uint32_t device);

  // Ends since the last call, in order; keys to be dropped since the last call, before anything
  // new begins.
  std::vector<JobOutcome> take_outcomes();
  std::vector<KeyId> take_evictions();

  SchedulerCounts counts() const;
  // Nothing once the job is over.
  std::optional<PartitionState> partition_state(JobId job, std::size_t partition) const;
  // Whether it entered and has not ended; a queued job is not in flight.
  bool in_flight(JobId job) const;
  // Whether it failed, was cancelled or withdrawn, or is over.
  bool ending(JobId job) const;
  // Every sum and counter recomputed from the states; ends the process where one is wrong.
  void check_invariants() const;

 private:
  // One partition's books. `state` is what counts; the rest says what is held and what went wrong.
  // The slot is held from the beginning of the witness until a device takes it over, or until the
  // witness ends where SlotRelease says so; never in kQueued, kDevice or behind it.
  // failed_on, failed_device and the first_ fields describe the first attempt, so they are empty
  // while `attempt` is 1; no_room_on grows at any attempt.
  struct Partition {
    PartitionState state = PartitionState::kQueued;
    std::uint32_t attempt = 1;
    bool holds_slot = false;
    std::uint32_t device = 0;  // that runs or ran it
    std::optional<WorkerId> failed_on;
    std::optional<std::uint32_t> failed_device;
    std::set<std::uint32_t> no_room_on;  // devices
    Fault first_fault = Fault::kWork;
    std::string first_failure;
  };
  // A job from submit() until its outcome is out. Three ways through the flags:
  //   queued       in queued_ and queued_by_arrival_, `in_flight` false; nothing is held for it
  //   in flight    in flying_; its input and a reference to its key are held
  //   ending       failed, cancelled or withdrawn while partitions still run; nothing of it waits
  //                any more, and it goes with the report of the last one that runs
  // in_state counts the partitions by state; both change in move() alone.
  struct Job {
    JobSpec spec;
    Rank rank;
    bool in_flight = false;
    bool ending = false;
    bool withdrawn = false;
    std::optional<base::Error> failure;
    std::vector<Partition> partitions;
    std::array<std::uint32_t, kPartitionStateCount> in_state{};
    // When it last got a grant of the stage, or entered.
    std::array<std::int64_t, kStageCount> waiting_since_ms{};
    std::int64_t submitted_ms = 0;
  };
  // `worker_begin` to `worker_end` are its workers in the one list of all device workers. The key
  // is that of its last grant; grouped_count, grants in a row that stayed with it out of order.
  struct Device {
    std::uint32_t worker_begin = 0, worker_end = 0;
    std::uint32_t failure_count = 0;
    bool quarantined = false;
    std::optional<KeyId> key;
    std::uint32_t grouped_count = 0;
  };
  // What a worker is in the middle of. The partition is in the running state of the stage, also
  // when its job is ending: it stays there until the worker reports.
  struct Running {
    JobId job = 0;
    std::size_t partition = 0;
    Stage stage = Stage::kWitness;
  };
  // Idle when nothing runs. A second entry exists only while a critical partition runs inside the
  // first one, and ends before it.
  struct Worker {
    std::optional<std::uint32_t> device;
    bool critical_only = false;
    std::vector<Running> running;  // the last one is the one that runs; at most two
  };
  // A partition that could be granted; none where `job` is null. Whether the memory lets it begin
  // is asked afterwards (fits), so that who is first and does not fit keeps back the others.
  struct Choice {
    Job* job = nullptr;
    std::size_t partition = 0;
    GrantReason reason = GrantReason::kOrder;
  };

  // Jobs entering and ending (scheduler.cpp).
  // Lets jobs enter, one after the other, until the next one lacks place or memory. Every report
  // and every call that frees something ends with it.
  void admit_jobs(std::int64_t now_ms);
  struct Entry {
    Job* job = nullptr;
    GrantReason reason = GrantReason::kOrder;
  };
  // The job whose turn it is to enter, and by which rule; none where the queue is empty.
  Entry next_to_enter(std::int64_t now_ms) const;
  Job* same_key_in_queue(const Job& best) const;
  // A place among the jobs in flight; and a place and the memory.
  bool has_place(const Entry& entry) const;
  bool may_enter(const Entry& entry) const;
  std::uint64_t waiting_for_memory() const;
  // Takes a job out of the queue: pays for input and key, drops idle keys where that needs room.
  void enter(Job& job, std::int64_t now_ms);
  // Marks the job as ending and frees what waits. The first reason counts; a second call does
  // nothing. `job` may be gone afterwards, here and in all that may call end_if_over().
  void end_job(Job& job, base::Error failure, std::int64_t now_ms);
  // Gives the job's own bytes back and tells its outcome, once nothing of it runs and it is either
  // ending or all done. `job` may be gone afterwards.
  void end_if_over(Job& job, std::int64_t now_ms);
  // Gives back whatever the partition holds in its state, and makes it kEnded.
  void end_partition(Job& job, std::size_t partition);
  void fail_all(const base::Error& reason, std::int64_t now_ms);
  // Drops idle keys, longest unused first, until `bytes` more are within the capacity.
  void make_room(std::uint64_t bytes, Priority priority);
  base::Status check_fits(const JobSpec& spec) const;

  // Grants (scheduler_grant.cpp).
  // The choice for a stage after all three exceptions; those below are its steps. Cost: linear in
  // the jobs in flight and the partitions of those looked at, which are few by configuration.
  Choice choose(Stage stage, const Worker& worker, WorkerId id, std::int64_t now_ms) const;
  Choice first_in_order(Stage stage, const Worker& worker, WorkerId id) const;
  Choice aged(Stage stage, const Worker& worker, WorkerId id, std::int64_t now_ms) const;
  Choice grouped(const Choice& best, const Worker& worker, WorkerId id) const;
  // The lowest partition of the job that waits for the stage and may go to this worker.
  std::optional<std::size_t> candidate(const Job& job, Stage stage, const Worker& worker,
                                       WorkerId id) const;
  bool avoids(const Partition& partition, Stage stage, const Worker& worker, WorkerId id) const;
  bool may_take(const Partition& partition, std::uint32_t device) const;
  bool fits(const Choice& choice, Stage stage) const;
  bool has_slot(const Job& job) const;
  std::uint64_t partitions_refused_memory(Stage stage) const;
  // Makes a choice that fits an assignment: books the bytes, moves the partition, occupies the
  // worker. Nothing can fail here; whoever calls asked fits() before.
  Assignment grant(const Choice& choice, Stage stage, WorkerId id, std::int64_t now_ms);
  void note_key(Device& device, const Job& job, GrantReason reason);
  void note_turn(Stage stage, const Choice& choice, const Choice& aged);
  Choice critical_choice(WorkerId id, Stage& stage) const;
  bool idle_worker_takes_critical(Stage stage) const;
  std::uint64_t starved_device_bytes() const;

  // Reports (scheduler_report.cpp).
  // Takes from the worker what it reports of: the last thing that it was given.
  Running take_running(WorkerId worker);
  void fail_for_good(Job& job, std::size_t partition, Stage stage, base::Error reason,
                     std::int64_t now_ms);
  bool has_other_device(const Partition& partition, std::uint32_t apart_from) const;
  void put_back(Job& job, std::size_t partition, Stage stage, bool keeps_witness);
  void blame_device(std::uint32_t device, Fault fault, std::int64_t now_ms);
  void clear_of_blame(std::uint32_t device);
  // The only place where a partition of a job in flight changes its state.
  void move(Job& job, std::size_t partition, PartitionState state);
  void release_slot(Partition& partition);
  Job& job_of(JobId id) { return jobs_.at(id); }

  Worker& worker_of(WorkerId id);
  const Worker& worker_of(WorkerId id) const;

  SchedulerConfig config_;
  MemoryRule memory_;
  SharedKeys keys_;
  bool draining_ = false;
  std::uint64_t arrival_count_ = 0;
  std::map<JobId, Job> jobs_;
  // Pointers into jobs_, whose nodes stay where they are. Jobs in flight are in flying_, the others
  // in both of the first two.
  std::map<Rank, Job*> queued_;
  std::map<std::uint64_t, Job*> queued_by_arrival_;
  std::map<Rank, Job*> flying_;
  std::array<std::uint32_t, kPriorityCount> flying_by_priority_{};
  std::array<std::vector<Worker>, kStageCount> workers_;
  std::vector<Device> devices_;
  std::array<std::uint32_t, kStageCount> turns_{};  // grants since an aged one, while one waits
  std::uint32_t admission_turns_ = 0, admission_grouped_ = 0;
  SchedulerCounts counts_;
  std::vector<JobOutcome> outcomes_;
  std::vector<KeyId> evictions_;
};

}  // namespace cuzk::engine

// Workers: what they do with an assignment, and what they tell of it.
//
// A worker takes over what its part holds, runs the stage without any lock, puts back what the
// stage left, and reports. At borders inside a stage it may run one critical partition in between,
// or pause while critical work computes. Whatever a stage throws ends that stage and nothing else.
#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "engine/guarded.h"
#include "engine/pipeline_core.h"

namespace cuzk::engine {
namespace {

using base::Error;
using base::ErrorKind;
using base::MutexLock;

// The job's own doing; job_type.h has the whole table.
bool is_final(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
    case ErrorKind::kMalformed:
    case ErrorKind::kMismatch:
    case ErrorKind::kUnsatisfied:
    case ErrorKind::kNotFound:
    case ErrorKind::kUnsupported: return true;
    default: return false;
  }
}

// Between two stages of a critical job its next worker may still be busy with the piece at hand.
// Who pauses for the job would begin another piece meanwhile, and be waited for once a stage. So
// it waits as long as pieces may take; no longer, for the job may need what it holds.
constexpr std::int64_t kCriticalGapMs = 25;
// And while its end is recorded.
constexpr std::int64_t kCriticalEndMs = 10;
static_assert(kCriticalEndMs < kCriticalGapMs);

// Errors that speak against the device that made them, where they come of start or finish.
bool is_of_device(ErrorKind kind) {
  return kind == ErrorKind::kUnavailable || kind == ErrorKind::kInternal || kind == ErrorKind::kIo;
}

}  // namespace

StageEnd StageEnd::failure(Stage stage, Error error) {
  Fault fault = Fault::kWork;
  // A witness has met no device, so none of its errors is a device's.
  if (is_final(error.kind)) {
    fault = Fault::kFinal;
  } else if (stage == Stage::kFinish && error.kind == ErrorKind::kVerificationFailed) {
    fault = Fault::kWrongProof;
  } else if (stage != Stage::kWitness && is_of_device(error.kind)) {
    fault = Fault::kDevice;
  }
  return {Kind::kFailed, std::move(error), fault};
}

bool PartCheckpoint::wanted() const noexcept {
  const PipelineWorker* const worker = worker_.load();
  return worker != nullptr && core_.border_wanted(*worker);
}

bool PartCheckpoint::pass() {
  PipelineWorker* const worker = worker_.load();
  if (worker != nullptr) core_.at_border(*worker, stop_);
  return !stop_.stop_requested();
}

void PipelineCore::at_border(PipelineWorker& worker, const std::stop_token& stop) {
  // Work before pauses: what this worker could run in between is what it would pause for.
  while (border_wanted(worker) && !stop.stop_requested()) {
    if (worker.yield_wanted.load()) {
      run_inline(worker);
      continue;
    }
    const std::int64_t begin_ms = now_ms();
    {
      const MutexLock lock(mutex_);
      while (!worker.yield_wanted.load() && !stop.stop_requested()) {
        const std::int64_t pause = pause_ms();
        if (pause == 0) break;
        if (pause < 0) {
          worker.wake.wait(mutex_);
        } else {
          worker.wake.wait_for(mutex_, std::chrono::milliseconds(pause));
        }
      }
    }
    // Not the stage's own time; run_inline() adds its own in execute().
    worker.aside_ms += now_ms() - begin_ms;
  }
}

void PipelineCore::run_inline(PipelineWorker& worker) {
  std::optional<Assignment> assignment;
  Debris debris;
  {
    const MutexLock lock(mutex_);
    assignment = scheduler_.take_inline(worker.id, now_ms());
    // Whether or not there was something: the next dispatch() asks again.
    worker.yield_wanted.store(false);
    if (!assignment) return;
    note_grant(*assignment);
    debris = dispatch();
  }
  settle(std::move(debris));
  execute(worker, *assignment);
}

void PipelineCore::work(PipelineWorker& worker) {
  for (;;) {
    Assignment assignment;
    {
      const MutexLock lock(mutex_);
      while (!worker.assignment && !exiting_) worker.wake.wait(mutex_);
      // exiting_ is set when no job is left, so nothing that was given is dropped here.
      if (!worker.assignment) return;
      assignment = *worker.assignment;
    }
    execute(worker, assignment);
  }
}

// Between taking the part's product and putting back what the stage left nobody else can reach it,
// so the stage runs without a lock and the job can only ask it to stop.
void PipelineCore::execute(PipelineWorker& worker, const Assignment& assignment) {
  StageRun run;
  run.assignment = assignment;
  {
    const MutexLock lock(mutex_);
    wait_cleared();  // before anything of this stage takes bytes
    run.job = jobs_.at(assignment.job);
    worker.assignment.reset();
    worker.running.push_back(assignment);
    worker.yield_wanted.store(false);
    PipelinePart& part = run.job->parts[run.partition()];
    CUZK_ASSERT(part.checkpoint != nullptr && worker.running.size() <= 2);
    run.held = std::move(part.held);
    part.checkpoint->set_worker(&worker);
    update_flags();
  }
  const bool on_cpu =
      assignment.stage != Stage::kDevice || is_cpu(options_.devices[assignment.device]);
  const bool is_critical = run.job->request.priority == Priority::kCritical;
  // Both belong to the stage that runs: those of one that this one interrupts come back below.
  const bool outer_may_pause = worker.may_pause.exchange(on_cpu && !is_critical);
  const std::int64_t outer_aside_ms = std::exchange(worker.aside_ms, 0);
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t begin_ms = now_ms();
  StageEnd end = run_stage(worker, run);
  if (options_.observer != nullptr) {
    options_.observer->stage_ended({worker.id, assignment, begin, std::chrono::steady_clock::now(),
                                    end.kind == StageEnd::Kind::kFailed});
  }
  const std::int64_t whole_ms = now_ms() - begin_ms;
  const std::int64_t own_ms =
      std::max<std::int64_t>(0, whole_ms - worker.aside_ms - run.prepare_ms);
  // All of this stage was time aside for the one around it.
  worker.aside_ms = outer_aside_ms + whole_ms;
  worker.may_pause.store(outer_may_pause);
  report_end(worker, run, std::move(end), own_ms);
}

StageEnd PipelineCore::run_stage(PipelineWorker& worker, StageRun& run) {
  auto end = guarded([&]() -> base::Result<StageEnd> { return run_stage_or_throw(worker, run); });
  if (end.ok()) return std::move(end).value();
  return {StageEnd::Kind::kFailed, std::move(end).error(), Fault::kWork};
}

StageEnd PipelineCore::run_stage_or_throw(PipelineWorker& worker, StageRun& run) {
  const Stage stage = run.assignment.stage;
  // A job that ended between grant and beginning: its products are freed by the report.
  if (run.job->stop.stop_requested()) {
    return StageEnd::failure(stage, {ErrorKind::kCancelled, "cancelled before it began"});
  }
  if (stage == Stage::kWitness) {
    auto prepared = prepare(worker, run);
    if (!prepared.ok()) return StageEnd::failure(stage, std::move(prepared).error());
  }
  if (options_.faults.before) {
    auto status = options_.faults.before(point_of(run));
    if (!status.ok()) return StageEnd::failure(stage, std::move(status).error());
  }
  const bool on_cpu = stage != Stage::kDevice || is_cpu(options_.devices[run.assignment.device]);
  // Only work on the CPU: a card computes beside the others and needs no pause of theirs.
  run.is_critical_span = on_cpu && run.job->request.priority == Priority::kCritical;
  if (run.is_critical_span) ++critical_computing_;
  StageEnd end;
  switch (stage) {
    case Stage::kWitness: end = witness_stage(run); break;
    case Stage::kDevice: end = device_stage(run); break;
    case Stage::kFinish: end = finish_stage(run); break;
  }
  if (options_.faults.after && run.held.product != nullptr && end.kind == StageEnd::Kind::kDone) {
    options_.faults.after(point_of(run), *run.held.product);
  }
  return end;
}

FaultInjection::Point PipelineCore::point_of(const StageRun& run) const {
  const Assignment& own = run.assignment;
  return {own.stage, own.job, own.partition, own.attempt, own.device};
}

StageContext PipelineCore::context_of(const StageRun& run) const {
  StageContext context;
  CUZK_ASSERT(run.assignment.device < options_.devices.size());
  context.key = run.job->key;
  if (run.assignment.stage != Stage::kWitness) {
    context.device = &options_.devices[run.assignment.device];
  }
  context.control.cancel = run.job->stop.get_token();
  // A proof on a card has no borders, only a stop: it holds a lane and memory of the card, for
  // which whatever ran inside it could wait for ever, and other proofs may wait for its next piece.
  const bool on_card = run.assignment.stage == Stage::kDevice && !is_cpu(*context.device);
  if (!on_card) {
    context.control.checkpoint = run.job->parts[run.partition()].checkpoint.get();
  }
  return context;
}

// Makes the product what the run holds, and gives back what its permit has too much.
base::Status PipelineCore::take_over(StageRun& run, std::unique_ptr<Product> product,
                                     base::MemoryCategory category,
                                     std::atomic<std::uint64_t>& alive) {
  CUZK_ASSERT(product != nullptr && run.held.product == nullptr);
  const std::uint64_t bytes = product->byte_count();
  base::Permit& permit = run.held.permit;
  if (bytes > permit.bytes()) {
    return Error{ErrorKind::kInternal,
                 fmt::format("the {} stage left {} bytes, more than the {} of its plan",
                             to_string(run.assignment.stage), bytes, permit.bytes())};
  }
  if (bytes < permit.bytes()) {
    const base::Permit given_back = permit.split(permit.bytes() - bytes);
  }
  CUZK_ASSERT(permit.bytes() == bytes);
  if (bytes > 0) permit.reassign(category, run.job->request.name);
  run.held.product = std::move(product);
  run.held.alive = AliveToken(alive);
  return base::ok_status();
}

StageEnd PipelineCore::witness_stage(StageRun& run) {
  PipelineJob& job = *run.job;
  const std::size_t p = run.partition();
  const auto failure = [](Error error) {
    return StageEnd::failure(Stage::kWitness, std::move(error));
  };
  CUZK_ASSERT(job.work != nullptr && run.held.product == nullptr);
  const auto& finished = job.request.finished;
  if (p < finished.size() && !finished[p].empty() && run.assignment.attempt == 1) {
    // Bad or from another input: made anew, without a word. Only a cancel ends it here.
    const auto kept = job.work->recheck(p, finished[p], context_of(run));
    if (kept.ok()) return keep_proof(run, finished[p], false);
    if (kept.error().kind == ErrorKind::kCancelled) return failure(kept.error());
  }
  const std::uint64_t bytes = job.plan.partitions[p].witness_bytes;
  if (bytes > 0) {
    auto permit = ledger_.admit(bytes, base::MemoryCategory::kWitness, job.request.name);
    if (!permit.ok()) return failure(std::move(permit).error());
    run.held.permit = std::move(permit).value();
  }
  auto witness = job.work->make_witness(p, context_of(run));
  if (!witness.ok()) return failure(std::move(witness).error());
  auto taken =
      take_over(run, std::move(witness).value(), base::MemoryCategory::kWitness, witnesses_alive_);
  if (!taken.ok()) return failure(std::move(taken).error());
  return {};
}

StageEnd PipelineCore::device_stage(StageRun& run) {
  CUZK_ASSERT(run.held.product != nullptr);
  auto witness = std::move(run.held.product);
  auto pending = run.job->work->start(run.partition(), witness, context_of(run));
  if (!pending.ok()) {
    // Null where start spent it; then the report says that no witness was kept.
    run.held.product = std::move(witness);
    StageEnd end = StageEnd::failure(Stage::kDevice, std::move(pending).error());
    const bool on_card = !is_cpu(options_.devices[run.assignment.device]);
    if (on_card && end.error.kind == ErrorKind::kResourceExhausted) end.fault = Fault::kNoRoom;
    return end;
  }
  // What start left of it dies before the pending proof is weighed.
  witness.reset();
  auto taken =
      take_over(run, std::move(pending).value(), base::MemoryCategory::kPending, pending_alive_);
  // A plan that was wrong is our fault and not the device's.
  if (!taken.ok()) return StageEnd::failure(Stage::kWitness, std::move(taken).error());
  return {};
}

StageEnd PipelineCore::finish_stage(StageRun& run) {
  CUZK_ASSERT(run.held.product != nullptr);
  auto pending = std::move(run.held.product);
  auto proof = run.job->work->finish(run.partition(), std::move(pending), context_of(run));
  // Freed before the scheduler hears of the end, well or not.
  run.held.clear();
  if (!proof.ok()) return StageEnd::failure(Stage::kFinish, std::move(proof).error());
  return keep_proof(run, std::move(proof).value(), true);
}

// Keeps a partition's proof; the last one assembles the job's result, while job and key are there.
StageEnd PipelineCore::keep_proof(StageRun& run, base::Bytes proof, bool is_new) {
  PipelineJob& job = *run.job;
  StageEnd end;
  end.kind = is_new ? StageEnd::Kind::kDone : StageEnd::Kind::kWhole;
  std::vector<base::Bytes> proofs;
  proofs.reserve(job.parts.size());
  EventQueue::Event told;
  if (is_new) {
    told = [id = job.request.id, p = run.partition(), proof](ExecutorEvents& events) {
      events.partition_proved(id, p, proof);
    };
  }
  {
    const MutexLock lock(mutex_);
    PipelinePart& part = job.parts[run.partition()];
    CUZK_ASSERT(!part.proved);
    CUZK_ASSERT(job.proved_count < job.parts.size());
    // The last that may be refused memory; after it the partition is proved, and is not tried
    // again.
    if (is_new) events_.push(std::move(told));
    part.proof = std::move(proof);
    part.proved = true;
    if (++job.proved_count < job.parts.size()) return end;
    for (PipelinePart& each : job.parts) proofs.push_back(std::move(each.proof));
  }
  // What is thrown here ends the job too: the partition is proved and cannot be tried again.
  // Outside the lock: assembling verifies the whole result.
  auto result = guarded([&] { return job.work->assemble(proofs, context_of(run)); });
  if (!result.ok()) {
    end = StageEnd::failure(Stage::kFinish, std::move(result).error());
    end.fault = Fault::kFinal;
    return end;
  }
  const MutexLock lock(mutex_);
  job.result = std::move(result).value();
  return end;
}

void PipelineCore::report_end(PipelineWorker& worker, StageRun& run, StageEnd end,
                              std::int64_t own_ms) {
  const bool has_failed = end.kind == StageEnd::Kind::kFailed;
  const bool keeps_witness = run.assignment.stage == Stage::kDevice && run.held.product != nullptr;
  // A failed stage leaves nothing, but for a start that left its witness.
  if (has_failed && !keeps_witness) run.held.clear();
  Debris debris;
  {
    const MutexLock lock(mutex_);
    const JobPointer job = std::move(run.job);
    PipelinePart& part = job->parts[run.partition()];
    part.checkpoint->set_worker(nullptr);
    part.held = std::move(run.held);
    // What ran inside this stage has ended before it.
    CUZK_ASSERT(!worker.running.empty() && worker.running.back().job == run.assignment.job);
    CUZK_ASSERT(worker.running.back().partition == run.partition());
    worker.running.pop_back();
    count_end(*job, run.assignment, end, own_ms);
    if (end.kind == StageEnd::Kind::kDone) {
      scheduler_.done(worker.id, now_ms());
    } else if (end.kind == StageEnd::Kind::kWhole) {
      scheduler_.done_whole(worker.id, now_ms());
    } else {
      const std::string reason = end.error.message;
      scheduler_.failed(worker.id, end.fault, std::move(end.error), now_ms(), keeps_witness);
      tell_lost_devices(reason);
    }
    const bool is_attempt = has_failed && end.fault != Fault::kNoRoom;
    tell(*job, run.partition(), run.assignment.attempt + (is_attempt ? 1 : 0),
         run.assignment.device);
    if (has_failed || scheduler_.ending(job->request.id)) sweep(*job);
    // The device may have been the last one, and then every job has ended.
    if (has_failed && end.fault == Fault::kDevice) {
      for (const auto& [id, other] : jobs_) sweep(*other);
    }
    debris = dispatch();
    // Only now, so that who pauses finds what it should run in between first.
    if (run.is_critical_span) {
      expect_critical(*job);
      CUZK_ASSERT(critical_computing_.load() > 0);
      --critical_computing_;
    }
    wake_paused();
  }
  settle(std::move(debris));
}

// Before the outcomes of those whom that fails: they are told by dispatch().
void PipelineCore::tell_lost_devices(const std::string& reason) {
  if (!options_.devices_lost || devices_lost_) return;
  for (std::uint32_t d = 0; d < options_.devices.size(); ++d) {
    if (scheduler_.device_usable(d)) return;
  }
  devices_lost_ = true;
  events_.push([this, sentence = "no device is usable any more: " + reason](ExecutorEvents&) {
    options_.devices_lost(sentence);
  });
}

std::int64_t PipelineCore::pause_ms() const noexcept {
  if (critical_computing_.load() > 0) return -1;
  const std::int64_t until_ms = critical_expected_until_ms_.load();
  return until_ms == 0 ? 0 : std::max<std::int64_t>(0, until_ms - now_ms());
}

void PipelineCore::expect_critical(const PipelineJob& job) {
  if (job.request.priority != Priority::kCritical) return;
  // After its last stage others wait only while the end is written down.
  const bool goes_on = job.proved_count < job.parts.size() && !scheduler_.ending(job.request.id);
  critical_expected_until_ms_ = now_ms() + (goes_on ? kCriticalGapMs : kCriticalEndMs);
}

void PipelineCore::wake_paused() {
  if (pause_ms() != 0) return;
  for (const auto& worker : workers_) {
    if (worker->may_pause.load()) worker->wake.notify_all();
  }
}

void PipelineCore::count_end(PipelineJob& job, const Assignment& assignment, const StageEnd& end,
                             std::int64_t own_ms) {
  CUZK_ASSERT(own_ms >= 0 && assignment.device < device_counts_.size());
  const auto spent = static_cast<std::uint64_t>(own_ms);
  DeviceCounts& device = device_counts_[assignment.device];
  switch (assignment.stage) {
    case Stage::kWitness: job.times.witness_ms += spent; return;
    case Stage::kDevice:
      job.times.device_ms += spent;
      device.busy_ms += own_ms;
      break;
    case Stage::kFinish: job.times.finish_ms += spent; break;
  }
  if (end.kind != StageEnd::Kind::kFailed) return;
  if (end.fault == Fault::kDevice) ++device.failure_count;
  if (end.fault == Fault::kWrongProof) ++device.wrong_proof_count;
}

}  // namespace cuzk::engine

// What all partitions of a job need before the first begins: its input, read, and its key, loaded.
// The scheduler lets one partition of a job in until this is done, so it happens once.
//
// Between run() and this moment hours may pass and files change. So the key's identity is compared
// twice, with the plan's and with that of the job as it is read now, and the plan itself once: what
// differs would make the scheduler's account wrong, and sends the job back to the queue.
#include <utility>

#include <fmt/format.h>

#include "engine/pipeline_core.h"

namespace cuzk::engine {
namespace {

using base::Error;
using base::ErrorKind;
using base::MutexLock;

// Smaller is fine, for plans are upper bounds; other partitions are another job.
bool is_same(const JobPlan& plan, const JobWork& work) {
  const std::vector<PartitionPlan>& partitions = work.partitions();
  if (plan.partitions.size() != partitions.size() || work.held_bytes() > plan.held_bytes) {
    return false;
  }
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    const PartitionPlan &before = plan.partitions[p], &now = partitions[p];
    if (now.witness_bytes > before.witness_bytes || now.device_bytes > before.device_bytes ||
        now.pending_bytes > before.pending_bytes) {
      return false;
    }
  }
  return true;
}

}  // namespace

base::Status PipelineCore::prepare(PipelineWorker& worker, StageRun& run) {
  PipelineJob& job = *run.job;
  {
    const MutexLock lock(mutex_);
    if (job.ready) return base::ok_status();
  }
  const std::int64_t begin_ms = now_ms(), begin_aside_ms = worker.aside_ms;
  CUZK_TRY_STATUS(check_key(job, job.plan.key));
  const KeyStore::Wish wish = store_.ask(job.shared_key.id);  // loads while the input is read
  // Before the input exists, as every large thing.
  base::Permit permit;
  if (job.plan.held_bytes > 0) {
    CUZK_TRY(permit,
             ledger_.admit(job.plan.held_bytes, base::MemoryCategory::kInput, job.request.name));
  }
  CUZK_TRY(auto work, read_work(job));
  CUZK_TRY_STATUS(check_key(job, work->key()));
  if (!is_same(job.plan, *work)) return take_back(job, "its plan changed since it was taken");
  const std::int64_t read_ms = now_ms() - begin_ms;
  CUZK_TRY(auto key, await_key(worker, wish, job.stop.get_token()));
  run.prepare_ms = now_ms() - begin_ms - (worker.aside_ms - begin_aside_ms);
  // Everything at once under the lock, then open(): who sees `ready` sees all of it.
  Debris debris;
  {
    const MutexLock lock(mutex_);
    CUZK_ASSERT(!job.ready);
    job.work = std::move(work);
    job.key = std::move(key);
    job.input_permit = std::move(permit);
    job.ready = true;
    job.times.key_load_ms +=
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, run.prepare_ms - read_ms));
    scheduler_.open(job.request.id);
    debris = dispatch();
  }
  settle(std::move(debris));
  return base::ok_status();
}

base::Result<std::unique_ptr<JobWork>> PipelineCore::read_work(const PipelineJob& job) const {
  CUZK_TRY(const JobType* type, options_.types->find(job.request.kind));
  CUZK_TRY(const SharedBytes input, job.request.input());
  return type->read(input);
}

// The key must be what the scheduler has accounted for.
base::Status PipelineCore::check_key(PipelineJob& job, const KeySource& source) {
  CUZK_TRY(const SharedKey now, store_.enroll(source));
  // Only the id was wanted; the job's own place at the key is that of take_in().
  store_.leave(now.id);
  if (now.id == job.shared_key.id) return base::ok_status();
  return take_back(job, "the files of its key " + source.name + " changed since it was taken");
}

// Ends the job in the scheduler, to be taken in anew with a plan that fits what there is now.
base::Status PipelineCore::take_back(PipelineJob& job, const std::string& reason) {
  const MutexLock lock(mutex_);
  Error error{ErrorKind::kUnavailable, job.request.name + ": " + reason};
  job.again = true;
  scheduler_.withdraw(job.request.id, error, now_ms());
  return error;
}

base::Result<std::shared_ptr<const LoadedKey>> PipelineCore::await_key(
    PipelineWorker& worker, const KeyStore::Wish& wish, const std::stop_token& stop) {
  // Woken by the store when a load is over, by a cancel, and by critical work, which this worker
  // runs meanwhile: it has nothing else to do.
  for (;;) {
    {
      const MutexLock lock(mutex_);
      for (;;) {
        if (auto answer = store_.answer(wish)) return *std::move(answer);
        if (stop.stop_requested()) {
          return Error{ErrorKind::kCancelled, "cancelled while waiting for its key"};
        }
        if (worker.yield_wanted.load()) break;
        worker.wake.wait(mutex_);
      }
    }
    run_inline(worker);
  }
}

}  // namespace cuzk::engine

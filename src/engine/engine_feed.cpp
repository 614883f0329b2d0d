// The feeder: what the executor has not got, one job after the other in order of rank.
//
// After a crash the jobs that may have caused it and have only one more crash to go run first and
// alone, apart from critical work: so the process that crashes next tells whose doing it was.
#include <chrono>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "engine/engine_state.h"
#include "engine/guarded.h"

namespace cuzk::engine {

using base::Error;
using base::ErrorKind;
using base::MutexLock;
using base::Status;

namespace {

// Between two tries where the executor takes none: it may be starting again, which takes longer
// than this, or be broken for good.
constexpr std::chrono::milliseconds kRetryInterval(200);

}  // namespace

void Engine::State::set_place(Entry& entry, Place place) {
  CUZK_ASSERT(!entry.counted || given_count_ > 0);
  given_count_ -= entry.counted ? 1 : 0;
  entry.counted = place != Place::kWaiting && entry.priority != Priority::kCritical;
  given_count_ += entry.counted ? 1 : 0;
  entry.place = place;
  if (place != Place::kWaiting) return;
  runs_.erase(entry.run);
  if (suspect_given_ == entry.id) suspect_given_.reset();
}

void Engine::State::begin_run(Entry& entry) {
  CUZK_DEBUG_ASSERT(entry.place == Place::kWaiting);
  runs_.emplace(run_count_ + 1, entry.id);
  entry.run = ++run_count_;
  entry.lost = false;  // of a run before
  set_place(entry, Place::kGiving);
}

void Engine::State::wait_for_feeding(Entry& entry) {
  set_place(entry, Place::kWaiting);
  // Suspects apart: they run alone, before all that is not critical.
  (entry.suspect ? suspects_ : to_feed_).emplace(entry.rank(), entry.id);
  changed_.notify_all();
}

void Engine::State::take_from_backlog(const Entry& entry) {
  // From both, since `suspect` may have changed; before the rank does, which is half the key.
  to_feed_.erase({entry.rank(), entry.id});
  suspects_.erase({entry.rank(), entry.id});
}

Engine::State::Entry* Engine::State::next_to_feed() {
  Entry* const first = to_feed_.empty() ? nullptr : entry_of(to_feed_.begin()->second);
  if (first != nullptr && first->priority == Priority::kCritical) return first;
  // Nothing else begins while a suspect runs, nor while one waits for what runs to end.
  if (suspect_given_) return nullptr;
  if (suspects_.empty()) return first;
  return given_count_ == 0 ? entry_of(suspects_.begin()->second) : nullptr;
}

RunRequest Engine::State::request_of(const Entry& entry) {
  RunRequest request;
  request.id = entry.run;
  request.name = entry.request_id;
  request.kind = entry.kind;
  request.priority = entry.priority;
  request.deadline_ms = entry.deadline_ms;
  // Called by the executor, so while the engine lives; the journal checks the digest.
  request.input = [this, id = entry.request_id]() -> base::Result<SharedBytes> {
    CUZK_TRY(base::Bytes bytes, journal_->input(id));
    return SharedBytes(std::make_shared<const base::Bytes>(std::move(bytes)));
  };
  return request;
}

void Engine::State::add_finished(RunRequest& request, std::uint32_t partition_count) {
  auto kept = journal_->partitions(request.name);
  if (!kept.ok()) {
    base::log(base::LogLevel::kWarning, fmt::format("job '{}' is proved from its beginning: {}",
                                                    request.name, kept.error().message));
    return;
  }
  if (kept->empty()) return;
  // Numbers come from the disk, so each is compared with the count.
  request.finished.resize(partition_count);
  for (PartitionProof& partition : *kept) {
    if (partition.partition < partition_count) {
      request.finished[partition.partition] = std::move(partition.proof);
    }
  }
}

// One job at a time: run() may read an input, and order among those that wait is worth more than
// reading two at once. While the executor takes none, the first one is tried again.
void Engine::State::feed() {
  while (true) {
    RunRequest request;
    JobId id = 0;
    std::uint32_t partition_count = 0;
    {
      const MutexLock hold(mutex_);
      Entry* entry = nullptr;
      while (!stopping_ && (entry = next_to_feed()) == nullptr) {
        // Nobody waits for the executor: a failure of before is no reason to refuse new jobs.
        if (to_feed_.empty() && suspects_.empty()) executor_failure_.clear();
        changed_.wait(mutex_);
      }
      if (stopping_) return;
      CUZK_DEBUG_ASSERT(entry->place == Place::kWaiting && !entry->over);
      take_from_backlog(*entry);
      begin_run(*entry);
      id = entry->id;
      if (entry->suspect) suspect_given_ = id;
      request = request_of(*entry);
      partition_count = entry->partition_count;
    }
    const RunId run = request.id;
    add_finished(request, partition_count);
    if (given(id, run, guarded([&] { return executor_->run(std::move(request)); }))) continue;
    const auto until = std::chrono::steady_clock::now() + kRetryInterval;
    const MutexLock hold(mutex_);
    while (!stopping_) {
      if (changed_.wait_until(mutex_, until) == std::cv_status::timeout) break;
    }
  }
}

void Engine::State::feed_later(Entry& entry) {
  entry.stale = false;
  if (entry.over) {
    forget(entry);
  } else if (entry.cancel) {
    set_place(entry, Place::kWaiting);  // the recorder is about to end it
  } else {
    wait_for_feeding(entry);
  }
}

bool Engine::State::try_feed_later(Entry& entry) {
  entry.lost = false;
  if (entry.ended) {
    set_place(entry, Place::kGiven);
    return true;
  }
  try {
    feed_later(entry);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// Much may have happened while run() was under way (an end, a crash, a cancel, one more
// acceptance), and each has left its mark in the entry.
bool Engine::State::given(JobId id, RunId run, const Status& outcome) {
  bool is_unwanted = false;
  const bool is_unavailable = !outcome.ok() && outcome.error().kind == ErrorKind::kUnavailable;
  const bool is_taken = outcome.ok();
  {
    const MutexLock hold(mutex_);
    Entry* entry = entry_of(id);
    const bool is_current = run > crashed_run_;
    if (is_current && is_taken) {
      executor_down_ = false;
      executor_failure_.clear();
    } else if (is_current && is_unavailable && !stopping_) {
      executor_down_ = true;
      executor_failure_ = outcome.error().message;
    }
    const bool is_latest = entry != nullptr && entry->run == run;
    if (!is_latest || entry->place != Place::kGiving) return !is_unavailable;
    const bool is_lost = std::exchange(entry->lost, false);
    // Where a crash lost it, or is about to be found to have, the executor of after the crash may
    // have got it all the same.
    is_unwanted =
        is_taken && (is_lost || !is_current || entry->cancel || entry->over || entry->stale);
    // Who was ended while it was given; who is to be fed again; who is taken; who is refused.
    if (entry->ended) {
      set_place(*entry, Place::kGiven);
    } else if (is_lost || is_unavailable) {
      feed_later(*entry);
    } else if (is_taken) {
      set_place(*entry, Place::kGiven);
    } else {
      set_place(*entry, Place::kGiven);
      // Refused for good (its key is gone, it can never fit): that is its end.
      say({.kind = Happening::Kind::kEnded, .run = run, .failure = outcome.error()});
    }
  }
  // A cancel that came while it was being given could not reach the executor.
  if (is_unwanted) (void)guarded([&] { return executor_->cancel(run); });
  return !is_unavailable;
}

}  // namespace cuzk::engine

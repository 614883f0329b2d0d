// Taking jobs on and letting go of them: checks, the journal's word, and the way to the executor.
//
// A submission holds a claim on its id and a place in the queue from the check of the room to the
// answer, so that two of one id cannot both be new and many at once cannot overfill the queue. The
// journal is asked before the executor: a job that is accepted survives whatever comes then.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "base/random.h"
#include "engine/engine_state.h"
#include "engine/guarded.h"
#include "hash/sha256.h"

namespace cuzk::engine {

using base::Error;
using base::ErrorKind;
using base::MutexLock;
using base::Result;
using base::Status;

namespace {

constexpr std::int64_t kRetryAfterMsMin = 1'000, kRetryAfterMsMax = 3'600'000;
constexpr std::int64_t kRetryAfterMsUnknown = 30'000;

Result<std::string> new_request_id() {
  std::array<std::uint8_t, 16> bytes{};
  CUZK_TRY_STATUS(base::fill_random(bytes));
  return "job-" + base::to_hex(bytes);
}

bool may_be_joined(JobState state) {
  return state != JobState::kFailed && state != JobState::kCancelled;
}

}  // namespace

// A place in the queue, given back on every way out.
class Engine::State::Reservation {
 public:
  explicit Reservation(State& state) CUZK_REQUIRES(state.mutex_) : state_(state) {
    ++state.reserved_count_;
  }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation() {
    const MutexLock hold(state_.mutex_);
    CUZK_ASSERT(state_.reserved_count_ > 0);
    --state_.reserved_count_;
  }

 private:
  State& state_;
};

// Whoever comes next for the id waits for the claim's end, so it ends on every way out, also on
// that of an exception.
class Engine::State::Claim {
 public:
  Claim(State& state, const std::string& request_id) : state_(state), request_id_(request_id) {
    const MutexLock hold(state_.mutex_);
    state_.claim(request_id_);
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim() {
    const MutexLock hold(state_.mutex_);
    state_.release(request_id_);
  }

 private:
  State& state_;
  const std::string& request_id_;
};

// A known job is joined without reading its input again: its key may be gone, its result is not.
Result<Engine::State::Checked> Engine::State::check(const SubmitRequest& request) {
  if (request.input == nullptr) {
    return Error{ErrorKind::kInvalidArgument, "the job has no input"};
  }
  Checked checked{request};
  if (request.request_id.empty()) {
    CUZK_TRY(checked.request.request_id, new_request_id());
  } else {
    const auto known = journal_->find(request.request_id);
    if (!known.ok() && known.error().kind != ErrorKind::kNotFound) return known.error();
    if (known.ok()) {
      if (known->kind != request.kind || known->input_bytes != request.input->size() ||
          known->input_digest != hash::sha256(*request.input)) {
        return Error{ErrorKind::kAlreadyExists,
                     fmt::format("request id '{}' belongs to a job of kind '{}' with another input "
                                 "({} bytes, SHA-256 {}); use a new id",
                                 request.request_id, known->kind, known->input_bytes,
                                 base::to_hex(known->input_digest))};
      }
      checked.joins = may_be_joined(known->state);
      checked.partition_count = known->partition_count;
      if (checked.joins) return checked;
    }
  }
  {
    const MutexLock hold(mutex_);  // before the work of reading
    CUZK_TRY_STATUS(check_room(checked));
  }
  CUZK_TRY(const JobType* type, types_->find(request.kind));
  CUZK_TRY(const auto work, guarded([&] { return type->read(request.input); }));
  checked.plan = plan_of(*work);
  checked.partition_count = static_cast<std::uint32_t>(
      std::min<std::size_t>(checked.plan->partitions.size(), UINT32_MAX));
  return checked;
}

Status Engine::State::check_room(const Checked& checked) const {
  if (checked.joins) return base::ok_status();
  if (draining_) return Error{ErrorKind::kUnavailable, "draining: no new jobs are taken"};
  if (!executor_failure_.empty()) {
    return Error{ErrorKind::kUnavailable,
                 "no jobs are taken while none can be proved: " + executor_failure_};
  }
  if (options_.queue_max == 0 || live_count_ + reserved_count_ < options_.queue_max) {
    return base::ok_status();
  }
  return Error{ErrorKind::kResourceExhausted,
               fmt::format("the queue is full: {} jobs are queued or running, the limit is {}; try "
                           "again in about {} s",
                           live_count_ + reserved_count_, options_.queue_max,
                           (retry_after_ms() + 999) / 1000)};
}

// As long as jobs took to end lately, one after the other.
std::int64_t Engine::State::retry_after_ms() const {
  if (recent_ends_ms_.size() < 2) return kRetryAfterMsUnknown;
  const std::int64_t span_ms = recent_ends_ms_.back() - recent_ends_ms_.front();
  const auto gaps = static_cast<std::int64_t>(recent_ends_ms_.size() - 1);
  return std::clamp(span_ms / gaps, kRetryAfterMsMin, kRetryAfterMsMax);
}

Result<Submitted> Engine::State::submit(const SubmitRequest& request) {
  CUZK_TRY(const Checked checked, check(request));
  const Claim claimed(*this, checked.request.request_id);
  std::optional<Reservation> place;
  {
    const MutexLock hold(mutex_);
    CUZK_TRY_STATUS(check_room(checked));
    place.emplace(*this);
  }
  return guarded([&] { return submit_checked(checked); });
}

Result<Submitted> Engine::State::submit_checked(const Checked& checked) {
  const SubmitRequest& request = checked.request;
  JobSubmission submission;
  submission.request_id = request.request_id;
  submission.kind = request.kind;
  submission.priority = static_cast<std::uint32_t>(request.priority);
  submission.deadline_ms = request.deadline_ms;
  submission.partition_count = checked.partition_count;
  submission.input = *request.input;
  // Before the acceptance: once the job is with the executor, nothing more may be refused.
  Submitted out;
  out.request_id = request.request_id;
  // As late as can be: what is accepted into files that nobody finds again is lost.
  if (!checked.joins) CUZK_TRY_STATUS(journal_->in_place());
  CUZK_TRY(const AcceptedJob accepted, journal_->accept(submission));
  if (accepted.acceptance != Acceptance::kJoined || is_stray(accepted.job)) {
    CUZK_TRY_STATUS(give(accepted.job, checked));
  }
  out.acceptance = accepted.acceptance;
  out.state = accepted.job.state;
  const MutexLock hold(mutex_);
  if (const Entry* entry = live(request.request_id)) {
    out.state = entry->running ? JobState::kRunning : JobState::kQueued;
    out.queue_position = queue_position(*entry);
  }
  return out;
}

// In this order: a live job leaves the table only once the journal has its end.
bool Engine::State::is_stray(const JobRecord& record) {
  if (is_final(record.state)) return false;
  {
    const MutexLock hold(mutex_);
    if (live(record.request_id) != nullptr) return false;
  }
  const auto now = journal_->find(record.request_id);
  return now.ok() && !is_final(now->state);
}

// What a job that has just come has beside what its entry says.
Status Engine::State::complete_request(RunRequest& request, const JobRecord& record,
                                       const Checked& checked) {
  if (record.attempt > 1) add_finished(request, record.partition_count);
  request.plan = checked.plan;
  request.patience = options_.answer_patience;
  // The bytes are at hand as long as the submitter has them.
  request.input = [weak = std::weak_ptr<const base::Bytes>(checked.request.input),
                   read = std::move(request.input)]() -> Result<SharedBytes> {
    if (SharedBytes bytes = weak.lock()) return bytes;
    return read();
  };
  return base::ok_status();
}

// Hands an accepted job to the executor, whose refusal takes the acceptance back. While the
// executor takes none, the job waits for the feeder.
Status Engine::State::give(const JobRecord& record, const Checked& checked) {
  auto prepared = guarded([&]() -> Result<std::optional<RunRequest>> {
    const MutexLock hold(mutex_);
    Entry& entry = enter(record);
    // An earlier attempt that was cancelled may have to end first.
    const bool is_free = entry.place == Place::kWaiting;
    if (!is_free || !may_give_now(entry)) {
      if (is_free) wait_for_feeding(entry);
      (void)try_say({.kind = Happening::Kind::kAccepted, .id = entry.id});
      return std::optional<RunRequest>();
    }
    begin_run(entry);
    return std::optional(request_of(entry));
  });
  // Refused memory: nobody has the job, so it must not stay as one that somebody is about to get.
  if (!prepared.ok()) return take_back(record, std::move(prepared).error());
  if (!prepared->has_value()) return base::ok_status();
  RunRequest request = *std::move(*prepared);
  const RunId run = request.id;
  Status completed = guarded([&] { return complete_request(request, record, checked); });
  if (!completed.ok()) return take_back(record, std::move(completed).error());
  Status outcome = guarded([&] { return executor_->run(std::move(request)); });
  bool is_refused = !outcome.ok();
  if (is_refused && outcome.error().kind == ErrorKind::kUnavailable) {
    const MutexLock hold(mutex_);
    const Entry* entry = entry_of(record.sequence);
    // A crash while it was given: the job waits for the next process.
    if (!stopping_ && (executor_down_ || (entry != nullptr && entry->lost))) is_refused = false;
  }
  if (is_refused) return take_back(record, std::move(outcome).error());
  // Only where it has to be given once more does the note take memory.
  Status noted = guarded([&] {
    given(record.sequence, run, outcome);
    return base::ok_status();
  });
  if (!noted.ok()) return take_back(record, std::move(noted).error());
  (void)try_say({.kind = Happening::Kind::kAccepted, .id = record.sequence});
  return base::ok_status();
}

// Memory that was refused once may be refused again at any line of this, and the journal's disk may
// be full. So what can fail comes first, and where it does, the job stays: it is durable.
Status Engine::State::take_back(const JobRecord& record, Error refusal) {
  JobView view;  // for those who wait: the journal has no word of it any more
  const Status withdrawn = guarded([&] {
    view.record = record;
    view.record.state = JobState::kFailed;
    view.record.failure = refusal;
    return journal_->withdraw(record.request_id, record.attempt, refusal);
  });
  const bool is_gone = withdrawn.ok() || withdrawn.error().kind == ErrorKind::kNotFound;
  if (!is_gone) {
    (void)guarded([&] {
      base::log(base::LogLevel::kError,
                fmt::format("job '{}' was refused ({}), but stays in the journal: {}",
                            record.request_id, refusal.message, withdrawn.error().message));
      return base::ok_status();
    });
  }
  std::vector<std::weak_ptr<internal::Waiter>> tickets;
  {
    const MutexLock hold(mutex_);
    Entry* entry = entry_of(record.sequence);
    if (entry == nullptr) return Status(std::move(refusal));
    if (!is_gone && try_feed_later(*entry)) return base::ok_status();
    if (is_gone && record.attempt > 1) {  // a failed job once more: whoever waits for it hears so
      set_place(*entry, Place::kWaiting);
      const bool is_said = try_say(
          {.kind = Happening::Kind::kFinal, .id = record.sequence, .attempt = record.attempt});
      if (is_said) return Status(std::move(refusal));
    }
    tickets = std::exchange(entry->waiters, {});
    --live_count_;
    forget(*entry);
  }
  for (const auto& ticket : tickets) {
    const auto waiter = ticket.lock();
    if (waiter == nullptr) continue;
    const Status told = guarded([&] {
      if (is_gone) waiter->finish(view);
      return base::ok_status();
    });
    if (!is_gone || !told.ok()) waiter->abandon();
  }
  return Status(std::move(refusal));
}

Engine::State::Entry& Engine::State::enter(const JobRecord& record) {
  Entry* entry = entry_of(record.sequence);
  if (entry == nullptr) {
    auto fresh = std::make_unique<Entry>();
    entry = fresh.get();
    entry->id = record.sequence;
    entry->request_id = record.request_id;
    entry->kind = record.kind;
    entry->partition_count = record.partition_count;
    by_id_.emplace(entry->id, std::move(fresh));
    try {
      by_name_.insert_or_assign(record.request_id, entry);
    } catch (...) {
      // Found by some and not by others would be worse than not there.
      by_id_.erase(record.sequence);
      throw;
    }
    ++live_count_;
  } else {  // cancelled or failed a moment ago
    if (entry->over) ++live_count_;
    entry->over = entry->cancel = entry->announced = false;
    if (entry->ended) {  // its end was recorded and not yet told; the executor has it no more
      entry->ended = false;
      set_place(*entry, Place::kWaiting);
    }
    entry->stale = entry->place != Place::kWaiting;
    entry->running = entry->start_recorded = entry->suspect = false;
    take_from_backlog(*entry);
  }
  entry->priority = static_cast<Priority>(
      std::min<std::uint32_t>(record.priority, static_cast<std::uint32_t>(Priority::kLow)));
  entry->deadline_ms = record.deadline_ms;
  entry->attempt = record.attempt;
  entry->crash_count = record.crash_count;
  entry->accepted_ms = record.accepted_ms;
  entry->suspect = record.crash_count > 0 && record.crash_count + 1 >= options_.crashes_max;
  released_.notify_all();
  return *entry;
}

bool Engine::State::may_give_now(const Entry& entry) const {
  if (executor_down_ || stopping_ || entry.suspect) return false;
  return entry.priority == Priority::kCritical || (suspects_.empty() && !suspect_given_);
}

std::uint64_t Engine::State::queue_position(const Entry& entry) const {
  if (entry.running) return 0;
  const Rank rank = entry.rank();
  return static_cast<std::uint64_t>(
      std::count_if(by_id_.begin(), by_id_.end(), [&](const auto& item) {
        const Entry& other = *item.second;
        return !other.over && !other.running && !other.ended && other.rank() < rank;
      }));
}

Result<Engine::Cancelled> Engine::State::cancel(std::string_view request_id) {
  const std::string id(request_id);
  Cancelled out;
  std::optional<Claim> claimed(std::in_place, *this, id);
  {
    const MutexLock hold(mutex_);
    const Entry* entry = live(id);
    // While an earlier cancellation stops it, it runs no more for anybody.
    out.was_running = entry != nullptr && entry->running && !entry->cancel;
  }
  const auto state = journal_->cancel(id);
  RunId stopped = 0;
  {
    const MutexLock hold(mutex_);
    Entry* entry = live(id);
    if (state.ok() && *state == JobState::kCancelled && entry != nullptr && !entry->ended) {
      if (entry->place == Place::kGiven) stopped = entry->run;
      entry->cancel = true;
      take_from_backlog(*entry);
      say({.kind = Happening::Kind::kFinal, .id = entry->id, .attempt = entry->attempt});
    }
  }
  claimed.reset();                                     // the executor may take its time
  if (stopped != 0) (void)executor_->cancel(stopped);  // where it has just ended, for nothing
  if (!state.ok()) return state.error();
  out.state = *state;
  if (out.state != JobState::kCancelled) out.was_running = false;
  return out;
}

}  // namespace cuzk::engine

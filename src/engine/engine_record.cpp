// The recorder: what the executor says becomes changes of the journal, many in one sync; what is
// durable is then told to those who wait.
//
// Nobody waits for the record of a start or of one partition's proof. So these wait a moment for
// company: a sync of theirs would only make an end wait that comes while it lasts.
//
// An end that the journal cannot take (the disk is full) is kept and tried again; its job stays
// live until then. An end that is in the journal and cannot be read back is told once it can. A
// partition's proof that the journal cannot take is only proved again after a restart.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "engine/engine_state.h"

namespace cuzk::engine {

using base::Error;
using base::ErrorKind;
using base::LogLevel;
using base::MutexLock;
using base::Status;

namespace {

// After an end that the journal could not take; a disk does not get room within milliseconds.
constexpr std::chrono::milliseconds kRepeatInterval(1000);
// A few times what a sync takes, so that one carries many starts and proofs.
constexpr std::chrono::milliseconds kCompanyWait(50);
// Pauses before an end is read back once more, doubling from the first to the last.
constexpr std::chrono::milliseconds kReadAgainMin(100), kReadAgainMax(5000);
static_assert(kCompanyWait < kRepeatInterval && kReadAgainMin < kReadAgainMax);

}  // namespace

bool Engine::State::is_awaited(const Recording& recording) {
  return recording.change.kind != JournalChange::Kind::kStart &&
         recording.change.kind != JournalChange::Kind::kPartition;
}

// The executor's words. Each is put down with the time and returned from at once, so that the
// executor never waits for the disk.
void Engine::State::job_started(JobId run) { say({.kind = Happening::Kind::kStarted, .run = run}); }

void Engine::State::partition_moved(JobId run, std::size_t partition, PartitionState state,
                                    std::uint32_t attempt, std::uint32_t device) {
  say({.kind = Happening::Kind::kMoved,
       .run = run,
       .partition = partition,
       .state = state,
       .attempt = attempt,
       .device = device});
}

void Engine::State::partition_proved(JobId run, std::size_t partition, const base::Bytes& proof) {
  say({.kind = Happening::Kind::kProved, .run = run, .partition = partition, .bytes = proof});
}

void Engine::State::job_ended(JobId run, base::Result<base::Bytes> outcome, const JobTimes& times) {
  Happening happening{.kind = Happening::Kind::kEnded, .run = run, .times = times};
  if (outcome.ok()) {
    happening.bytes = std::move(outcome).value();
  } else {
    happening.failure = std::move(outcome).error();
  }
  say(std::move(happening));
}

void Engine::State::crashed(const std::vector<JobId>& runs, const std::string& sentence) {
  // Under the lock that also numbers the runs, so both have one order; and before anybody can ask
  // for one of them to be stopped because of it, so that this is dealt with before its end is.
  const MutexLock hold(mutex_);
  executor_down_ = true;  // at once: what is submitted from here on waits for the feeder
  ++crash_count_;
  crashed_run_ = run_count_;
  say({.kind = Happening::Kind::kCrashed,
       .runs = runs,
       .sentence = sentence,
       .latest = crashed_run_});
}

void Engine::State::say(Happening happening) {
  if (happening.at_ms == 0) happening.at_ms = now_ms();
  {
    const MutexLock hold(queue_mutex_);
    happenings_.push_back(std::move(happening));
  }
  happened_.notify_one();
}

bool Engine::State::try_say(Happening happening) noexcept {
  try {
    say(std::move(happening));
    return true;
  } catch (...) {
    return false;
  }
}

// Ends on the turn that finds nothing more after the engine has told it to end, so that the last
// word of the executor is written down.
void Engine::State::record() {
  using Clock = std::chrono::steady_clock;
  std::vector<Recording> behind;                     // ends that the journal could not take
  std::vector<Recording> waiting;                    // starts and proofs
  Clock::time_point due = Clock::time_point::max();  // for either
  while (true) {
    std::vector<Happening> happenings;
    const bool goes_on = take_happenings(happenings, due);
    // One turn: entries and observers at once, the journal when it is worth a sync, then those
    // whose end is durable, then what a crash threw back.
    std::vector<EngineEvent> events;
    plan_recordings(happenings, waiting, events);
    tell_observers(events);
    if (!waiting.empty()) due = std::min(due, Clock::now() + kCompanyWait);
    const bool is_urgent = std::any_of(waiting.begin(), waiting.end(), is_awaited);
    // What waits may go along with what is urgent; order is kept, ends of before come first.
    if (is_urgent || !goes_on || Clock::now() >= due) {
      std::vector<Recording> recordings = with_starts(std::move(behind));
      std::move(waiting.begin(), waiting.end(), std::back_inserter(recordings));
      waiting.clear();
      behind = apply(std::move(recordings));
      due = behind.empty() ? Clock::time_point::max() : Clock::now() + kRepeatInterval;
    }
    for (const Happening& happening : happenings) {
      // The journal has it already (a cancellation); only the telling is left.
      if (happening.kind == Happening::Kind::kFinal) tell_end(happening.id, {});
    }
    due = std::min(due, tell_untold());
    // After apply(): a job must be queued again in the journal before it is given again.
    refeed();
    {
      const MutexLock hold(mutex_);
      unrecorded_ends_ = behind.size();
    }
    if (!goes_on) break;
  }
  if (behind.empty()) return;
  // The engine ends and the disk still does not take them. They are unfinished in the journal, so
  // the next start runs them again.
  base::log(LogLevel::kError,
            fmt::format("{} jobs that ended are not in the journal and will be run again: {}",
                        behind.size(), behind.front().change.request_id));
}

// Waits for something to do; false once the engine stops and nothing is left.
bool Engine::State::take_happenings(std::vector<Happening>& happenings,
                                    std::chrono::steady_clock::time_point until) {
  const MutexLock hold(queue_mutex_);
  while (happenings_.empty() && !recorder_ending_) {
    if (until == std::chrono::steady_clock::time_point::max()) {
      happened_.wait(queue_mutex_);
    } else if (happened_.wait_until(queue_mutex_, until) == std::cv_status::timeout) {
      break;
    }
  }
  CUZK_DEBUG_ASSERT(happenings.empty());
  happenings.swap(happenings_);
  return !(recorder_ending_ && happenings.empty());
}

// A job whose start was not recorded cannot end.
std::vector<Engine::State::Recording> Engine::State::with_starts(std::vector<Recording> ends) {
  std::vector<Recording> out;
  const MutexLock hold(mutex_);
  for (Recording& end : ends) {
    Entry* entry = entry_of(end.id);
    if (entry == nullptr || entry->attempt != end.change.attempt) continue;
    if (end.change.kind == JournalChange::Kind::kComplete) plan_start(*entry, out);
    out.push_back(std::move(end));
  }
  return out;
}

// Under one lock for the whole handful, so that no submission sees half of what happened.
void Engine::State::plan_recordings(std::vector<Happening>& happenings,
                                    std::vector<Recording>& recordings,
                                    std::vector<EngineEvent>& events) {
  const MutexLock hold(mutex_);
  for (Happening& happening : happenings) {
    if (happening.kind == Happening::Kind::kCrashed) {
      plan_crash(happening, recordings);
      continue;
    }
    if (happening.kind == Happening::Kind::kFinal) continue;
    const bool is_accepted = happening.kind == Happening::Kind::kAccepted;
    Entry* entry = is_accepted ? entry_of(happening.id) : entry_of_run(happening.run);
    if (entry == nullptr) continue;
    if (happening.kind == Happening::Kind::kEnded) {
      plan_end(*entry, happening, recordings);
      continue;
    }
    if (!is_accepted && (entry->over || entry->stale || entry->ended || entry->cancel)) continue;
    plan(*entry, happening, recordings, events);
  }
}

void Engine::State::plan(Entry& entry, Happening& happening, std::vector<Recording>& recordings,
                         std::vector<EngineEvent>& events) {
  EngineEvent event;
  event.request_id = entry.request_id;
  event.job_kind = entry.kind;
  event.state = entry.running ? JobState::kRunning : JobState::kQueued;
  event.at_ms = happening.at_ms;
  // What a fast executor said of a job may stand before the word that it was accepted.
  if (!entry.announced) events.push_back(event);
  entry.announced = true;
  if (happening.kind == Happening::Kind::kAccepted) return;
  if (happening.kind == Happening::Kind::kStarted) {
    entry.running = true;
    entry.started_ms = happening.at_ms;
    plan_start(entry, recordings);
    event.kind = EngineEvent::Kind::kStarted;
  } else if (happening.kind == Happening::Kind::kMoved) {
    event.kind = EngineEvent::Kind::kPartitionMoved;
    event.partition = happening.partition;
    event.partition_state = happening.state;
    event.attempt = happening.attempt;
    event.device = happening.device;
  } else {
    // A finished partition: whatever crashed before, this job gets on.
    entry.crash_count = 0;
    plan_start(entry, recordings);
    recordings.push_back({{.kind = JournalChange::Kind::kPartition,
                           .request_id = entry.request_id,
                           .attempt = entry.attempt,
                           .partition = static_cast<std::uint32_t>(happening.partition),
                           .bytes = std::move(happening.bytes)},
                          entry.id});
    return;  // its move to done is told as such
  }
  event.state = JobState::kRunning;
  events.push_back(std::move(event));
}

void Engine::State::plan_start(Entry& entry, std::vector<Recording>& recordings) {
  // Once until the job is queued again; also before a proof or an end, for a start may come late.
  if (entry.start_recorded) return;
  entry.start_recorded = true;
  recordings.push_back(
      {{.kind = JournalChange::Kind::kStart, .request_id = entry.request_id}, entry.id});
}

// Five ends: of a job that was told already, of an attempt before this one, of a stop, of a
// cancellation, and the real ones.
void Engine::State::plan_end(Entry& entry, Happening& happening,
                             std::vector<Recording>& recordings) {
  // Final by a cancellation, and told: this was the executor's last word, which it was kept for.
  if (entry.over) {
    forget(entry);
    return;
  }
  entry.running = false;
  // The end of an attempt that is over already. The next one goes to the feeder.
  if (entry.stale) {
    entry.stale = false;
    wait_for_feeding(entry);
    return;
  }
  const auto requests = [&](JournalChange::Kind kind) {
    return JournalChange{.kind = kind, .request_id = entry.request_id, .attempt = entry.attempt};
  };
  // While the engine stops, "unavailable" means: not done. At any other time it is the job's end.
  bool is_stopped = false;
  if (happening.failure && happening.failure->kind == ErrorKind::kUnavailable) {
    is_stopped = stopping_;
  }
  if (is_stopped) {
    set_place(entry, Place::kWaiting);
    if (!std::exchange(entry.start_recorded, false)) return;
    recordings.push_back({requests(JournalChange::Kind::kRequeue), entry.id});
    return;
  }
  // From here on the journal decides; the entry goes when its end is told.
  entry.ended = true;
  if (entry.cancel) return;  // final already
  Recording end{requests(JournalChange::Kind::kComplete), entry.id, happening.times};
  if (happening.failure) {
    end.change.kind = JournalChange::Kind::kFail;
    end.change.failure = std::move(*happening.failure);
  } else {
    plan_start(entry, recordings);
    end.change.bytes = std::move(happening.bytes);
  }
  recordings.push_back(std::move(end));
}

// Every job that was with the dead process goes back to the feeder, those that ran with a change in
// the journal before, unless it has crashed too many. What was said before the crash and recorded
// after it is harmless: runs_, the journal's attempt and the entry's flags decide.
void Engine::State::plan_crash(const Happening& happening, std::vector<Recording>& recordings) {
  base::log(LogLevel::kError, fmt::format("proving code crashed while {} jobs ran: {}",
                                          happening.runs.size(), happening.sentence));
  // First who was with the executor, and who of them ran; then what becomes of each. Jobs given
  // after the crash are in the next process. Runs that are nobody's any more may have caused it
  // too, so they are company.
  std::vector<Entry*> given;
  const std::size_t running_count = happening.runs.size();
  for (const auto& [id, entry] : by_id_) {
    const bool is_later = entry->run > happening.latest;
    if (entry->place == Place::kWaiting || entry->ended || is_later) continue;
    given.push_back(entry.get());
    const auto& runs = happening.runs;
    entry->running = std::find(runs.begin(), runs.end(), entry->run) != runs.end();
  }
  for (Entry* entry : given) {
    const bool is_giving = entry->place == Place::kGiving;
    entry->lost = is_giving;
    if (entry->over && !is_giving) {
      forget(*entry);
      continue;
    }
    // Who only waited there is queued again and did nothing; who ran may have done it.
    if (entry->running && !entry->stale && !entry->cancel && !entry->over) {
      plan_crash_of(*entry, running_count, happening.sentence, recordings);
    } else if (std::exchange(entry->start_recorded, false) && !entry->cancel) {
      recordings.push_back({{.kind = JournalChange::Kind::kRequeue,
                             .request_id = entry->request_id,
                             .attempt = entry->attempt},
                            entry->id});
    }
    entry->running = false;
    // given() is still to come for it, and looks at `lost`. Should its request reach the executor
    // of after the crash all the same, nothing that one says of it counts.
    runs_.erase(entry->run);
    if (is_giving) continue;
    entry->stale = false;
    set_place(*entry, Place::kWaiting);
    if (!entry->ended && !entry->cancel) refeed_.push_back(entry->id);
  }
}

// Who ran in a crash may have caused it. The crash that would be one too many counts only for a
// job that ran alone; until then it waits to run so.
void Engine::State::plan_crash_of(Entry& entry, std::size_t running_count,
                                  const std::string& sentence, std::vector<Recording>& recordings) {
  CUZK_ASSERT(running_count > 0);
  JournalChange change{.request_id = entry.request_id, .attempt = entry.attempt};
  const std::uint32_t crashes = entry.crash_count + 1;
  const bool is_last = crashes >= options_.crashes_max;
  if (is_last && running_count == 1) {
    change.kind = JournalChange::Kind::kFail;
    change.failure = {ErrorKind::kInternal,
                      fmt::format("job '{}' is not run again: it ran in {} crashes of the proving "
                                  "process, in the last one alone ({})",
                                  entry.request_id, crashes, sentence)};
    entry.ended = true;
  } else {
    plan_start(entry, recordings);
    change.kind = JournalChange::Kind::kRequeue;
    // A last crash in company does not count, so the number in the journal stays where it is.
    change.reason = is_last ? Requeue::kStopped : Requeue::kCrashed;
    if (!is_last) entry.crash_count = crashes;
    entry.suspect = is_last || crashes + 1 >= options_.crashes_max;
    entry.start_recorded = false;
  }
  recordings.push_back({std::move(change), entry.id});
}

void Engine::State::refeed() {
  if (refeed_.empty()) return;
  const MutexLock hold(mutex_);
  for (const JobId id : refeed_) {
    Entry* entry = entry_of(id);
    const bool is_wanted = entry != nullptr && entry->place == Place::kWaiting && !entry->ended &&
                           !entry->over && !entry->cancel;
    if (is_wanted) wait_for_feeding(*entry);
  }
  refeed_.clear();
}

// One call of the journal for all. Ends that are durable are told here, in the order in which they
// came; the others are returned, with what the journal said of them in the log.
std::vector<Engine::State::Recording> Engine::State::apply(std::vector<Recording> recordings) {
  std::vector<JournalChange> changes;
  changes.reserve(recordings.size());
  for (Recording& recording : recordings) changes.push_back(std::move(recording.change));
  const std::vector<Status> outcomes = journal_->apply(changes);
  CUZK_ASSERT(outcomes.size() == changes.size() && changes.size() == recordings.size());
  std::vector<Recording> again;
  for (std::size_t i = 0; i < recordings.size(); ++i) {
    Recording& recording = recordings[i];
    recording.change = std::move(changes[i]);
    if (!outcomes[i].ok()) {
      if (must_repeat(recording, outcomes[i].error())) again.push_back(std::move(recording));
    } else if (recording.is_end()) {
      tell_end(recording.id, recording.times);
    }
  }
  return again;
}

// What to do with a change that the journal refused. kMismatch: it is final, by a cancellation.
bool Engine::State::must_repeat(Recording& recording, const Error& error) {
  const bool is_mismatch = error.kind == ErrorKind::kMismatch || error.kind == ErrorKind::kNotFound;
  if (!is_mismatch) {
    base::log(LogLevel::kWarning, fmt::format("the journal cannot take a change of job '{}': {}",
                                              recording.change.request_id, error.message));
  }
  // A start or a proof that is lost costs work after a restart and nothing else.
  if (!recording.is_end()) {
    const MutexLock hold(mutex_);
    Entry* entry = entry_of(recording.id);
    const bool is_start = recording.change.kind == JournalChange::Kind::kStart;
    if (is_start && entry != nullptr && !is_mismatch) entry->start_recorded = false;
    return false;
  }
  // Refused because it is final already: then what it is final as is told.
  if (finalize(recording.id, recording.times) == Told::kOver) return false;
  if (error.kind == ErrorKind::kInvalidArgument) {  // a result beyond the journal's limits
    recording.change.kind = JournalChange::Kind::kFail;
    recording.change.failure = error;
    recording.change.bytes.clear();
  }
  return true;
}

void Engine::State::tell_end(JobId id, const JobTimes& times) {
  if (finalize(id, times) == Told::kUnread) untold_.push_back({id, times});
}

std::chrono::steady_clock::time_point Engine::State::tell_untold() {
  using Clock = std::chrono::steady_clock;
  if (untold_.empty()) {
    read_again_at_ = {};
    return Clock::time_point::max();
  }
  // No time set: something has just come in. It is read after the first pause, not at once.
  const bool is_first = read_again_at_ == Clock::time_point();
  if (!is_first && Clock::now() < read_again_at_) return read_again_at_;
  read_again_pause_ = is_first ? kReadAgainMin : std::min(kReadAgainMax, 2 * read_again_pause_);
  if (!is_first) {
    for (const auto& [id, times] : std::exchange(untold_, {})) tell_end(id, times);
  }
  read_again_at_ = untold_.empty() ? Clock::time_point() : Clock::now() + read_again_pause_;
  return untold_.empty() ? Clock::time_point::max() : read_again_at_;
}

// Reads the record back outside the lock, for the journal may be busy, and so looks twice whether
// the job is still the one that it was asked for.
Engine::State::Told Engine::State::finalize(JobId id, const JobTimes& times) {
  std::string request_id;
  {
    const MutexLock hold(mutex_);
    Entry* entry = entry_of(id);
    if (entry == nullptr || entry->over) return Told::kOver;
    request_id = entry->request_id;
  }
  // The journal's own words are told and not the executor's: they are what a later reader will see.
  auto record = journal_->find(request_id);
  if (!record.ok()) {
    base::log(LogLevel::kError, "the journal does not answer: " + record.error().message);
    return Told::kUnread;
  }
  JobView view{std::move(record).value(), std::nullopt, times};
  if (!is_final(view.record.state)) return Told::kOpen;
  std::vector<std::shared_ptr<internal::Waiter>> waiters;
  EngineEvent event;
  {
    const MutexLock hold(mutex_);
    Entry* entry = entry_of(id);
    // Between the look and now the job may have been accepted once more.
    if (entry == nullptr || entry->over || entry->attempt != view.record.attempt) {
      return Told::kOver;
    }
    waiters = take_waiters(*entry);
    // Under the lock the job becomes over, so that nobody is told twice; the telling is outside it.
    event.kind = EngineEvent::Kind::kEnded;
    event.request_id = request_id;
    event.job_kind = entry->kind;
    event.state = view.record.state;
    event.at_ms = view.record.changed_ms;
    note_end(*entry, view.record, times);
  }
  tell_observers({event});
  for (const auto& waiter : waiters) waiter->finish(view);
  return Told::kOver;
}

void Engine::State::note_end(Entry& entry, const JobRecord& record, const JobTimes& times) {
  constexpr std::size_t kTimesMax = 4096, kEndsMax = 32;
  CUZK_ASSERT(!entry.over && live_count_ > 0);
  if (times_.insert_or_assign(entry.id, times).second) times_order_.push_back(entry.id);
  if (times_order_.size() > kTimesMax) {
    times_.erase(times_order_.front());
    times_order_.pop_front();
  }
  CUZK_DEBUG_ASSERT(times_.size() == times_order_.size());
  recent_ends_ms_.push_back(now_ms());
  if (recent_ends_ms_.size() > kEndsMax) recent_ends_ms_.pop_front();
  EngineReport::Queue& queue = ended_by_kind_[entry.kind];
  if (record.state == JobState::kCompleted) ++queue.completed;
  if (record.state == JobState::kFailed) ++queue.failed;
  if (record.state == JobState::kCancelled) ++queue.cancelled;
  --live_count_;
  // Nobody has it any more, or its last word is what was recorded.
  if (entry.place == Place::kWaiting || entry.ended) {
    forget(entry);
  } else {
    entry.over = true;  // the executor's word is still to come
    changed_.notify_all();
  }
}

void Engine::State::tell_observers(const std::vector<EngineEvent>& events) {
  if (events.empty()) return;
  std::vector<std::shared_ptr<internal::Observer>> observers;
  {
    const MutexLock hold(mutex_);
    for (const auto& weak : observers_) {
      if (auto observer = weak.lock()) observers.push_back(std::move(observer));
    }
  }
  // Only the recorder comes here, so all observers hear all in one order.
  for (const auto& observer : observers) {
    for (const EngineEvent& event : events) observer->post(event);
  }
}

}  // namespace cuzk::engine

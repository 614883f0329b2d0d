// Inside the engine: its jobs in memory, and the threads that feed, record and prune.
//
//   submit --accept--> journal         recorder: takes what the executor says, changes the journal
//      |                                 in one group, then tells those who wait
//      +--run--> executor --events-->  feeder: gives the executor what it has not got: at opening,
//                                        after a crash, and suspects of a crash one by one
//
// One mutex guards the table of jobs. It is never held while the journal, the executor or anybody
// who waits is called; whoever comes back from such a call looks the job up again.
//
// Order of locks: mutex_, then queue_mutex_ (say() is called with the first one held). A claim on
// an id is no lock but a row in claimed_: it may be held over calls of journal and executor, and
// makes what two clients do with one id happen one after the other.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "engine/engine.h"
#include "engine/engine_notify.h"
#include "engine/journal.h"

namespace cuzk::engine {

class Engine::State final : public ExecutorEvents {
 public:
  State(EngineOptions options, std::shared_ptr<const JobTypes> types);
  ~State() override;

  // Journal, executor, backlog, threads; in this order (engine.cpp).
  base::Status open(const MakeExecutor& make_executor);
  void drain() CUZK_EXCLUDES(mutex_);
  bool wait_idle(std::chrono::milliseconds timeout) CUZK_EXCLUDES(mutex_);
  void stop() CUZK_EXCLUDES(mutex_);

  // engine_submit.cpp
  base::Result<Submitted> submit(const SubmitRequest& request) CUZK_EXCLUDES(mutex_);
  base::Result<Cancelled> cancel(std::string_view request_id) CUZK_EXCLUDES(mutex_);

  // engine_query.cpp
  base::Result<std::optional<JobView>> await(std::string_view request_id,
                                             std::chrono::milliseconds timeout)
      CUZK_EXCLUDES(mutex_);
  base::Result<std::shared_ptr<Subscription>> on_final(std::string_view request_id,
                                                       std::function<void(const JobView&)> done)
      CUZK_EXCLUDES(mutex_);
  std::shared_ptr<Subscription> observe(std::function<void(const EngineEvent&)> observer)
      CUZK_EXCLUDES(mutex_);
  base::Result<JobView> find(std::string_view request_id) CUZK_EXCLUDES(mutex_);
  base::Result<std::vector<JobView>> list(const JobQuery& query) CUZK_EXCLUDES(mutex_);
  EngineReport report() CUZK_EXCLUDES(mutex_);
  std::int64_t retry_hint_ms() CUZK_EXCLUDES(mutex_) {
    const base::MutexLock hold(mutex_);
    return retry_after_ms();
  }

  Journal& journal() { return *journal_; }
  Executor& executor() { return *executor_; }
  const JobTypes& types() const { return *types_; }

  // What the executor says (engine_record.cpp).
  void job_started(JobId run) override;
  void partition_moved(JobId run, std::size_t partition, PartitionState state,
                       std::uint32_t attempt, std::uint32_t device) override;
  void partition_proved(JobId run, std::size_t partition, const base::Bytes& proof) override;
  void job_ended(JobId run, base::Result<base::Bytes> outcome, const JobTimes& times) override;
  void crashed(const std::vector<JobId>& runs, const std::string& sentence) override;

 private:
  // What the executor calls a job: a new number each time that it is given. So what is said of an
  // earlier run, and what is asked of it, never concerns a later one.
  using RunId = JobId;
  // Where a live job is.
  enum class Place : std::uint8_t {
    kWaiting,  // in to_feed_ or suspects_
    kGiving,   // somebody calls Executor::run for it
    kGiven,    // the executor has it and owes a job_ended
  };
  // A job that is not final, or that the executor still has.
  //
  // The journal's word and the executor's come at different times, so an entry may be final for one
  // and not for the other:
  //   over    final in the journal and told; kept until the executor's job_ended, then forgotten
  //   ended   the executor's word came, the journal's is under way; forgotten when it is told
  //   stale   over, then accepted again before the executor let go: its next job_ended is for the
  //           earlier attempt and sends the new one to the feeder
  //   lost    in kGiving when the executor crashed: whatever run() returns, it is to be fed again
  // Owned by by_id_; by_name_ has the newest of a request id: one that is over may still be with
  // the executor when retention has removed its job and the id is used anew. Pointers and
  // references to an entry do not outlive the lock.
  struct Entry {
    JobId id = 0;
    std::string request_id, kind;
    Priority priority = Priority::kNormal;
    std::optional<std::int64_t> deadline_ms;
    std::uint32_t attempt = 1, partition_count = 1;
    std::uint32_t crash_count = 0;
    RunId run = 0;  // the latest; its words count while it is in runs_
    std::int64_t accepted_ms = 0;
    Place place = Place::kWaiting;
    bool counted = false;         // in given_count_
    bool suspect = false;         // to be run alone
    bool running = false;         // began in the executor and has not ended
    bool start_recorded = false;  // the journal's state is running
    bool ended = false;           // its end is being recorded
    bool over = false;            // final for the journal; waits for the executor's job_ended
    bool stale = false;           // what the executor has is an earlier attempt
    bool lost = false;            // the executor crashed while it was being given
    bool cancel = false;          // the executor is to be asked to stop it
    bool announced = false;       // observers know of it
    std::int64_t started_ms = 0;
    // Those who wait for the end; a ticket dies with its handle, so some are empty. The list is
    // swept when it has reached the second number.
    std::vector<std::weak_ptr<internal::Waiter>> waiters;
    std::size_t waiters_sweep_at = 16;

    Rank rank() const { return {priority, deadline_ms.value_or(Rank::kNoDeadline), id}; }
  };
  using EntryNames = std::map<std::string, Entry*, std::less<>>;

  // Something the executor said, a job that was accepted, or one that is final in the journal.
  // The recorder takes them in order. Most members belong to one kind alone.
  struct Happening {
    enum class Kind : std::uint8_t {
      kAccepted,
      kStarted,
      kMoved,
      kProved,
      kEnded,
      kCrashed,
      kFinal
    };
    Kind kind = Kind::kStarted;
    JobId id = 0;   // of kAccepted and kFinal
    RunId run = 0;  // of what the executor says
    std::size_t partition = 0;
    PartitionState state = PartitionState::kQueued;
    std::uint32_t attempt = 1, device = 0;  // attempt: the partition's; of kFinal, the job's
    base::Bytes bytes;                      // proof or result
    std::optional<base::Error> failure;
    JobTimes times = {};
    std::vector<RunId> runs;  // that a crash ended
    std::string sentence;
    RunId latest = 0;  // run when it crashed
    std::int64_t at_ms = 0;
  };
  // A change for the journal that came of a happening.
  // `id` and `times` are for what is told afterwards; the change itself knows the job by its name.
  struct Recording {
    JournalChange change;
    JobId id = 0;
    JobTimes times = {};
    bool is_end() const {
      return change.kind == JournalChange::Kind::kComplete ||
             change.kind == JournalChange::Kind::kFail;
    }
  };

  // engine.cpp
  std::int64_t now_ms() const { return options_.now_ms(); }
  // The thread that prunes: once at opening, then each prune_interval, until the engine stops.
  void housekeep() CUZK_EXCLUDES(mutex_);

  // engine_submit.cpp
  // What a submission is once its input was looked at.
  struct Checked {
    SubmitRequest request;
    std::uint32_t partition_count = 1;
    std::optional<JobPlan> plan;
    bool joins = false;  // needs no room: the job is there already
  };
  // Looks at a submission before it is accepted: the job of its id, room, and its plan. Errors as
  // Engine::submit.
  base::Result<Checked> check(const SubmitRequest& request) CUZK_EXCLUDES(mutex_);
  // Whether one more job may be taken: draining, executor, and length of the queue.
  base::Status check_room(const Checked& checked) const CUZK_REQUIRES(mutex_);
  // About when a full queue has a place again, by the latest ends.
  std::int64_t retry_after_ms() const CUZK_REQUIRES(mutex_);
  base::Result<Submitted> submit_checked(const Checked& checked) CUZK_EXCLUDES(mutex_);
  // Whether a job that the journal has unfinished is in nobody's hands: its acceptance failed and
  // could not be taken back. Asked under a claim on its id.
  bool is_stray(const JobRecord& record) CUZK_EXCLUDES(mutex_);
  // From an acceptance to the executor, or to the feeder where it takes none now. An error is the
  // executor's refusal, or refused memory; the acceptance is taken back then.
  base::Status give(const JobRecord& record, const Checked& checked) CUZK_EXCLUDES(mutex_);
  base::Status complete_request(RunRequest& request, const JobRecord& record,
                                const Checked& checked) CUZK_EXCLUDES(mutex_);
  // Withdraws the job from journal and table. Returns the refusal, for the caller to hand on; ok
  // where the journal does not let it go, so that it is accepted all the same and given later.
  base::Status take_back(const JobRecord& record, base::Error refusal) CUZK_EXCLUDES(mutex_);
  // The job's entry for the attempt of the record: a new one, or that of an attempt before.
  Entry& enter(const JobRecord& record) CUZK_REQUIRES(mutex_);
  // Whether the submitter's own thread may hand the job on, or the feeder has to, in its order.
  bool may_give_now(const Entry& entry) const CUZK_REQUIRES(mutex_);
  std::uint64_t queue_position(const Entry& entry) const CUZK_REQUIRES(mutex_);

  // engine_feed.cpp
  // The feeder's thread.
  void feed() CUZK_EXCLUDES(mutex_);
  // The job that is to be given next; null while none may be. Critical ones always may.
  Entry* next_to_feed() CUZK_REQUIRES(mutex_);
  // Puts a job where the feeder finds it.
  void wait_for_feeding(Entry& entry) CUZK_REQUIRES(mutex_);
  // What becomes of a job in kGiving that the executor did not take; the entry may be gone then.
  void feed_later(Entry& entry) CUZK_REQUIRES(mutex_);
  // The same from take_back(), also of one that is being ended. False: no memory for it.
  bool try_feed_later(Entry& entry) CUZK_REQUIRES(mutex_);
  void take_from_backlog(const Entry& entry) CUZK_REQUIRES(mutex_);
  // The only place where `place` changes: keeps given_count_ and suspect_given_ in step, and takes
  // the run of who waits out of runs_.
  void set_place(Entry& entry, Place place) CUZK_REQUIRES(mutex_);
  // To kGiving, under a new number. Refused memory changes nothing.
  void begin_run(Entry& entry) CUZK_REQUIRES(mutex_);
  // A request whose input is read from the journal when it is asked for; without finished
  // partitions.
  RunRequest request_of(const Entry& entry) CUZK_REQUIRES(mutex_);
  // Adds the proofs that an earlier run left. Where they cannot be read, none: they are made again.
  void add_finished(RunRequest& request, std::uint32_t partition_count);
  // What follows from Executor::run for a run of a job in kGiving. False: the executor takes none
  // now. An answer from before a crash says nothing about the executor after it.
  bool given(JobId id, RunId run, const base::Status& outcome) CUZK_EXCLUDES(mutex_);

  // engine_record.cpp
  // Queues something for the recorder. Never waits, so it may be called with mutex_ held.
  void say(Happening happening) CUZK_EXCLUDES(queue_mutex_);
  // The same where the word may be lost: false where there was no memory for it.
  bool try_say(Happening happening) noexcept CUZK_EXCLUDES(queue_mutex_);
  // The recorder's thread: one turn for each handful of happenings.
  void record() CUZK_EXCLUDES(mutex_, queue_mutex_);
  // Whether somebody waits for this change to be durable.
  static bool is_awaited(const Recording& recording);
  // Waits for something to do until `until`; false once the engine stops and nothing is left.
  bool take_happenings(std::vector<Happening>& happenings,
                       std::chrono::steady_clock::time_point until) CUZK_EXCLUDES(queue_mutex_);
  // Changes the entries as the happenings say, and lists what follows for journal and observers.
  void plan_recordings(std::vector<Happening>& happenings, std::vector<Recording>& recordings,
                       std::vector<EngineEvent>& events) CUZK_EXCLUDES(mutex_);
  // One happening of a live job; the three below: its end, its start, a crash.
  void plan(Entry& entry, Happening& happening, std::vector<Recording>& recordings,
            std::vector<EngineEvent>& events) CUZK_REQUIRES(mutex_);
  void plan_end(Entry& entry, Happening& happening, std::vector<Recording>& recordings)
      CUZK_REQUIRES(mutex_);
  void plan_start(Entry& entry, std::vector<Recording>& recordings) CUZK_REQUIRES(mutex_);
  void plan_crash(const Happening& happening, std::vector<Recording>& recordings)
      CUZK_REQUIRES(mutex_);
  void plan_crash_of(Entry& entry, std::size_t running_count, const std::string& sentence,
                     std::vector<Recording>& recordings) CUZK_REQUIRES(mutex_);
  // Applies and returns the ends that have to be tried again.
  std::vector<Recording> apply(std::vector<Recording> recordings) CUZK_EXCLUDES(mutex_);
  // What to do with a change that the journal refused: true for an end that is to be tried again.
  bool must_repeat(Recording& recording, const base::Error& error) CUZK_EXCLUDES(mutex_);
  // Ends that are tried again, each behind the start that the journal may not have.
  std::vector<Recording> with_starts(std::vector<Recording> ends) CUZK_EXCLUDES(mutex_);
  // Where the journal says that the job is final: tells everybody, once.
  enum class Told : std::uint8_t {
    kOver,    // now or before, or not to be told any more
    kOpen,    // the job is not final
    kUnread,  // the journal does not answer
  };
  Told finalize(JobId id, const JobTimes& times) CUZK_EXCLUDES(mutex_);
  // Of an end that is recorded; what cannot be read now is in untold_ after.
  void tell_end(JobId id, const JobTimes& times) CUZK_EXCLUDES(mutex_);
  // Tries untold_ once more where it is time for it. When the next time is.
  std::chrono::steady_clock::time_point tell_untold() CUZK_EXCLUDES(mutex_);
  // Books of an end that is told: counts, times, and what becomes of the entry.
  void note_end(Entry& entry, const JobRecord& record, const JobTimes& times) CUZK_REQUIRES(mutex_);
  // Puts those whom a crash threw back where the feeder finds them, once the crash is recorded.
  void refeed() CUZK_EXCLUDES(mutex_);
  void tell_observers(const std::vector<EngineEvent>& events) CUZK_EXCLUDES(mutex_);

  // engine_query.cpp
  // Adds a ticket and sweeps empty ones, at a cost that is constant over many.
  void add_waiter(Entry& entry, const std::shared_ptr<internal::Waiter>& waiter)
      CUZK_REQUIRES(mutex_);
  // A job's end that is known, or the waiter added to a live job. Where the job is just being
  // accepted, waits for that, at most until `until`; then the waiter is added to none.
  using Until = std::optional<std::chrono::steady_clock::time_point>;
  base::Result<std::optional<JobView>> final_or_wait(
      std::string_view request_id, const std::shared_ptr<internal::Waiter>& waiter, Until until)
      CUZK_EXCLUDES(mutex_);
  // A record with what this process knows besides: progress, times, a start not yet recorded.
  JobView view_of(JobRecord record) CUZK_EXCLUDES(mutex_);

  // A job that is not final; null where there is none, or only what the executor has yet to end.
  Entry* live(std::string_view request_id) CUZK_REQUIRES(mutex_);
  // Any entry by its number.
  Entry* entry_of(JobId id) CUZK_REQUIRES(mutex_);
  // The entry that a word of the executor concerns; null where it is of an earlier run.
  Entry* entry_of_run(RunId run) CUZK_REQUIRES(mutex_);
  // Takes the entry out of all tables; it is dead afterwards.
  void forget(Entry& entry) CUZK_REQUIRES(mutex_);
  static std::vector<std::shared_ptr<internal::Waiter>> take_waiters(Entry& entry);
  // Submissions and cancellations of one id go one at a time.
  void claim(const std::string& request_id) CUZK_REQUIRES(mutex_);
  bool is_claimed(std::string_view request_id) const CUZK_REQUIRES(mutex_) {
    return claimed_.find(request_id) != claimed_.end();
  }
  void release(const std::string& request_id) CUZK_REQUIRES(mutex_);
  class Claim;        // one that ends with its scope; made and dropped without the lock
  class Reservation;  // a place in the queue; made with the lock, dropped without it

  EngineOptions options_;
  const std::shared_ptr<const JobTypes> types_;
  std::int64_t started_ms_ = 0;
  std::unique_ptr<Journal> journal_;
  std::shared_ptr<internal::CallThread> finals_;

  base::Mutex mutex_;
  std::condition_variable_any changed_;   // backlog, places, live count, stopping
  std::condition_variable_any released_;  // an id left claimed_, or its job is live
  EntryNames by_name_ CUZK_GUARDED_BY(mutex_);
  std::unordered_map<JobId, std::unique_ptr<Entry>> by_id_ CUZK_GUARDED_BY(mutex_);
  // What the executor has not got, in the order in which it will get it. An entry in kWaiting is in
  // one of the two, unless it is about to be ended or given again by the recorder.
  std::set<std::pair<Rank, JobId>> to_feed_ CUZK_GUARDED_BY(mutex_);
  std::set<std::pair<Rank, JobId>> suspects_ CUZK_GUARDED_BY(mutex_);
  std::optional<JobId> suspect_given_ CUZK_GUARDED_BY(mutex_);
  std::set<std::string, std::less<>> claimed_ CUZK_GUARDED_BY(mutex_);
  // The runs whose words count, and whose they are: of each entry in kGiving or kGiven the latest,
  // unless a crash ended it.
  std::unordered_map<RunId, JobId> runs_ CUZK_GUARDED_BY(mutex_);
  RunId run_count_ CUZK_GUARDED_BY(mutex_) = 0;
  RunId crashed_run_ CUZK_GUARDED_BY(mutex_) = 0;  // the latest that began before the last crash
  std::uint64_t live_count_ CUZK_GUARDED_BY(mutex_) = 0;      // entries that are not over
  std::uint64_t reserved_count_ CUZK_GUARDED_BY(mutex_) = 0;  // places of running submissions
  std::uint64_t given_count_ CUZK_GUARDED_BY(mutex_) = 0;     // in kGiving or kGiven, not critical
  std::uint64_t unrecorded_ends_ CUZK_GUARDED_BY(mutex_) = 0;
  std::uint64_t crash_count_ CUZK_GUARDED_BY(mutex_) = 0;
  bool executor_down_ CUZK_GUARDED_BY(mutex_) = false;  // until the feeder gave it a job again
  std::string executor_failure_ CUZK_GUARDED_BY(mutex_);
  bool draining_ CUZK_GUARDED_BY(mutex_) = false;
  bool stopping_ CUZK_GUARDED_BY(mutex_) = false;
  bool stopped_ CUZK_GUARDED_BY(mutex_) = false;
  std::map<std::string, EngineReport::Queue> ended_by_kind_ CUZK_GUARDED_BY(mutex_);
  std::deque<std::int64_t> recent_ends_ms_ CUZK_GUARDED_BY(mutex_);  // for the retry hint
  // Times of the jobs that ended last, which the journal does not keep.
  std::unordered_map<JobId, JobTimes> times_ CUZK_GUARDED_BY(mutex_);
  std::deque<JobId> times_order_ CUZK_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<internal::Observer>> observers_ CUZK_GUARDED_BY(mutex_);

  base::Mutex queue_mutex_;
  std::condition_variable_any happened_;
  std::vector<Happening> happenings_ CUZK_GUARDED_BY(queue_mutex_);
  bool recorder_ending_ CUZK_GUARDED_BY(queue_mutex_) = false;

  // The recorder's own.
  std::vector<JobId> refeed_;  // to be fed once a crash is recorded
  std::vector<std::pair<JobId, JobTimes>> untold_;
  std::chrono::steady_clock::time_point read_again_at_;
  std::chrono::milliseconds read_again_pause_{0};

  std::thread recorder_, feeder_, housekeeper_;
  std::unique_ptr<Executor> executor_;  // dies first: it calls the above
};

}  // namespace cuzk::engine

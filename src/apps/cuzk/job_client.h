// The work behind the commands that talk to a daemon.
//
// Exit codes: 0 done; 1 the job failed or was cancelled; 2 error; 3 not over yet (a wait that ended
// before the job).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "apps/cuzk/client_options.h"
#include "apps/cuzk/session.h"

namespace cuzk::apps {

inline constexpr int kExitPending = 3;

// Where the result of a job goes. Of a circuit: two documents; else bytes. All may be empty: then
// the answer alone says how the job ended, and the result can be fetched later.
struct ResultFiles {
  std::filesystem::path out;                   // the result as it is
  std::filesystem::path proof, public_values;  // of a circuit
  bool any() const { return !out.empty() || !proof.empty() || !public_values.empty(); }
};
// What can be wrong with them before the wait (check_outputs).
base::Status check_result_files(const ResultFiles& files,
                                const std::vector<std::filesystem::path>& inputs);

// As typed: what is empty or zero was not said. Files are read by prepare_job().
struct SubmitFlags {
  ClientFlags client;
  // Of every job. Without an id the daemon makes one; without a priority it is the kind's own.
  std::string id, priority;
  std::uint64_t deadline_s = 0;  // from now; 0: none
  // What is to be proved: a circuit of the daemon's with a witness file, or a C1, or a kind with
  // its vanilla proofs. One of the three.
  std::string circuit;
  std::filesystem::path witness, c1;
  std::string kind;  // "window-post", "winning-post", "update"
  std::vector<std::filesystem::path> vanilla;
  // What Filecoin's kinds say beside their proofs, as text where a user types a size or hex. Which
  // of them a kind needs is checked by the daemon.
  std::string sector_size;
  std::uint64_t registered_proof = 0, sector_number = 0, miner_id = 0;
  std::uint32_t partition = 0;
  std::string randomness, comm_r_old, comm_r_new, comm_d_new;
  // Without waiting there is no result to write: an output file then is an error.
  bool wait = false;
  ResultFiles files;
};
base::Result<Answer> submit_job(const SubmitFlags& flags, Session& session);

// A wait for a job of anybody's; with a timeout it may end before the job (exit code 3).
struct AwaitFlags {
  ClientFlags client;
  std::string id;
  std::string timeout;  // empty: as long as it takes
  ResultFiles files;
};
base::Result<Answer> await_job(const AwaitFlags& flags, Session& session);

struct JobFlags {
  ClientFlags client;
  std::string id;  // of a job, or a circuit's name
};
// Each is one call of service::Client and a sentence about its answer.
base::Result<Answer> cancel_job(const JobFlags& flags, Session& session);
base::Result<Answer> preload_key(const JobFlags& flags, Session& session);
base::Result<Answer> evict_key(const JobFlags& flags, Session& session);

// Which jobs are listed; empty: of every state, of every kind.
struct ListFlags {
  ClientFlags client;
  std::vector<std::string> states;
  std::string kind;
  std::uint32_t limit = 50;
};
base::Result<Answer> list_jobs(const ListFlags& flags, Session& session);
base::Result<Answer> show_status(const ClientFlags& flags, Session& session);

// How often the view is drawn anew, or whether one look is all.
struct TopFlags {
  ClientFlags client;
  double interval_s = 1;
  bool once = false;
};
// Draws until q, Ctrl-C or an error of the daemon. One look as an answer with `once`, under --json,
// and where standard output is no terminal.
base::Result<Answer> run_top(const TopFlags& flags, Session& session);

// What is sent and how fast. With a rate the moments of submission are fixed, whatever the daemon
// does; without one each of `concurrency` senders waits for its job before it sends the next.
struct LoadFlags {
  ClientFlags client;
  std::vector<std::string> mix;   // "circuit=NAME,witness=FILE[,weight=N]", "c1=FILE[,...]"
  double rate = 0;                // submissions a second; 0: as fast as `concurrency` allows
  std::uint32_t concurrency = 4;  // submissions at once, and without a rate jobs at once
  std::uint32_t awaits = 1000;    // with a rate: jobs that are awaited at once
  std::uint32_t count = 100;
  std::string duration;                   // instead of a count
  std::string status_interval = "100ms";  // between questions for the status; "0": none
  bool leave_open = false;                // with a rate: jobs that are open at the end are left
};
// Sends, awaits, and answers with quantiles. Exit code "no" when a job that was awaited is not
// proved, or nothing was sent.
base::Result<Answer> bench_load(const LoadFlags& flags, Session& session);

// A submission by its flags, with the files read; exactly one of the two is there.
struct PreparedJob {
  std::optional<service::CircuitRequest> circuit;
  std::optional<service::ProofRequest> proof;
};
// Errors: those of the flags and of reading the files. A witness that comes by a pipe is read until
// `stop` asks.
base::Result<PreparedJob> prepare_job(const SubmitFlags& flags, std::stop_token stop = {});
// The daemon's answer to the submission, which is not the end of the job.
base::Result<nlohmann::ordered_json> send_job(service::Client& client, const PreparedJob& job);

// Waits with a progress line; writes the files of a completed job; answers with its times.
base::Result<Answer> wait_for_job(service::Client& client, const std::string& id,
                                  std::optional<std::chrono::milliseconds> timeout,
                                  const ResultFiles& files, Session& session);

}  // namespace cuzk::apps

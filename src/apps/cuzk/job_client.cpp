// Waiting for jobs and asking about them.
//
// Answers of the daemon are JSON with the fields of the proto files; one that is missing is taken
// as its default, so that a client serves daemons that are older or newer. Words of the daemon and
// ids of jobs are shown through printable(), for they may come from anybody.
#include "apps/cuzk/job_client.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/cuzk/output.h"
#include "base/byte_size.h"
#include "base/file.h"
#include "service/config_duration.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using nlohmann::ordered_json;

static_assert(kExitPending != kExitYes && kExitPending != kExitNo && kExitPending != kExitError);
constexpr double kMsPerSecond = 1000;

// A field of text, empty where it is absent.
std::string word(const ordered_json& object, const char* name) {
  return object.value(name, std::string());
}

// Shows a job's partitions on the progress line while somebody else waits for its end.
class ProgressWatch {
 public:
  // Over a call of its own, beside the one that waits. Dropping it asks the call to stop and joins.
  ProgressWatch(service::Client& client, std::string id, Session& session)
      : thread_([&client, id = std::move(id), &session](const std::stop_token& stop) {
          const auto job = client.find(id);
          if (!job.ok() || !job->contains("partitions")) return;
          const auto& parts = job->at("partitions");
          const std::uint64_t total = parts.value("total", std::uint64_t{0});
          session.progress().begin_stage(printable(id), total);
          session.progress().advance(parts.value("done", std::uint64_t{0}));
          const auto watched = client.watch(
              id,
              [&](const ordered_json& event) {
                if (event.value("partition_state", "") == "done") session.progress().advance(1);
                return true;
              },
              stop);
          // A watch that ends early costs the progress line only.
          static_cast<void>(watched.ok());
        }) {}

 private:
  std::jthread thread_;
};

// Of a circuit's result the two documents are written together: a proof without its public values
// is of no use.
base::Status write_result(const base::Bytes& result, const ResultFiles& files) {
  if (!files.out.empty()) CUZK_TRY_STATUS(base::write_file(files.out, base::ByteSpan(result)));
  if (files.proof.empty() && files.public_values.empty()) return base::ok_status();
  const auto document = ordered_json::parse(result.begin(), result.end(), nullptr, false);
  if (!document.is_object() || !document.contains("proof") || !document.contains("public")) {
    return Error{ErrorKind::kMismatch,
                 "--proof and --public are for proofs of circuits; this result is bytes, write it "
                 "with --out"};
  }
  std::vector<OutputFile> outputs;
  if (!files.proof.empty()) outputs.push_back({files.proof, document.at("proof").dump(1)});
  if (!files.public_values.empty()) {
    outputs.push_back({files.public_values, document.at("public").dump(1)});
  }
  return write_together(outputs);
}

// People see them of a job that is proved: of others they are not there yet.
void add_times(Answer& answer, const ordered_json& job, bool shown) {
  if (!job.contains("times")) return;
  const auto& times = job.at("times");
  constexpr std::pair<const char*, const char*> kTimes[] = {
      {"queue_wait", "waited in the queue"},  {"key_load", "loading the key"},
      {"witness", "witness, all partitions"}, {"device", "device, all partitions"},
      {"finish", "finish, all partitions"},   {"total", "from acceptance to proof"}};
  for (const auto& [name, label] : kTimes) {
    const double ms = times.value(fmt::format("{}_ms", name), 0.0);
    answer.add_seconds(fmt::format("{}_s", name), ms / kMsPerSecond, shown ? label : "");
  }
}

// Headline and exit code follow from state and `timed_out`: pending, proved, or over without proof.
Answer job_answer(const ordered_json& job, std::size_t result_bytes, bool timed_out) {
  const std::string state = word(job, "state"), id = word(job, "job_id");
  const bool done = state == "completed";
  const char* const end = done                   ? "is proved"
                          : state == "cancelled" ? "is cancelled"
                                                 : state.c_str();
  // Pending is told apart from failed by the exit code, so that a script can wait again.
  Answer answer(timed_out ? fmt::format("{} is not over: {}", printable(id), state)
                          : fmt::format("{} {}", printable(id), end),
                timed_out ? kExitPending
                : done    ? kExitYes
                          : kExitNo);
  answer.add("job_id", id, "");
  answer.add("state", state, "");
  answer.add("kind", word(job, "kind"), "kind");
  if (!word(job, "error_message").empty()) {
    answer.add("error_kind", word(job, "error_kind"), "");
    answer.add_as("error_message", word(job, "error_message"), "reason",
                  printable(word(job, "error_message")));
  }
  if (done) answer.add_bytes("result_bytes", result_bytes, "result");
  add_times(answer, job, done);
  return answer;
}

}  // namespace

base::Status check_result_files(const ResultFiles& files,
                                const std::vector<std::filesystem::path>& inputs) {
  std::vector<OutputPath> outputs;
  if (!files.out.empty()) outputs.push_back({"--out", files.out});
  if (!files.proof.empty()) outputs.push_back({"--proof", files.proof});
  if (!files.public_values.empty()) outputs.push_back({"--public", files.public_values});
  return check_outputs(outputs, inputs, Overwrite::kReplace);
}

base::Result<Answer> wait_for_job(service::Client& client, const std::string& id,
                                  std::optional<std::chrono::milliseconds> timeout,
                                  const ResultFiles& files, Session& session) {
  // The watch ends with this block, before the progress line that it writes to.
  base::Result<service::Client::Awaited> awaited = [&] {
    const ProgressWatch watch(client, id, session);
    return client.await(id, timeout, session.stop_token());
  }();
  session.end_progress();
  if (!awaited.ok() && session.stop_token().stop_requested()) {
    return Error{ErrorKind::kCancelled,
                 fmt::format("interrupted; the job goes on: `cuzk await {0}` waits for it again, "
                             "`cuzk cancel {0}` ends it",
                             printable(id))};
  }
  if (!awaited.ok()) return awaited.error();
  if (word(awaited->job, "state") == "completed" && files.any()) {
    CUZK_TRY_STATUS(write_result(awaited->result, files));
  }
  return job_answer(awaited->job, awaited->result.size(), awaited->timed_out);
}

// All that can be wrong on this side is told before the daemon is called.
base::Result<Answer> await_job(const AwaitFlags& flags, Session& session) {
  std::optional<std::chrono::milliseconds> timeout;
  if (!flags.timeout.empty()) {
    const auto parsed = service::parse_duration(flags.timeout);
    if (!parsed.ok()) return Error(parsed.error()).within("--timeout");
    timeout = *parsed;
  }
  CUZK_TRY_STATUS(check_result_files(flags.files, {}));
  CUZK_TRY(const auto client, make_client(flags.client));
  return wait_for_job(*client, flags.id, timeout, flags.files, session);
}

// A job that is over already cannot be cancelled: exit code "no", with what it is.
base::Result<Answer> cancel_job(const JobFlags& flags, Session&) {
  CUZK_TRY(const auto client, make_client(flags.client));
  CUZK_TRY(const ordered_json reply, client->cancel(flags.id));
  const std::string state = word(reply, "state");
  const bool cancelled = state == "cancelled";
  Answer answer(cancelled
                    ? fmt::format("{} is cancelled", printable(flags.id))
                    : fmt::format("{} is not cancelled, it is {}", printable(flags.id), state),
                cancelled ? kExitYes : kExitNo);
  answer.add("job_id", flags.id, "");
  answer.add("state", state, "");
  answer.add("was_running", reply.value("was_running", false), "was running");
  return answer;
}

// Waits until the key is loaded, which may take minutes; Ctrl-C ends the wait.
base::Result<Answer> preload_key(const JobFlags& flags, Session& session) {
  CUZK_TRY(const auto client, make_client(flags.client));
  session.stage("loading " + printable(flags.id));
  CUZK_TRY(const ordered_json reply, client->preload(flags.id, session.stop_token()));
  const bool was = reply.value("already_loaded", false);
  Answer answer(fmt::format("{} {}", printable(flags.id), was ? "was loaded before" : "is loaded"));
  answer.add("circuit_id", flags.id, "");
  answer.add("already_loaded", was, "");
  answer.add_seconds("load_time_s", reply.value("load_time_ms", 0.0) / kMsPerSecond, "took");
  return answer;
}

// A key that is in use stays, and the daemon's error says so; one that was not loaded is no error.
base::Result<Answer> evict_key(const JobFlags& flags, Session&) {
  CUZK_TRY(const auto client, make_client(flags.client));
  CUZK_TRY(const ordered_json reply, client->evict(flags.id));
  const bool was = reply.value("was_loaded", false);
  Answer answer(fmt::format("{} {}", printable(flags.id), was ? "is evicted" : "was not loaded"));
  answer.add("circuit_id", flags.id, "");
  answer.add("was_loaded", was, "");
  answer.add_bytes("freed_bytes", reply.value("freed_bytes", std::uint64_t{0}), "freed");
  return answer;
}

// All pages are read for the last `limit` jobs, of which no more than that and a page are held.
base::Result<Answer> list_jobs(const ListFlags& flags, Session&) {
  CUZK_TRY(const auto client, make_client(flags.client));
  // The latest are asked for; the daemon's pages begin with the oldest.
  service::Client::ListQuery query{flags.states, flags.kind, 0, 1000};
  std::vector<ordered_json> jobs;
  do {
    CUZK_TRY(const ordered_json page, client->list(query));
    for (const ordered_json& job : page.at("jobs")) jobs.push_back(job);
    if (jobs.size() > flags.limit) jobs.erase(jobs.begin(), jobs.end() - flags.limit);
    query.after_sequence = page.value("next_after_sequence", std::uint64_t{0});
  } while (query.after_sequence != 0);
  // Ids may be long, and a table with lines broken in the middle tells nothing: the widest decides.
  std::size_t width = 24;
  for (const ordered_json& job : jobs) {
    width = std::max(width, printable(word(job, "job_id")).size());
  }
  std::string table = fmt::format("{:<{}} {:<14} {:<10} {:>9} {:>10}", "JOB", width, "KIND",
                                  "STATE", "PARTS", "SECONDS");
  for (const ordered_json& job : jobs) {
    const auto& parts = job.value("partitions", ordered_json::object());
    const double ms = job.value("times", ordered_json::object()).value("total_ms", 0.0);
    // The whole time is known at the end.
    const std::string state = word(job, "state");
    const bool over = state != "queued" && state != "running";
    table += fmt::format("\n{:<{}} {:<14} {:<10} {:>9} {:>10}", printable(word(job, "job_id")),
                         width, printable(word(job, "kind")), state,
                         parts.value("total", 0) == 0 ? std::string("-")
                                                      : fmt::format("{}/{}", parts.value("done", 0),
                                                                    parts.value("total", 0)),
                         over ? fmt::format("{:.1f}", ms / kMsPerSecond) : std::string("-"));
  }
  CUZK_ASSERT(jobs.size() <= flags.limit);
  Answer answer(jobs.empty() ? "no such job is kept" : table);
  answer.add("jobs", jobs, "");
  return answer;
}

// For people a line a device, key and kind; for programs the daemon's whole answer, member by
// member.
base::Result<Answer> show_status(const ClientFlags& flags, Session&) {
  CUZK_TRY(const auto client, make_client(flags));
  CUZK_TRY(const ordered_json status, client->status());
  const bool ready = status.value("ready", true);
  std::string text = fmt::format("{}, up {}: {}", printable(word(status, "version")),
                                 service::format_duration(std::chrono::seconds(
                                     status.value("uptime_seconds", std::int64_t{0}))),
                                 ready ? "ready" : printable(word(status, "not_ready_reason")));
  const auto memory = status.value("memory", ordered_json::object());
  text += fmt::format("\n  memory       {} of {} in the ledger, {} resident",
                      human_bytes(memory.value("used_bytes", std::uint64_t{0})),
                      human_bytes(memory.value("budget_bytes", std::uint64_t{0})),
                      human_bytes(memory.value("rss_bytes", std::uint64_t{0})));
  for (const auto& queue : status.value("queues", ordered_json::array())) {
    text += fmt::format("\n  {:<12} {} queued, {} running, {} proved, {} failed, {} cancelled",
                        printable(word(queue, "proof_kind")), queue.value("pending", 0),
                        queue.value("in_progress", 0), queue.value("completed", std::uint64_t{0}),
                        queue.value("failed", std::uint64_t{0}),
                        queue.value("cancelled", std::uint64_t{0}));
  }
  for (const auto& device : status.value("devices", ordered_json::array())) {
    const auto busy = device.value("current_job_ids", ordered_json::array()).size();
    text += fmt::format("\n  device {:<5} {}: {} of {} workers busy{}", device.value("ordinal", 0),
                        printable(word(device, "name")), busy, device.value("worker_count", 0),
                        device.value("usable", true) ? "" : ", out of use");
  }
  for (const auto& key : status.value("loaded_srs", ordered_json::array())) {
    text += fmt::format("\n  key {:<8} {}, {}, {} users", printable(word(key, "circuit_id")),
                        word(key, "tier"), human_bytes(key.value("size_bytes", std::uint64_t{0})),
                        key.value("ref_count", 0));
  }
  Answer answer(text, ready ? kExitYes : kExitNo);
  for (const auto& [name, value] : status.items()) answer.add(name, value, "");
  return answer;
}

}  // namespace cuzk::apps

// Each route is a few lines: read parameters, call the engine, show the answer. A handler runs in
// the thread of its connection and may block there, which is what a wait does.
#include "service/http_jobs.h"

#include <condition_variable>
#include <mutex>

#include <fmt/format.h>

#include "engine/guarded.h"
#include "service/config_duration.h"
#include "service/http_proof_json.h"
#include "service/retry_hint.h"

namespace cuzk::service {
namespace {

using std::chrono::milliseconds;
using Json = nlohmann::ordered_json;

// What every submission takes beside what is its own.
const std::vector<std::string> kSubmitParameters = {"request_id", "priority", "deadline_ms"};
constexpr std::size_t kPageDefault = 100, kPageMax = 1000;
constexpr milliseconds kWaitDefault{30'000};
// How often a wait looks whether its client is still there.
constexpr milliseconds kLookAgain{250};
// In the order of engine::PartitionState.
constexpr const char* kPartitionKeys[] = {"queued",        "witness", "device_queued", "device",
                                          "finish_queued", "finish",  "done",          "ended"};

// What the request itself is to blame for: 400.
base::Error wrong(std::string message) {
  return {base::ErrorKind::kInvalidArgument, std::move(message)};
}

base::Result<std::optional<engine::Priority>> priority_of(const HttpRequest& request) {
  const std::string word = request.parameter("priority");
  if (word.empty()) return std::optional<engine::Priority>();
  const auto priority = engine::parse_priority(word);
  if (!priority.ok()) return base::Error(priority.error()).within("parameter priority");
  return std::optional(*priority);
}

// Milliseconds since 1970, as in all other forms of a submission.
base::Result<std::optional<std::int64_t>> deadline_of(const HttpRequest& request) {
  CUZK_TRY(const auto number, query_number(request, "deadline_ms", INT64_MAX));
  if (!number) return std::optional<std::int64_t>();
  return std::optional(static_cast<std::int64_t>(*number));
}

// A value that another thread makes while a connection's thread waits.
template <class T>
class Awaited {
 public:
  void set(T value) {
    const std::lock_guard lock(mutex_);
    value_ = std::move(value);
    changed_.notify_all();
  }
  // Nothing when whoever asks has gone, or the server stops, before it is there.
  std::optional<T> wait(const HttpRequest& request) {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kLookAgain, [&] { return value_.has_value(); })) {
      if (request.is_gone && request.is_gone()) return std::nullopt;
    }
    return std::move(value_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<T> value_;
};

// Stages of handlers return Result; this is where errors become replies.
template <class Answer>
std::function<HttpReply(const HttpRequest&)> guarded(Answer answer) {
  return [answer](const HttpRequest& request) {
    const base::Result<HttpReply> reply = answer(request);
    return reply.ok() ? *reply : error_reply(reply.error());
  };
}

// 202 for what is to be proved, 200 for what was there already: a script that sends a job twice
// sees which it was without reading the body.
base::Result<HttpReply> submit(const Backend& backend,
                               base::Result<engine::SubmitRequest> prepared) {
  CUZK_TRY(const engine::SubmitRequest request, std::move(prepared));
  const auto outcome = backend.engine->submit(request);
  if (!outcome.ok()) {
    return error_reply(outcome.error(), retry_after(outcome.error(), *backend.engine));
  }
  const engine::Submitted& submitted = *outcome;
  Json body;
  body["job_id"] = submitted.request_id;
  body["state"] = std::string(engine::to_string(submitted.state));
  body["queue_position"] = submitted.queue_position;
  body["joined"] = submitted.acceptance == engine::Acceptance::kJoined;
  body["retried"] = submitted.acceptance == engine::Acceptance::kRetried;
  return json_reply(body, submitted.acceptance == engine::Acceptance::kJoined ? 200 : 202);
}

// What the query says of a submission, over what its body says already: either may, both only the
// same.
template <class T>
base::Status merge(const char* name, const T& unset, const T& asked, T& field) {
  if (asked == unset) return base::ok_status();
  if (field != unset && field != asked) {
    return wrong(fmt::format("parameter {}: the body says something else", name));
  }
  field = asked;
  return base::ok_status();
}

template <class Job>
base::Status merge_parameters(const HttpRequest& request, Job& job) {
  CUZK_TRY(const auto priority, priority_of(request));
  CUZK_TRY(const auto deadline_ms, deadline_of(request));
  CUZK_TRY_STATUS(merge("request_id", {}, request.parameter("request_id"), job.request_id));
  CUZK_TRY_STATUS(merge("priority", {}, priority, job.priority));
  return merge("deadline_ms", {}, deadline_ms, job.deadline_ms);
}

base::Result<HttpReply> submit_json(const Backend& backend, const HttpRequest& request) {
  CUZK_TRY(ProofRequest proof, proof_request_from_json(request.body));
  CUZK_TRY_STATUS(merge_parameters(request, proof));
  return submit(backend, backend.proof_job(std::move(proof)));
}

// The body goes to the reader as it came, so a C1 is read by the same code as over gRPC; numbers
// that are not given are 0, which that code takes for "what the C1 says".
base::Result<HttpReply> submit_porep(const Backend& backend, const HttpRequest& request) {
  if (request.body.empty()) return wrong("the body is empty; send the C1 JSON as it is");
  ProofRequest proof;
  proof.kind = ProofKind::kPorep;
  CUZK_TRY_STATUS(merge_parameters(request, proof));
  for (const auto& [name, field] :
       {std::pair{"sector_size", &proof.sector_size},
        std::pair{"registered_proof", &proof.registered_proof},
        std::pair{"sector_number", &proof.sector_number}, std::pair{"miner_id", &proof.miner_id}}) {
    CUZK_TRY(const auto number, query_number(request, name));
    *field = number.value_or(0);
  }
  proof.vanilla_proof = request.body;
  return submit(backend, backend.proof_job(std::move(proof)));
}

base::Result<HttpReply> submit_circuit(const Backend& backend, const HttpRequest& request) {
  if (request.body.empty()) return wrong("the body is empty; send the .wtns file as it is");
  CircuitRequest circuit;
  circuit.circuit = request.captures.at(0);
  CUZK_TRY_STATUS(merge_parameters(request, circuit));
  circuit.witness = request.body;
  return submit(backend, backend.circuit_job(std::move(circuit)));
}

// Words between commas; none means all.
base::Result<std::vector<engine::JobState>> states_of(std::string_view text) {
  std::vector<engine::JobState> states;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    bool known = false;
    for (std::size_t i = 0; i < engine::kJobStateCount && !known; ++i) {
      const auto state = static_cast<engine::JobState>(i);
      known = engine::to_string(state) == word;
      if (known) states.push_back(state);
    }
    if (!known) {
      return wrong(
          fmt::format("parameter state: '{}' is none of queued, running, completed, "
                      "failed, cancelled",
                      word.substr(0, 64)));
    }
  }
  return states;
}

// Pages by sequence number and not by offset: jobs that come or go meanwhile move nothing.
// `next_after` is null where fewer came than were asked for, so nothing is behind them.
base::Result<HttpReply> list(const Backend& backend, const HttpRequest& request) {
  engine::JobQuery query;
  CUZK_TRY(query.states, states_of(request.parameter("state")));
  const auto kind = engine_kind_named(backend, request.parameter("kind"));
  if (!kind.ok()) return base::Error(kind.error()).within("parameter");
  query.kind = *kind;
  CUZK_TRY(const auto after, query_number(request, "after", INT64_MAX));
  CUZK_TRY(const auto limit, query_number(request, "limit"));
  query.after_sequence = after.value_or(0);
  query.count_max = static_cast<std::size_t>(limit.value_or(kPageDefault));
  if (query.count_max < 1 || query.count_max > kPageMax) {
    return wrong(fmt::format("parameter limit: {} is outside 1 to {}", query.count_max, kPageMax));
  }
  CUZK_TRY(const auto jobs, backend.engine->list(query));
  Json body;
  body["jobs"] = Json::array();
  for (const engine::JobView& job : jobs) body["jobs"].push_back(job_json(job));
  body["next_after"] =
      jobs.size() == query.count_max ? Json(jobs.back().record.sequence) : Json(nullptr);
  return json_reply(body);
}

// Blocks the connection's thread until the job ends, the time is over or nobody listens.
base::Result<HttpReply> wait(const Backend& backend, JobWaits& waits, milliseconds wait_max,
                             const HttpRequest& request) {
  milliseconds timeout = kWaitDefault;
  if (const std::string text = request.parameter("timeout"); !text.empty()) {
    const auto asked = parse_duration(text);
    if (!asked.ok()) return base::Error(asked.error()).within("parameter timeout");
    timeout = *asked;
  }
  const auto end = std::make_shared<Awaited<WaitEnd>>();
  CUZK_TRY(const auto begun, waits.begin(request.captures.at(0), std::min(timeout, wait_max),
                                         [end](WaitEnd how) { end->set(std::move(how)); }));
  const std::optional<WaitEnd> ended = end->wait(request);
  if (!ended) {
    JobWaits::abandon(begun);
    return wrong("the client has gone");
  }
  if (ended->kind == WaitEnd::Kind::kClosed) {
    return base::Error{base::ErrorKind::kUnavailable, "the daemon stops, the job is kept"};
  }
  if (ended->job) return json_reply(job_json(*ended->job));
  CUZK_TRY(const engine::JobView job, backend.engine->find(request.captures.at(0)));
  return json_reply(job_json(job), engine::is_final(job.record.state) ? 200 : 202);
}

base::Result<HttpReply> find(const Backend& backend, const HttpRequest& request) {
  CUZK_TRY(const engine::JobView job, backend.engine->find(request.captures.at(0)));
  return json_reply(job_json(job));
}

// Not an error of the request, and no result either: a script that stores what it gets must notice.
HttpReply not_done_reply(const engine::JobView& job) {
  const std::string state(engine::to_string(job.record.state));
  Json body = error_json("not_done", fmt::format("the job is {}, so its result is not there yet; "
                                                 "GET /api/v1/jobs/ID/wait answers when it is",
                                                 state));
  body["error"]["state"] = state;
  return json_reply(body, 409);
}

// The bytes alone, so that they can be written to a file as they are; all that is not a result has
// another status and JSON. A failed job answers with its own error.
base::Result<HttpReply> result(const Backend& backend, const HttpRequest& request) {
  CUZK_TRY(const engine::JobView job, backend.engine->find(request.captures.at(0)));
  const engine::JobState state = job.record.state;
  if (!engine::is_final(state)) return not_done_reply(job);
  if (state != engine::JobState::kCompleted) {
    if (job.record.failure) return base::Error(*job.record.failure);
    return base::Error{base::ErrorKind::kCancelled,
                       fmt::format("the job is {} and has no proof", engine::to_string(state))};
  }
  CUZK_TRY(const base::Bytes bytes, backend.engine->result(request.captures.at(0)));
  HttpReply reply;
  reply.body.assign(bytes.begin(), bytes.end());
  // The result of a circuit is JSON, of a Filecoin job bytes.
  const bool json = !bytes.empty() && bytes.front() == '{';
  reply.content_type = json ? "application/json" : "application/octet-stream";
  return reply;
}

// Of a job that is over: 200 with the state that it is over in, since what was wanted is so.
base::Result<HttpReply> cancel(const Backend& backend, const HttpRequest& request) {
  CUZK_TRY(const auto cancelled, backend.engine->cancel(request.captures.at(0)));
  Json body;
  body["state"] = std::string(engine::to_string(cancelled.state));
  body["was_running"] = cancelled.was_running;
  return json_reply(body);
}

base::Result<HttpReply> preload(const Backend& backend, const std::string& key) {
  CUZK_TRY(const bool loaded, backend.engine->preload(key));
  Json body;
  body["already_loaded"] = loaded;
  return json_reply(body);
}

base::Result<HttpReply> evict(const Backend& backend, const std::string& key) {
  CUZK_TRY(const std::uint64_t freed, backend.engine->evict(key));
  Json body;
  body["was_loaded"] = freed > 0;
  body["freed_bytes"] = freed;
  return json_reply(body);
}

using KeyWork = base::Result<HttpReply> (*)(const Backend&, const std::string& key);

// A key takes as long to load as its file to read, and a door that closes does not wait for it.
base::Result<HttpReply> in_lane(const Backend& backend, WorkLane& keys, KeyWork work,
                                const HttpRequest& request) {
  using Outcome = base::Result<HttpReply>;
  const auto outcome = std::make_shared<Awaited<Outcome>>();
  const bool posted = keys.post([outcome, to = &backend, work, key = request.captures.at(0)] {
    outcome->set(engine::guarded([&] { return work(*to, key); }));
  });
  if (!posted) {
    return base::Error{base::ErrorKind::kResourceExhausted,
                       "more calls wait for keys than this daemon takes; try again"};
  }
  auto made = outcome->wait(request);
  if (!made) return wrong("the client has gone");
  return *std::move(made);
}

HttpReply kinds(const Backend& backend) {
  Json body;
  body["kinds"] = Json::array();
  for (const engine::JobType* type : backend.engine->types().all()) {
    body["kinds"].push_back({{"name", type->name},
                             {"public_name", backend.public_kind_name(type->name)},
                             {"description", type->description}});
  }
  return json_reply(body);
}

}  // namespace

Json job_json(const engine::JobView& job) {
  const engine::JobRecord& record = job.record;
  Json out;
  out["job_id"] = record.request_id;
  out["kind"] = record.kind;
  out["state"] = std::string(engine::to_string(record.state));
  out["priority"] =
      std::string(engine::to_string(static_cast<engine::Priority>(record.priority & 3)));
  out["deadline_ms"] = record.deadline_ms ? Json(*record.deadline_ms) : Json(nullptr);
  out["sequence"] = record.sequence;
  out["attempt"] = record.attempt;
  out["start_count"] = record.start_count;
  out["accepted_ms"] = record.accepted_ms;
  out["changed_ms"] = record.changed_ms;
  out["input_bytes"] = record.input_bytes;
  out["input_sha256"] = base::to_hex(record.input_digest);
  if (record.state == engine::JobState::kCompleted) {
    out["result_bytes"] = record.result_bytes;
    out["result_sha256"] = base::to_hex(record.result_digest);
  }
  if (record.failure) {
    out["error"]["kind"] = std::string(base::to_string(record.failure->kind));
    out["error"]["message"] = record.failure->message;
  }
  out["partitions"]["total"] = record.partition_count;
  if (job.progress) {
    for (std::size_t i = 0; i < engine::kPartitionStateCount; ++i) {
      out["partitions"][kPartitionKeys[i]] = job.progress->partitions[i];
    }
  }
  const engine::JobTimes& times = job.times;
  out["times"] = {{"queue_wait_ms", times.queue_wait_ms}, {"key_load_ms", times.key_load_ms},
                  {"witness_ms", times.witness_ms},       {"device_ms", times.device_ms},
                  {"finish_ms", times.finish_ms},         {"total_ms", times.total_ms}};
  return out;
}

// The order matters where one pattern fits what another means: the endings of a job come before the
// job. An id may have slashes of its own (.+); where it ends like one of them, its slash is
// escaped.
std::vector<HttpRoute> job_routes(const Backend& backend, JobWaits& waits, WorkLane& keys,
                                  std::function<milliseconds()> await_max) {
  const Backend* to = &backend;
  JobWaits* at = &waits;
  WorkLane* lane = &keys;
  const auto of_key = [to, lane](KeyWork work) {
    return guarded([to, lane, work](const HttpRequest& request) {
      return in_lane(*to, *lane, work, request);
    });
  };
  const auto with = [to](base::Result<HttpReply> (*answer)(const Backend&, const HttpRequest&)) {
    return guarded([to, answer](const HttpRequest& request) { return answer(*to, request); });
  };
  const auto waited = [to, at, await_max](const HttpRequest& request) {
    return wait(*to, *at, await_max(), request);
  };
  std::vector<std::string> porep = kSubmitParameters;
  porep.insert(porep.end(), {"sector_size", "registered_proof", "sector_number", "miner_id"});
  constexpr bool kPublic = false;
  const std::vector<std::string> none;
  return {
      {"POST", "/api/v1/proofs", with(submit_json), kPublic, kSubmitParameters},
      {"POST", "/api/v1/proofs/porep", with(submit_porep), kPublic, porep},
      {"POST", "/api/v1/circuits/([^/]+)/jobs", with(submit_circuit), kPublic, kSubmitParameters},
      {"GET", "/api/v1/jobs", with(list), kPublic,
       std::vector<std::string>{"state", "kind", "after", "limit"}},
      {"GET", "/api/v1/jobs/(.+)/wait", guarded(waited), kPublic,
       std::vector<std::string>{"timeout"}},
      {"GET", "/api/v1/jobs/(.+)/result", with(result), kPublic, none},
      {"POST", "/api/v1/jobs/(.+)/cancel", with(cancel), kPublic, none},
      {"GET", "/api/v1/jobs/(.+)", with(find), kPublic, none},
      {"DELETE", "/api/v1/jobs/(.+)", with(cancel), kPublic, none},
      {"POST", "/api/v1/keys/([^/]+)/preload", of_key(preload), kPublic, none},
      {"POST", "/api/v1/keys/([^/]+)/evict", of_key(evict), kPublic, none},
      {"GET", "/api/v1/kinds", [to](const HttpRequest&) { return kinds(*to); }, kPublic, none}};
}

}  // namespace cuzk::service

// The table, the trace and the picture of replayed runs.
//
// Text and figures come from the engine (engine/incident.h); here they become files and an answer.
// Outputs are checked before the replay, so that a wrong path costs no time.
#include "apps/cuzk/job_bench.h"

#include <utility>

#include <fmt/format.h>

#include "apps/cuzk/output.h"
#include "base/file.h"
#include "base/memory_size.h"
#include "engine/arena_replay.h"

namespace cuzk::apps {
namespace {

using Json = nlohmann::ordered_json;

base::Error invalid(std::string sentence) {
  return {base::ErrorKind::kInvalidArgument, std::move(sentence)};
}

// A run's figures beside the published ones; a column of the table, and more than it has room for.
Json row_json(const engine::IncidentRow& row) {
  CUZK_ASSERT(row.scenario.options.proof_count > 0);
  const engine::SimulationResult& result = row.result;
  Json json;
  json["name"] = row.scenario.name;
  json["meaning"] = row.scenario.meaning;
  json["witness_workers"] = row.scenario.options.witness_workers;
  json["budget_bytes"] = row.scenario.options.budget_bytes;
  json["resident_peak_bytes"] = result.resident_peak_bytes;
  json["plateau_bytes"] = result.plateau_bytes;
  json["burst_peak_bytes"] = result.burst_peak_bytes;
  json["resident_end_bytes"] = result.resident_end_bytes;
  json["ledger_peak_bytes"] = result.ledger_peak_bytes;
  json["device_queued_peak"] = result.device_queued_peak;
  json["overflows_host"] = result.overflow_s >= 0;
  json["seconds_per_proof"] = result.duration_s / row.scenario.options.proof_count;
  json["published"] = row.scenario.published;
  json["difference"] = row.scenario.reason;
  return json;
}

// The published cases, one of them, or the one that the options describe.
base::Result<std::vector<engine::IncidentRow>> run_cases(const IncidentRequest& request) {
  if (!request.has_own) return engine::replay_incident(request.only);
  engine::IncidentCase scenario;
  scenario.name = "own";
  scenario.meaning = "as the options say";
  scenario.options = request.own;
  if (request.budget != "none") {
    CUZK_TRY(scenario.options.budget_bytes, base::parse_memory_size(request.budget));
    scenario.options.arenas = false;  // buffers that a ledger admits are its own pages
  }
  CUZK_TRY(engine::IncidentRow row, engine::replay_case(std::move(scenario)));
  std::vector<engine::IncidentRow> rows;
  rows.push_back(std::move(row));
  return rows;
}

// In virtual time: the same figures on every machine.
base::Result<Answer> replay_virtual(const IncidentRequest& request, Session& session) {
  std::vector<OutputPath> outputs;
  if (!request.trace.empty()) outputs.push_back({"--trace", request.trace});
  if (!request.plot.empty()) outputs.push_back({"--plot", request.plot});
  CUZK_TRY_STATUS(check_outputs(outputs, {}, Overwrite::kReplace));
  session.stage("replaying");
  CUZK_TRY(const std::vector<engine::IncidentRow> rows, run_cases(request));
  if (!request.trace.empty()) {
    CUZK_TRY_STATUS(base::write_file(request.trace, engine::incident_trace_json(rows)));
  }
  if (!request.plot.empty()) {
    CUZK_TRY_STATUS(base::write_file(request.plot, engine::incident_svg(rows)));
  }
  Answer answer(engine::incident_table(rows));
  Json runs = Json::array();
  for (const engine::IncidentRow& row : rows) runs.push_back(row_json(row));
  answer.add("runs", std::move(runs), "");
  if (!request.trace.empty()) answer.add("trace", request.trace.string(), "trace");
  if (!request.plot.empty()) answer.add("plot", request.plot.string(), "plot");
  answer.add_seconds("seconds", session.elapsed_s(), "time");
  return answer;
}

// The ledger's pages first: what the allocator keeps would still be there.
base::Result<Answer> replay_allocations(Session& session) {
  session.stage("allocating");
  Answer answer(
      "Real allocations: threads make buffers, another frees them, a few small ones stay.");
  for (const auto source : {engine::BufferSource::kLedger, engine::BufferSource::kAllocator}) {
    base::Ledger ledger;
    engine::ArenaReplayOptions options;
    options.source = source;
    CUZK_TRY(const engine::ArenaReplayResult result, engine::replay_arenas(options, ledger));
    const bool own = source == engine::BufferSource::kLedger;
    const std::string key = own ? "ledger_" : "allocator_";
    const std::string label = own ? "ledger's pages: " : "allocator: ";
    answer.add_bytes(key + "live_peak_bytes", result.live_peak_bytes, label + "in use at most");
    if (own)
      answer.add_bytes(key + "peak_bytes", result.ledger_peak_bytes, label + "account's peak");
    answer
        .add_bytes(key + "resident_before_bytes", result.resident_before_bytes,
                   label + "resident before")
        .add_bytes(key + "resident_peak_bytes", result.resident_peak_bytes,
                   label + "resident at most")
        .add_bytes(key + "resident_after_bytes", result.resident_after_bytes,
                   label + "resident when all is freed");
  }
  return answer;
}

}  // namespace

base::Result<Answer> bench_incident(const IncidentRequest& request, Session& session) {
  // The parser cannot say this: which options go together depends on the mode.
  const bool writes = !request.trace.empty() || !request.plot.empty();
  if (request.allocations && (request.has_own || writes || !request.only.empty())) {
    return invalid("--allocations takes no other option of bench incident");
  }
  if (request.has_own && !request.only.empty()) {
    return invalid("--case names a case and the options of an own case make another; give one");
  }
  return request.allocations ? replay_allocations(session) : replay_virtual(request, session);
}

}  // namespace cuzk::apps

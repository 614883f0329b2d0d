// The published runs as data, and three ways to show ours beside them.
//
// Everything that was published is a constant or a text here, and everything of ours is computed,
// so a change of the scheduler shows in the table and never in the record. docs/engine.md tells
// which figures of the model are fitted.
#include "engine/incident.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/svg_plot.h"

namespace cuzk::engine {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kHostBytes = 755 * kGiB;
constexpr std::uint64_t kBaselineBytes = 70 * kGiB;    // proving key and matrices
constexpr std::uint64_t kEvaluationBytes = 12 * kGiB;  // a, b and c of one partition
constexpr std::uint64_t kAuxiliaryBytes = 4 * kGiB;    // its assignment
constexpr std::uint64_t kStartBytes = 2 * kGiB;        // split copies while start runs
// What a witness worker's own temporaries leave in its arena: the first burst of 12 witnesses was
// 305 GiB, so each took (305 - 70) / 12 = 19.6 GiB, 3.6 more than its buffers.
constexpr std::uint64_t kArenaBytes = 36 * kGiB / 10;
// At the worst of the published record so many finished witnesses waited.
constexpr std::uint32_t kPublishedQueue = 28;

static_assert(kEvaluationBytes + kAuxiliaryBytes == 16 * kGiB, "a witness of the record");

double in_gib(std::uint64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(kGiB);
}

IncidentOptions with(std::uint32_t witness_workers, SlotRelease slot_release,
                     EvaluationRelease evaluation) {
  IncidentOptions options;
  options.witness_workers = witness_workers;
  options.slot_release = slot_release;
  options.evaluation = evaluation;
  return options;
}

// Under a budget buffers are the ledger's pages, so no arena keeps anything.
IncidentOptions with_budget(std::uint32_t witness_workers, std::uint64_t budget_bytes) {
  IncidentOptions options;
  options.witness_workers = witness_workers;
  options.budget_bytes = budget_bytes;
  options.arenas = false;
  return options;
}

// Names stay as they are: options and files of earlier runs have them.
std::vector<IncidentCase> published_cases() {
  constexpr auto kEarly = SlotRelease::kAtWitnessEnd, kDelivery = SlotRelease::kAtDelivery;
  constexpr auto kHeld = EvaluationRelease::kAfterFinish, kFreed = EvaluationRelease::kAfterStart;
  return {
      {"pw10-early-held", "pw 10, slot free at witness end, a b c held to the end",
       with(10, kEarly, kHeld), "367 peak, plateau 300-350, back to 71",
       "witnesses and device are nearly in balance here, so the queue, and with it the peak, hangs "
       "on a few percent of either rate; plateau and return agree"},
      {"pw12-early-held", "pw 12, slot free at witness end, a b c held to the end",
       with(12, kEarly, kHeld), "668, killed",
       "668 is the last figure before the kill; ours goes on to count what would have come"},
      {"pw12-early-freed", "pw 12, slot free at witness end, a b c freed after start",
       with(12, kEarly, kFreed), "650.8 (18 less)",
       "only proofs between start and the end of finish gain 12 GiB each, and ours has one there "
       "at most times; the record's build freed them one after the other in the background"},
      {"pw12-delivery", "pw 12, slot held to delivery, a b c freed after start",
       with(12, kDelivery, kFreed), "294.7",
       "12 witnesses and one at each of 2 device workers are 14 x 16 + 70 = 294; ours adds arenas "
       "and a pending proof, and its first witnesses begin in one instant"},
      {"pw15-early-freed", "pw 15, slot free at witness end, a b c freed after start",
       with(15, kEarly, kFreed), "", ""},
      {"pw15-delivery", "pw 15, slot held to delivery, a b c freed after start",
       with(15, kDelivery, kFreed), "457 at pw 14, 510 at pw 16",
       "from a longer run of another version, which follows 69 + 20 x pw plus what it queues"},
  };
}

std::vector<IncidentCase> budget_cases() {
  IncidentOptions early = with_budget(12, 400 * kGiB);
  early.slot_release = SlotRelease::kAtWitnessEnd;
  early.evaluation = EvaluationRelease::kAfterFinish;
  return {
      {"pw12-early-held-budget400", "the worst policy under a budget of 400 GiB", early, "", ""},
      {"pw12-budget256", "our policy, budget 256 GiB", with_budget(12, 256 * kGiB), "", ""},
      {"pw15-budget160", "our policy, budget 160 GiB", with_budget(15, 160 * kGiB), "", ""},
  };
}

// Resident memory when as many witnesses waited as at the worst of the record; 0: never so many.
std::uint64_t resident_at_published_queue(const SimulationResult& result) {
  for (const SimulationSample& sample : result.samples) {
    if (sample.device_queued >= kPublishedQueue) return sample.resident_bytes;
  }
  return 0;
}

}  // namespace

// The published sizes, with a start that needs its split copies on top; whether a, b and c are held
// to the end of finish is a matter of what is kept pending.
SimulationConfig incident_config(const IncidentOptions& options) {
  SimulationConfig config;
  config.scheduler.witness_workers = options.witness_workers;
  config.scheduler.devices = {{options.device_workers}};
  config.scheduler.finish_workers = options.finish_workers;
  config.scheduler.jobs_in_flight_max = options.jobs_in_flight;
  config.scheduler.memory.budget_bytes = options.budget_bytes;
  config.scheduler.memory.fixed_bytes = kBaselineBytes;
  config.scheduler.slot_release = options.slot_release;
  config.job_count = options.proof_count;
  config.job.key = {1, 0};  // the baseline holds it
  const std::uint64_t pending_bytes = options.evaluation == EvaluationRelease::kAfterStart
                                          ? kAuxiliaryBytes
                                          : kAuxiliaryBytes + kEvaluationBytes;
  for (std::uint32_t p = 0; p < options.partition_count; ++p) {
    config.job.partitions.push_back(
        {p, kEvaluationBytes + kAuxiliaryBytes, kStartBytes, pending_bytes});
  }
  config.arena_bytes = options.arenas ? kArenaBytes : 0;
  config.host_bytes = kHostBytes;
  config.seed = options.seed;
  return config;
}

std::vector<IncidentCase> incident_cases() {
  std::vector<IncidentCase> cases = published_cases();
  for (IncidentCase& scenario : budget_cases()) cases.push_back(std::move(scenario));
  return cases;
}

base::Result<IncidentRow> replay_case(IncidentCase scenario) {
  CUZK_TRY(SimulationResult result, simulate(incident_config(scenario.options)));
  return IncidentRow{std::move(scenario), std::move(result)};
}

// One after the other: each is a fraction of a second, and the order is that of the table.
base::Result<std::vector<IncidentRow>> replay_incident(const std::string& only) {
  std::vector<IncidentRow> rows;
  std::string names;
  for (IncidentCase& scenario : incident_cases()) {
    names += (names.empty() ? "" : ", ") + scenario.name;
    if (!only.empty() && scenario.name != only) continue;
    CUZK_TRY(IncidentRow row, replay_case(std::move(scenario)));
    rows.push_back(std::move(row));
  }
  if (!rows.empty()) return rows;
  return base::Error{base::ErrorKind::kNotFound,
                     fmt::format("no case {}, there are: {}", only, names)};
}

// Figures side by side, then a paragraph a case on what it is and why it differs.
std::string incident_table(const std::vector<IncidentRow>& rows) {
  std::string out =
      fmt::format("{:<26} {:>7} {:>8} {:>7} {:>7} {:>7} {:>8} {:>8}  {}\n", "GiB, virtual time",
                  "peak", "plateau", "burst", "end", "queued", "at 28", "s/proof", "published");
  for (const IncidentRow& row : rows) {
    const SimulationResult& result = row.result;
    const std::uint64_t at_queue = resident_at_published_queue(result);
    out += fmt::format(
        "{:<26} {:>7.1f} {:>8.1f} {:>7.1f} {:>7.1f} {:>7} {:>8} {:>8.1f}  {}\n", row.scenario.name,
        in_gib(result.resident_peak_bytes), in_gib(result.plateau_bytes),
        in_gib(result.burst_peak_bytes), in_gib(result.resident_end_bytes),
        result.device_queued_peak, at_queue == 0 ? "-" : fmt::format("{:.1f}", in_gib(at_queue)),
        result.duration_s / row.scenario.options.proof_count, row.scenario.published);
  }
  out +=
      "\nqueued: finished witnesses that waited at once; at 28: memory when 28 waited, the most in "
      "the record.\n";
  for (const IncidentRow& row : rows) {
    out += fmt::format("\n{}: {}.\n", row.scenario.name, row.scenario.meaning);
    if (row.result.overflow_s >= 0) {
      out += fmt::format("  Exceeds the host's 755 GiB after {:.0f} s.\n", row.result.overflow_s);
    }
    if (row.scenario.options.budget_bytes != 0) {
      out += fmt::format("  The ledger's peak is {:.1f} of {:.0f} GiB.\n",
                         in_gib(row.result.ledger_peak_bytes),
                         in_gib(row.scenario.options.budget_bytes));
    }
    if (!row.scenario.reason.empty()) out += "  Difference: " + row.scenario.reason + ".\n";
  }
  return out;
}

std::string incident_trace_json(const std::vector<IncidentRow>& rows) {
  // Names are ours and hold nothing to escape.
  std::string out = "{\"runs\": [";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const IncidentRow& row = rows[r];
    out += fmt::format(
        "{}\n{{\"name\": \"{}\", \"witness_workers\": {}, \"budget_bytes\": {}, "
        "\"columns\": [\"time_s\", \"resident_bytes\", \"ledger_bytes\", \"witness_running\", "
        "\"device_queued\", \"device_running\", \"pending\"], \"samples\": [",
        r == 0 ? "" : ",", row.scenario.name, row.scenario.options.witness_workers,
        row.scenario.options.budget_bytes);
    for (std::size_t s = 0; s < row.result.samples.size(); ++s) {
      const SimulationSample& sample = row.result.samples[s];
      out += fmt::format("{}\n[{:.3f}, {}, {}, {}, {}, {}, {}]", s == 0 ? "" : ",", sample.time_s,
                         sample.resident_bytes, sample.ledger_bytes, sample.witness_running,
                         sample.device_queued, sample.device_running, sample.pending);
    }
    out += "]}";
  }
  return out + "\n]}\n";
}

std::string incident_svg(const std::vector<IncidentRow>& rows) {
  Plot plot;
  plot.title = "Resident memory of 20 proofs of 10 partitions, replayed";
  plot.x_label = "seconds";
  plot.y_label = "GiB";
  plot.levels.push_back({in_gib(kHostBytes), "host: 755 GiB"});
  for (const IncidentRow& row : rows) {
    PlotSeries series{row.scenario.name, {}};
    for (const SimulationSample& sample : row.result.samples) {
      series.points.emplace_back(sample.time_s, in_gib(sample.resident_bytes));
    }
    plot.series.push_back(std::move(series));
  }
  return render_svg(plot);
}

}  // namespace cuzk::engine

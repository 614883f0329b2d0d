// The commands that talk to a daemon: submit, await, cancel, jobs, status, preload, evict, top.
//
// Which flags of `submit` go together depends on the kind of job, so that is checked in
// job_client_submit.cpp and not by the parser. What the values mean, the daemon checks.
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/job_client.h"

namespace cuzk::apps {
namespace {

// The library's ranges let NaN through, which is neither below nor above anything.
std::string refuse_nan(const std::string& text) {
  const bool is_nan = std::isnan(std::strtod(text.c_str(), nullptr));
  return is_nan ? "expected a number, found '" + text + "'" : std::string();
}

// The outputs of a command that waits for a proof.
void add_result_options(CLI::App& command, ResultFiles& files) {
  add_path(command, "--out", files.out, "Where the result goes as it is");
  add_path(command, "--proof", files.proof, "Circuits: where proof.json goes");
  add_path(command, "--public", files.public_values, "Circuits: where public.json goes");
}

void add_submit(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<SubmitFlags>();
  CLI::App* command = add_command(
      app, invocation, "submit", "Give a proof job to a daemon",
      "cuzk submit --circuit age_check --witness witness.wtns --wait --proof proof.json "
      "--public public.json\n"
      "  cuzk submit --c1 c1.json --miner-id 1000 --id porep-1000-1\n"
      "  cuzk await porep-1000-1 --out proof.bin");
  add_client_options(*command, flags->client);
  command->add_option("--id", flags->id,
                      "Name of the job; the same one with the same input joins (default: made)");
  command->add_option("--priority", flags->priority, "critical, high, normal or low");
  command->add_option("--deadline", flags->deadline_s,
                      "Seconds from now: earlier ones go first within a priority");
  command->add_option("--circuit", flags->circuit, "A circuit of the daemon's [[circuits]]");
  add_path(*command, "--witness", flags->witness, "Its witness (.wtns)");
  add_path(*command, "--c1", flags->c1, "PoRep: commit-phase-1 JSON, as Curio sends it or bare");
  command->add_option("--kind", flags->kind, "window-post, winning-post or update")
      ->check(CLI::IsMember({"window-post", "winning-post", "update"}));
  // Through a function with trigger_on_parse, so that the order is that of the command line: parts
  // belong to partitions by their place.
  const auto add_vanilla = [flags](const std::string& path) { flags->vanilla.emplace_back(path); };
  command
      ->add_option_function<std::string>("--vanilla", add_vanilla,
                                         "Vanilla proof of a sector or partition; repeat it")
      ->trigger_on_parse()
      ->type_name("FILE");
  command->add_option("--sector-size", flags->sector_size, "e.g. 2KiB or 32GiB");
  command->add_option("--registered-proof", flags->registered_proof, "Number of the proof type");
  command->add_option("--sector", flags->sector_number, "Number of the sector");
  command->add_option("--miner-id", flags->miner_id, "Number of the miner");
  command->add_option("--partition", flags->partition, "Window PoSt: number of the partition");
  command->add_option("--randomness", flags->randomness, "PoSt: 32 bytes in hex");
  command->add_option("--comm-r-old", flags->comm_r_old, "Update: 32 bytes in hex");
  command->add_option("--comm-r-new", flags->comm_r_new, "Update: 32 bytes in hex");
  command->add_option("--comm-d-new", flags->comm_d_new, "Update: 32 bytes in hex");
  command->add_flag("--wait", flags->wait, "Wait for the proof");
  add_result_options(*command, flags->files);
  command->callback([&invocation, flags] {
    invocation.action = [flags](Session& session) { return submit_job(*flags, session); };
  });
}

void add_await(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<AwaitFlags>();
  CLI::App* command = add_command(app, invocation, "await",
                                  "Wait for a daemon's job; exit code 3: it is not over in time",
                                  "cuzk await porep-1000-1 --timeout 30m --out proof.bin");
  add_client_options(*command, flags->client);
  command->add_option("id", flags->id, "Name of the job")->required();
  command->add_option("--timeout", flags->timeout, "Longest wait, e.g. 30m (default: no end)");
  add_result_options(*command, flags->files);
  command->callback([&invocation, flags] {
    invocation.action = [flags](Session& session) { return await_job(*flags, session); };
  });
}

// cancel, preload and evict: one word that names a job or a key, and one call.
void add_named(CLI::App& app, Invocation& invocation, const char* name, const char* description,
               const char* example, const char* what,
               base::Result<Answer> (*work)(const JobFlags&, Session&)) {
  const auto flags = std::make_shared<JobFlags>();
  CLI::App* command = add_command(app, invocation, name, description, example);
  add_client_options(*command, flags->client);
  command->add_option("id", flags->id, what)->required();
  command->callback([&invocation, flags, work] {
    invocation.action = [flags, work](Session& session) { return work(*flags, session); };
  });
}

void add_jobs(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<ListFlags>();
  CLI::App* command = add_command(app, invocation, "jobs", "List a daemon's jobs, latest last",
                                  "cuzk jobs --state running --state queued");
  add_client_options(*command, flags->client);
  command->add_option("--state", flags->states,
                      "Only these: queued, running, completed, failed or cancelled");
  command->add_option("--kind", flags->kind, "Only this kind, e.g. porep");
  command->add_option("--limit", flags->limit, "At most so many (default: 50)")
      ->check(CLI::Range(1u, 1000u));
  command->callback([&invocation, flags] {
    invocation.action = [flags](Session& session) { return list_jobs(*flags, session); };
  });
}

void add_status(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<ClientFlags>();
  CLI::App* command =
      add_command(app, invocation, "status", "Show what a daemon does; exit code 1: not ready",
                  "cuzk status --addr unix:///run/cuzk/cuzk.sock");
  add_client_options(*command, *flags);
  command->callback([&invocation, flags] {
    invocation.action = [flags](Session& session) { return show_status(*flags, session); };
  });
}

void add_top(CLI::App& app, Invocation& invocation) {
  const auto flags = std::make_shared<TopFlags>();
  CLI::App* command =
      add_command(app, invocation, "top", "Watch a daemon in the terminal; q or Ctrl-C ends it",
                  "cuzk top --interval 0.5");
  add_client_options(*command, flags->client);
  command->add_option("--interval", flags->interval_s, "Seconds between two looks (default: 1)")
      ->check(CLI::Range(0.1, 3600.0))
      ->check(CLI::Validator(refuse_nan, ""));
  command->add_flag("--once", flags->once, "One look, without moving the cursor");
  command->callback([&invocation, flags] {
    invocation.action = [flags](Session& session) { return run_top(*flags, session); };
  });
}

}  // namespace

// In the order in which `cuzk --help` lists them.
void add_client_commands(CLI::App& app, Invocation& invocation) {
  add_submit(app, invocation);
  add_await(app, invocation);
  add_named(app, invocation, "cancel", "End a daemon's job that is not over",
            "cuzk cancel porep-1000-1", "Name of the job", cancel_job);
  add_status(app, invocation);
  add_jobs(app, invocation);
  add_named(app, invocation, "preload", "Load a proving key into a daemon",
            "cuzk preload porep-32g", "Name of the key, e.g. porep-32g or circom:age_check",
            preload_key);
  add_named(app, invocation, "evict", "Free a proving key that no proof of a daemon uses",
            "cuzk evict porep-32g", "Name of the key", evict_key);
  add_top(app, invocation);
}

// Part of the group `cuzk bench`, and here because it takes the flags of a client.
void add_load_command(CLI::App& group, Invocation& invocation) {
  const auto flags = std::make_shared<LoadFlags>();
  CLI::App* command = add_command(
      group, invocation, "load", "Send many jobs to a daemon and measure latency and throughput",
      "cuzk bench load --job circuit=age_check,witness=a.wtns --count 1000 --concurrency 16\n"
      "  cuzk bench load --job c1=c1.json,miner-id=1000,weight=1 "
      "--job circuit=toy,witness=t.wtns,weight=9 --rate 20 --duration 60s");
  add_client_options(*command, flags->client);
  command
      ->add_option("--job", flags->mix,
                   "What to send: circuit=NAME,witness=FILE or c1=FILE,miner-id=N, with\n"
                   "weight=N and priority=WORD where wanted; repeat it for a mix")
      ->required()
      ->type_name("KEY=VALUE,...");
  command->add_option("--rate", flags->rate, "Jobs a second (default: as concurrency allows)")
      ->check(CLI::Range(0.001, 100000.0))
      ->check(CLI::Validator(refuse_nan, ""));
  command
      ->add_option("--concurrency", flags->concurrency,
                   "Jobs at once; with --rate: submissions at once (default: 4)")
      ->check(CLI::Range(1u, 1024u));
  command
      ->add_option("--awaits", flags->awaits,
                   "With --rate: jobs awaited at once; more are sent all the same (default: 1000)")
      ->check(CLI::Range(0u, 100000u));
  command->add_option("--count", flags->count, "Jobs in all (default: 100)")
      ->check(CLI::Range(1u, 10000000u));
  command->add_option("--duration", flags->duration, "Instead of a count: how long, e.g. 60s");
  command->add_option("--status-interval", flags->status_interval,
                      "How often the status is asked for and timed, 0: never (default: 100ms)");
  command->add_flag("--leave-open", flags->leave_open,
                    "With --rate: do not wait for jobs that are open when all are sent");
  command->callback([&invocation, flags] {
    invocation.action = [flags](Session& session) { return bench_load(*flags, session); };
  });
}

}  // namespace cuzk::apps

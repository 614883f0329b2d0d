// cuzk daemon: flags.
//
// Few, because a daemon is configured by its file: only what differs between two that share one
// (addresses, the log's level). They replace what the file says and are applied again with SIGHUP.
#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cuzk/commands.h"
#include "apps/cuzk/job_daemon.h"

namespace cuzk::apps {

void add_daemon_command(CLI::App& app, Invocation& invocation) {
  const auto request = std::make_shared<DaemonRequest>();
  CLI::App* command = add_command(
      app, invocation, "daemon", "Serve proofs over gRPC and HTTP until told to stop",
      "cuzk daemon\n"
      "  cuzk daemon --config cuzk.toml\n"
      "  cuzk daemon --listen unix:///run/cuzk/cuzk.sock --listen 127.0.0.1:9820\n"
      "SIGTERM ends it when what runs has ended or the grace time is over; a second one at once.\n"
      "SIGHUP reads the configuration again.");
  add_path(*command, "-c,--config", request->config, "Configuration in TOML (default: none)");
  command->add_option("-l,--listen", request->listen,
                      "Where gRPC listens, e.g. 127.0.0.1:9820 or unix:///run/cuzk.sock; may be\n"
                      "repeated; replaces daemon.listen");
  // By way of a function: an empty text, which is a value here, would be none to the parser.
  command->add_option_function<std::string>(
      "--status-listen", [request](const std::string& text) { request->status_listen = text; },
      "Where HTTP listens, or off; replaces daemon.status_listen");
  // "warn" too, as many programs call it.
  command->add_option("--log-level", request->log_level, "Replaces logging.level")
      ->check(CLI::IsMember({"debug", "info", "warn", "warning", "error", "off"}));
  command->add_flag("--print-effective", request->print_effective,
                    "Print the configuration that would be used, and end");
  command->callback([&invocation, request] {
    invocation.action = [request](Session& session) { return run_daemon(*request, session); };
  });
}

}  // namespace cuzk::apps

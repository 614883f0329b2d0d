// Runs the daemon: engine, doors, signals, until it is told to stop.
//
// What the parts do is in src/engine and src/service; here they are made, tied together and ended
// in the right order, with the kinds of jobs of this application.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/cuzk/answer.h"
#include "apps/cuzk/session.h"
#include "service/config.h"

namespace cuzk::apps {

// The flags of `cuzk daemon`. Kept as long as it runs, since SIGHUP applies them to the file anew.
struct DaemonRequest {
  std::filesystem::path config;              // empty: the defaults
  std::vector<std::string> listen;           // in place of the file's, where given
  std::optional<std::string> status_listen;  // likewise; as in the file, "off" is none
  std::string log_level;                     // likewise
  bool print_effective = false;              // shows the configuration and ends
};

// The configuration of a request, with the warnings of its file. Also for SIGHUP.
base::Result<service::LoadedConfig> daemon_config(const DaemonRequest& request,
                                                  const CommonOptions& common);

// Returns when the daemon was stopped in an orderly way: jobs that did not end in time are kept and
// go on with the next start. Errors: those of the configuration; kUnavailable for a journal or an
// address that another process has; those of Engine::open.
base::Result<Answer> run_daemon(const DaemonRequest& request, Session& session);

}  // namespace cuzk::apps

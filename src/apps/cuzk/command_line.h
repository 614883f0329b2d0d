// The whole command line: which sub-commands there are and how their answers leave the process.
//
// All that main() needs, so that the command can be linked into tests without its own main.
#pragma once

namespace cuzk::apps {

// Parses, runs one sub-command, prints its answer. Returns the exit code: 0 done (for verify and
// check: yes), 1 no (an invalid proof, a witness that does not satisfy), 2 error (bad arguments,
// unreadable or malformed files, ...), 130 interrupted.
int run_command_line(int argument_count, char** arguments);

}  // namespace cuzk::apps

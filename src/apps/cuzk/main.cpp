// The cuzk command: hands the arguments over and returns the exit code.
//
// Here is only what has to come before anything else in the process; the rest is in a library, so
// that tests call it.
#include <csignal>

#include "apps/cuzk/command_line.h"
#include "base/standard_streams.h"

int main(int argument_count, char** arguments) {
  // Where a caller has closed one of them, the next file that is opened would get its number.
  cuzk::base::hold_standard_streams();
  // A file beyond the limit of `ulimit -f` is then an error that is told, not the process's end.
  std::signal(SIGXFSZ, SIG_IGN);
  return cuzk::apps::run_command_line(argument_count, arguments);
}

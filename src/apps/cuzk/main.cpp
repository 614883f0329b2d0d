// The cuzk command: hands the arguments over and returns the exit code.
#include "apps/cuzk/command_line.h"
#include "base/standard_streams.h"

int main(int argument_count, char** arguments) {
  cuzk::base::hold_standard_streams();
  return cuzk::apps::run_command_line(argument_count, arguments);
}

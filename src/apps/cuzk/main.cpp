// The cuzk command: hands the arguments over and returns the exit code.
#include "apps/cuzk/command_line.h"

int main(int argument_count, char** arguments) {
  return cuzk::apps::run_command_line(argument_count, arguments);
}

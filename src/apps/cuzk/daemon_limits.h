// What the daemon asks of the system for itself before it begins.
#pragma once

namespace cuzk::apps {

// Lets this process, and what it starts, have as many open files as its user may: every connection
// is one, shells give 1024, and the gRPC library takes no connection ever again once it could not
// take one. Without effect where the system refuses.
void raise_open_file_limit();

}  // namespace cuzk::apps

// Descriptors 0, 1 and 2, kept from being given to files.
//
// A process may be started with some of them closed (`cuzk daemon 2>&-`). The next file or socket
// that it opens then gets the number, and whatever is meant for a person (a log line, progress, a
// library's message) goes into a key file or to a client.
#pragma once

namespace cuzk::base {

// Opens those that are closed. Each is opened the wrong way round, for reading where the program
// writes, so that using it still fails as on a closed one: an answer that nobody gets is an error.
// Call first in main(), before anything is opened. Child processes inherit them.
void hold_standard_streams() noexcept;

}  // namespace cuzk::base

// The place of a unix socket: what may be taken over and what not. Both doors ask before they bind:
// a file left by a crash must not keep a daemon from starting, nor may a second daemon push the
// first one aside.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace cuzk::service {

// Makes room for a socket at `path`: a socket that nobody listens on is removed. Errors name the
// path: kAlreadyExists (a server listens there, or what is there is no socket: it is kept),
// kNotFound (no such folder), kInvalidArgument (too long for a socket), kIo.
base::Status clear_unix_socket(const std::filesystem::path& path);

// Sets the rights of the socket. Error kIo.
base::Status set_socket_mode(const std::filesystem::path& path, unsigned mode);

}  // namespace cuzk::service

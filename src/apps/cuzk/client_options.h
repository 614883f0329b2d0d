// How a command finds its daemon.
//
// The options are the same for every command that talks to one, so a shell that exports CUZK_ADDR
// and CUZK_TOKEN needs none of them. service/client.h does the talking.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "service/client.h"

namespace CLI {
class App;
}  // namespace CLI

namespace cuzk::apps {

// As typed; empty where nothing was said. The token itself is no flag: command lines can be read by
// every user of a machine.
struct ClientFlags {
  std::string address;  // empty: CUZK_ADDR, else the daemon's default
  std::filesystem::path token_file;
  std::filesystem::path authority, certificate, key;
  // TLS with the system's authorities; an authority or certificate of one's own means TLS too.
  bool tls = false;
};

// --addr, --token-file and the TLS files.
void add_client_options(CLI::App& command, ClientFlags& flags);

// The address that these flags and the environment mean, for people.
std::string shown_address(const ClientFlags& flags);

// Errors: an address that is none, unreadable files. Whether the daemon answers is seen by the
// first call.
base::Result<std::unique_ptr<service::Client>> make_client(const ClientFlags& flags);

}  // namespace cuzk::apps

// Flags first, then the environment, so that a shell set up once needs no flags.
//
// An error names the place that the text came from, a flag or a variable. Nothing connects here.
#include "apps/cuzk/client_options.h"

#include <cstdlib>

#include <CLI/CLI.hpp>

#include "apps/cuzk/commands.h"
#include "base/file.h"

namespace cuzk::apps {
namespace {

// Tokens are a line each; what is larger is some other file.
constexpr std::uint64_t kTokenFileBytesMax = 65536;

// Empty where it is not set: an empty variable means the same.
std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// The first line that is no comment; a file of the daemon's tokens works here too.
base::Result<std::string> first_token(const std::filesystem::path& path) {
  CUZK_TRY(const base::Bytes bytes, base::read_file(path, kTokenFileBytesMax));
  const std::string text(bytes.begin(), bytes.end());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    line = line.substr(0, line.find('#'));
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin != std::string::npos) {
      return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
    }
    at = end + 1;
  }
  return base::Error{base::ErrorKind::kInvalidArgument, path.string() + ": there is no token"};
}

}  // namespace

void add_client_options(CLI::App& command, ClientFlags& flags) {
  command.add_option("-a,--addr", flags.address,
                     "The daemon: host:port or unix:///path\n"
                     "(default: $CUZK_ADDR, else 127.0.0.1:9820)");
  add_path(command, "--token-file", flags.token_file,
           "File with the token to show (default: $CUZK_TOKEN)");
  command.add_flag("--tls", flags.tls, "Speak TLS, trusting the system's authorities");
  add_path(command, "--tls-ca", flags.authority, "Speak TLS, trusting this authority (PEM)");
  add_path(command, "--tls-cert", flags.certificate, "Certificate to show (PEM)");
  add_path(command, "--tls-key", flags.key, "Its key (PEM)");
}

std::string shown_address(const ClientFlags& flags) {
  const std::string address = flags.address.empty() ? environment("CUZK_ADDR") : flags.address;
  return address.empty() ? service::ClientOptions().address.to_string() : address;
}

// The token of a file wins over that of the environment, as every flag does. Half a client
// certificate is an error here, since TLS would only say that the handshake failed.
base::Result<std::unique_ptr<service::Client>> make_client(const ClientFlags& flags) {
  service::ClientOptions options;
  const std::string address = flags.address.empty() ? environment("CUZK_ADDR") : flags.address;
  if (!address.empty()) {
    const auto parsed = service::parse_address(address);
    if (!parsed.ok()) {
      return base::Error(parsed.error()).within(flags.address.empty() ? "CUZK_ADDR" : "--addr");
    }
    options.address = *parsed;
  }
  options.token = environment("CUZK_TOKEN");
  if (!flags.token_file.empty()) {
    CUZK_TRY(options.token, first_token(flags.token_file));
  }
  if (flags.certificate.empty() != flags.key.empty()) {
    return base::Error{base::ErrorKind::kInvalidArgument, "--tls-cert and --tls-key go together"};
  }
  options.authority = flags.authority;
  options.certificate = flags.certificate;
  options.key = flags.key;
  options.tls = flags.tls;
  service::quiet_client_library();
  return service::Client::make(options);
}

}  // namespace cuzk::apps

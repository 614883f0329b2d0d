// What the library says of a connection that failed is told apart by its words, since it gives all
// of them one code. Words that are not known are passed on as they are.
#include "service/client_connection.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <grpc/support/log.h>

#include "service/grpc_library_log.h"
#include "service/pem_file.h"

namespace cuzk::service {
namespace {

constexpr std::size_t kWordsShown = 256;
// The library's own words.
constexpr std::string_view kHttp1 = "http1.x server", kNoPong = "keepalive watchdog timeout";

bool speaks_tls(const ClientOptions& options) {
  return options.tls || !options.authority.empty() || !options.certificate.empty();
}

// Without a name to look up, the library needs none of the system's files for it.
bool is_localhost(const Address& address) {
  return address.kind == Address::Kind::kTcp && address.host == "localhost";
}

// From this machine to itself; as a destination the address of all interfaces is this one too.
bool stays_here(const Address& address) {
  return address.is_local() || address.host == "0.0.0.0" || address.host == "::";
}

// All that tells why the process ends. Without memory, which may be what the library lacked.
void keep_last_words(gpr_log_func_args* line) {
  if (!std::string_view(line->message).starts_with(kLastWords)) return;
  std::fprintf(stderr, "gRPC: %s (%s:%d)\n", line->message, line->file, line->line);
}

}  // namespace

base::Result<std::shared_ptr<grpc::ChannelCredentials>> client_credentials(
    const ClientOptions& options) {
  if (!speaks_tls(options)) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions pem;
  CUZK_TRY(pem.pem_root_certs, read_pem(options.authority, PemKind::kCertificate));
  CUZK_TRY(pem.pem_cert_chain, read_pem(options.certificate, PemKind::kCertificate));
  CUZK_TRY(pem.pem_private_key, read_pem(options.key, PemKind::kPrivateKey));
  return grpc::SslCredentials(pem);
}

// One list of addresses has one family, so the older one is written in the younger; the library
// takes it for what it is, also where the system has no IPv6.
std::string client_target(const ClientOptions& options) {
  const Address& address = options.address;
  if (!is_localhost(address)) return address.grpc_target();
  return fmt::format("ipv6:[::ffff:127.0.0.1]:{0},[::1]:{0}", address.port);
}

grpc::ChannelArguments client_arguments(const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  // The daemon's limit is its own to tell, with a sentence; here nothing is cut.
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  // Certificates and virtual hosts know the daemon by the name that was given.
  if (is_localhost(options.address)) {
    arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, options.address.to_string());
  }
  // http_proxy of the environment names a way to the outside. A proxy would take 127.0.0.1 for
  // itself, and hear the token.
  if (stays_here(options.address)) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // A wait lasts for hours, and a machine that loses its power says no farewell.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(options.ping_interval.count()));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, static_cast<int>(options.ping_timeout.count()));
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // without a limit
  return arguments;
}

bool is_of_connection(std::string_view library_words) {
  return library_words.find(kHttp1) != std::string_view::npos ||
         library_words.find(kNoPong) != std::string_view::npos;
}

std::string unreachable_sentence(const ClientOptions& options, std::string_view library_words) {
  const auto has = [&](std::string_view words) {
    return library_words.find(words) != std::string_view::npos;
  };
  const std::string address = options.address.to_string();
  // As our HTTP port answers.
  if (has(kHttp1)) {
    return fmt::format("{} speaks HTTP, not gRPC; the daemon's daemon.listen is meant (default {})",
                       address, ClientOptions().address.to_string());
  }
  if (has(kNoPong)) {
    return fmt::format(
        "{} does not answer any more; what it has accepted it keeps, so await it "
        "again when it is back",
        address);
  }
  if (has("wrong version number")) {
    return fmt::format("{} does not speak TLS (--tls, --tls-ca and --tls-cert ask for it)",
                       address);
  }
  if (has("certificate verify failed") || has("Hostname Verification Check failed")) {
    return fmt::format(
        "the certificate of {} is not trusted: it is of another name, out of date, or signed by an "
        "authority that --tls-ca does not name",
        address);
  }
  // The library could make no connection of its own side's files, and says it in this way.
  if (speaks_tls(options) && has("empty address list")) {
    return "--tls-ca, --tls-cert and --tls-key: one of them cannot be used, or certificate and key "
           "do not belong together";
  }
  // What a TLS daemon does to a client that speaks plain, or that shows no certificate it takes.
  if (has("failed to connect") && has("Socket closed") &&
      options.address.kind == Address::Kind::kTcp) {
    return fmt::format("{} closes the connection: {}", address,
                       speaks_tls(options)
                           ? "it may want another certificate (--tls-cert, --tls-key)"
                           : "it may speak TLS (--tls, --tls-ca) or be no daemon");
  }
  return fmt::format(
      "no daemon answers at {} ({}); start one with `cuzk daemon`, or name another with --addr",
      address, library_words.substr(0, kWordsShown));
}

void quiet_client_library() {
  if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function(keep_last_words);
}

}  // namespace cuzk::service

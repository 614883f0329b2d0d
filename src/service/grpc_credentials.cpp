// The files are watched by gRPC, which says nothing of bad ones; so they are tried once on a server
// that nobody reaches before.
#include "service/grpc_credentials.h"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "service/pem_file.h"

namespace cuzk::service {
namespace {

using base::Error;
using base::ErrorKind;

// How late a renewed certificate is seen.
constexpr unsigned kReadAgainSeconds = 10;

}  // namespace

// The library says only yes or no, so the sentence names all that was tried.
base::Status try_tls_files(const Config::Tls& tls) {
  if (!tls.enabled()) return base::ok_status();
  grpc::SslServerCredentialsOptions options;
  CUZK_TRY(std::string key, read_pem(tls.key, PemKind::kPrivateKey));
  CUZK_TRY(std::string certificate, read_pem(tls.certificate, PemKind::kCertificate));
  options.pem_key_cert_pairs.push_back({std::move(key), std::move(certificate)});
  CUZK_TRY(options.pem_root_certs, read_pem(tls.client_ca, PemKind::kCertificate));
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::SslServerCredentials(options), &port);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server != nullptr && port > 0) return base::ok_status();
  return Error{ErrorKind::kMismatch,
               fmt::format("{} and {}: are no certificate and its key{}", tls.certificate.string(),
                           tls.key.string(),
                           tls.client_ca.empty()
                               ? std::string()
                               : " (or " + tls.client_ca.string() + " is no certificate)")};
}

// The trial is of the moment: what becomes of the files later the library sees by itself.
base::Result<std::shared_ptr<grpc::ServerCredentials>> tcp_credentials(const Config::Tls& tls) {
  if (!tls.enabled()) return grpc::InsecureServerCredentials();
  CUZK_TRY_STATUS(try_tls_files(tls));
  namespace security = grpc::experimental;
  const auto files = std::make_shared<security::FileWatcherCertificateProvider>(
      tls.key.string(), tls.certificate.string(), tls.client_ca.string(), kReadAgainSeconds);
  security::TlsServerCredentialsOptions options(files);
  options.watch_identity_key_cert_pairs();
  // With an authority for clients, one without a certificate does not get past the handshake.
  if (tls.client_ca.empty()) {
    options.set_cert_request_type(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  } else {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return security::TlsServerCredentials(options);
}

}  // namespace cuzk::service

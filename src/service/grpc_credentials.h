// TLS of the TCP listeners. Unix sockets have none: the rights of their file say who may connect.
#pragma once

#include <memory>

#include "base/result.h"
#include "service/config.h"

namespace grpc {
class ServerCredentials;
}

namespace cuzk::service {

// Whether a server would start with these files, which are read for it; ok without TLS. Opens a
// port of this machine for a moment. Errors name the file: as read_pem, and kMismatch for a key
// that is not the certificate's or for what is PEM by its lines alone.
base::Status try_tls_files(const Config::Tls& tls);

// Plain ones without a certificate. With one: the files are read again while the server runs, so a
// renewed certificate needs no restart. Errors: as try_tls_files.
base::Result<std::shared_ptr<grpc::ServerCredentials>> tcp_credentials(const Config::Tls& tls);

}  // namespace cuzk::service

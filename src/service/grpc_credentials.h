// TLS of the TCP listeners. Unix sockets have none: the rights of their file say who may connect.
#pragma once

#include <memory>

#include <grpcpp/security/server_credentials.h>

#include "base/result.h"
#include "service/config.h"

namespace cuzk::service {

// Plain ones without a certificate. With one: the files are read again while the server runs, so a
// renewed certificate needs no restart. Errors name the file: unreadable, no PEM, or a key that is
// not the certificate's.
base::Result<std::shared_ptr<grpc::ServerCredentials>> tcp_credentials(const Config::Tls& tls);

}  // namespace cuzk::service

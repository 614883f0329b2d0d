// How a client reaches a daemon: credentials, settings of the connection, and what to say when
// there is none.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include "base/result.h"
#include "service/client.h"

namespace cuzk::service {

// An authority or a certificate asks for TLS: a client that was given one never talks plain.
// Errors: PEM files that cannot be read, or that have no certificate or key in them.
base::Result<std::shared_ptr<grpc::ChannelCredentials>> client_credentials(
    const ClientOptions& options);

// Where the library is to connect, in its words. `localhost` is this machine whatever a resolver
// says of it or whether there is one (RFC 6761); both of its addresses are tried.
std::string client_target(const ClientOptions& options);

// Nothing is cut, a daemon that is gone is noticed, and what stays on this machine takes no proxy.
grpc::ChannelArguments client_arguments(const ClientOptions& options);

// Whether the library's words, whatever code and state they come with, are about a connection that
// does not work: the other side speaks HTTP/1, or answers no ping.
bool is_of_connection(std::string_view library_words);

// The sentence for a call that reached no daemon, from the library's words for why.
std::string unreachable_sentence(const ClientOptions& options, std::string_view library_words);

}  // namespace cuzk::service

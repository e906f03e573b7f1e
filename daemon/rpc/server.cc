// SPDX-License-Identifier: Apache-2.0
// gRPC gets connections one by one, already judged by the listener.
#include "rpc/server.h"

#include <grpc/grpc.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server_posix.h>
#include <sys/stat.h>

#include <mutex>
#include <vector>

#include "base/fd.h"
#include "fmt/format.h"
#include "rpc/service.h"

namespace hopyard::rpc {
namespace {

constexpr int kLargestRequestBytes = 4 << 20;   // a campaign file is some KiB
constexpr int kLargestAnswerBytes = 128 << 20;  // one trial's evidence, or the figures of a large campaign
constexpr int kMostThreads = 32;
constexpr auto kGrace = std::chrono::seconds(2);

// Without it the last server's end shuts the library down, and that waits up to ten seconds for the poller of
// an earlier long write (gRPC 1.51, tcp_posix's backup poller).
void keep_library_up() {
  static const bool kept = (grpc_init(), true);
  (void)kept;
}

struct Pem {
  std::string certificate;
  std::string key;
  std::string client_ca;
};

absl::StatusOr<std::string> read_pem(const std::string& path, std::string_view kind) {
  constexpr size_t kLimitBytes = 1 << 20;
  HOPYARD_ASSIGN_OR_RETURN(std::string text, base::read_file(path, kLimitBytes));
  const std::string mark = fmt::format("{}-----", kind);
  if (text.find("-----BEGIN ") != std::string::npos && text.find(mark) != std::string::npos) return text;
  return absl::InvalidArgumentError(fmt::format("read {}: {}: no PEM of that kind in it", kind, path));
}

absl::StatusOr<Pem> read_all(const TlsOptions& tls) {
  Pem pem;
  HOPYARD_ASSIGN_OR_RETURN(pem.certificate, read_pem(tls.certificate_file, "CERTIFICATE"));
  HOPYARD_ASSIGN_OR_RETURN(pem.key, read_pem(tls.key_file, "PRIVATE KEY"));
  HOPYARD_ASSIGN_OR_RETURN(pem.client_ca, read_pem(tls.client_ca_file, "CERTIFICATE"));
  return pem;
}

// A client without a certificate of that authority does not get as far as a call.
std::shared_ptr<grpc::ServerCredentials> credentials_of(const Pem& pem) {
  grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = pem.client_ca;
  options.pem_key_cert_pairs.push_back({pem.key, pem.certificate});
  return grpc::SslServerCredentials(options);
}

std::unique_ptr<grpc::Server> build_server(Service& service, const std::string& address,
                                           const std::optional<Pem>& pem, int& port) {
  keep_library_up();
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ResourceQuota quota("hopyardd");
  quota.SetMaxThreads(kMostThreads);
  grpc::ServerBuilder builder;
  builder.SetResourceQuota(quota)
      .SetMaxReceiveMessageSize(kLargestRequestBytes)
      .SetMaxSendMessageSize(kLargestAnswerBytes)
      .SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 2)
      .RegisterService(&service);
  // Else another process of this user could listen there as well, and get some of the clients.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  if (pem) builder.AddListeningPort(address, credentials_of(*pem), &port);
  return builder.BuildAndStart();
}

// The sockets given to gRPC, known by number and inode: a number that was closed may name another file by
// now.
class Peers {
 public:
  void add(int fd) {
    const std::lock_guard lock(mutex_);
    peers_.push_back({fd, inode_of(fd)});
  }
  size_t count() {
    const std::lock_guard lock(mutex_);
    std::erase_if(peers_, [](const Peer& peer) { return inode_of(peer.fd) != peer.inode; });
    return peers_.size();
  }

 private:
  struct Peer {
    int fd;
    ino_t inode;
  };
  static ino_t inode_of(int fd) {
    struct stat info {};
    return ::fstat(fd, &info) == 0 ? info.st_ino : 0;
  }

  std::mutex mutex_;
  std::vector<Peer> peers_;
};

}  // namespace

struct Server::Parts {
  Parts(const Rooms& rooms, std::unique_ptr<Listener> listening, const std::string& address,
        const std::optional<Pem>& pem)
      : service(rooms),
        listener(std::move(listening)),
        server(build_server(service, address, pem, tls_port)) {}

  Service service;
  Peers peers;
  std::unique_ptr<Listener> listener;
  int tls_port = 0;
  std::unique_ptr<grpc::Server> server;
};

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

absl::StatusOr<std::unique_ptr<Server>> Server::start(const ListenerOptions& options, const Rooms& rooms,
                                                      const std::optional<TlsOptions>& tls) {
  std::optional<Pem> pem;
  if (tls) {
    HOPYARD_ASSIGN_OR_RETURN(pem, read_all(*tls));
  }
  HOPYARD_ASSIGN_OR_RETURN(auto listener, Listener::bind(options));
  auto parts = std::make_unique<Parts>(rooms, std::move(listener), tls ? tls->address : "", pem);
  if (tls && parts->tls_port == 0)
    return absl::UnavailableError(
        fmt::format("listen: {}: not to be had, or {} and {} do not belong together", tls->address,
                    tls->certificate_file, tls->key_file));
  if (parts->server == nullptr) return absl::InternalError("start gRPC server: it gives no reason");
  parts->listener->serve([raw = parts.get()](base::Fd connection) {
    raw->peers.add(connection.get());
    // gRPC owns the descriptor from here on.
    grpc::AddInsecureChannelFromFd(raw->server.get(), connection.release());
  });
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

Server::~Server() {
  parts_->listener->stop();
  parts_->service.close();
  parts_->server->Shutdown(std::chrono::system_clock::now() + kGrace);
  parts_->server->Wait();
}

int Server::tls_port() const { return parts_->tls_port; }

size_t Server::connections() { return parts_->peers.count(); }

}  // namespace hopyard::rpc

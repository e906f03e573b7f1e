// SPDX-License-Identifier: Apache-2.0
// The test server: BoringSSL over a blocking socket, with a certificate made on the spot.
#include "tls_server.h"

#include <netinet/in.h>
#include <openssl/curve25519.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "probe/fixture.h"

namespace hopyard::probe {
namespace {

struct Identity {
  bssl::UniquePtr<EVP_PKEY> key;
  bssl::UniquePtr<X509> certificate;
};

Identity make_identity() {
  Identity identity;
  bssl::UniquePtr<EVP_PKEY_CTX> generator(EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nullptr));
  EVP_PKEY* key = nullptr;
  EXPECT_EQ(EVP_PKEY_keygen_init(generator.get()), 1);
  EXPECT_EQ(EVP_PKEY_keygen(generator.get(), &key), 1);
  identity.key.reset(key);
  identity.certificate.reset(X509_new());
  X509* certificate = identity.certificate.get();
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  EXPECT_GT(X509_sign(certificate, key, nullptr), 0);
  return identity;
}

int choose_alpn(SSL*, const uint8_t** out, uint8_t* out_size, const uint8_t* offered, unsigned offered_size,
                void* wanted) {
  const auto& name = *static_cast<const std::string*>(wanted);
  const std::string entry = std::string(1, static_cast<char>(name.size())) + name;
  const std::string_view list(reinterpret_cast<const char*>(offered), offered_size);
  if (list.find(entry) == std::string_view::npos) return SSL_TLSEXT_ERR_NOACK;
  // Read after this returns, so it must be the caller's own.
  *out = reinterpret_cast<const uint8_t*>(name.data());
  *out_size = static_cast<uint8_t>(name.size());
  return SSL_TLSEXT_ERR_OK;
}

bssl::UniquePtr<SSL_CTX> make_context(ServerOptions& options) {
  static const Identity identity = make_identity();
  bssl::UniquePtr<SSL_CTX> context(SSL_CTX_new(TLS_method()));
  SSL_CTX_set_min_proto_version(context.get(), options.version);
  SSL_CTX_set_max_proto_version(context.get(), options.version);
  EXPECT_EQ(SSL_CTX_use_certificate(context.get(), identity.certificate.get()), 1);
  EXPECT_EQ(SSL_CTX_use_PrivateKey(context.get(), identity.key.get()), 1);
  if (!options.tickets) SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET);
  if (!options.alpn.empty()) SSL_CTX_set_alpn_select_cb(context.get(), choose_alpn, &options.alpn);
  return context;
}

std::string fresh_socket_path() {
  static std::atomic<int> count = 0;
  return absl::StrCat(testing::TempDir(), "hopyard-probe-", ::getpid(), "-", count++, ".sock");
}

}  // namespace

ServerConnection::ServerConnection(base::Fd socket, SSL_CTX* context)
    : socket_(std::move(socket)), ssl_(SSL_new(context)) {
  SSL_set_fd(ssl_.get(), socket_.get());
  SSL_set_accept_state(ssl_.get());
}

bool ServerConnection::handshake() { return SSL_do_handshake(ssl_.get()) == 1; }

std::string ServerConnection::read_some(size_t size) {
  std::string bytes(size, '\0');
  const int got = SSL_read(ssl_.get(), bytes.data(), static_cast<int>(size));
  bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return bytes;
}

std::string ServerConnection::read_request() {
  std::string request;
  while (request.find("\r\n\r\n") == std::string::npos) {
    const std::string more = read_some();
    if (more.empty()) return {};
    request += more;
  }
  return request;
}

bool ServerConnection::write(std::string_view bytes, size_t record_bytes) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), record_bytes))) {
    const auto size = static_cast<int>(std::min(bytes.size(), record_bytes));
    if (SSL_write(ssl_.get(), bytes.data(), size) != size) return false;
  }
  return true;
}

bool ServerConnection::write_raw(std::string_view bytes) {
  return base::write_all(socket_.get(), bytes).ok();
}

void ServerConnection::send_close_notify() { SSL_shutdown(ssl_.get()); }

void ServerConnection::drain() {
  char sink[4096];
  while (::read(socket_.get(), sink, sizeof sink) > 0) {
  }
}

TlsServer::TlsServer(ServerOptions options, Script script) : options_(std::move(options)) {
  ::signal(SIGPIPE, SIG_IGN);
  options_.tcp ? listen_tcp() : listen_unix();
  context_ = make_context(options_);
  thread_ = std::thread([this, script = std::move(script)] { serve(script); });
}

TlsServer::~TlsServer() {
  // Wakes an accept() that no client came for.
  ::shutdown(listener_.get(), SHUT_RDWR);
  thread_.join();
  if (!path_.empty()) ::unlink(path_.c_str());
}

void TlsServer::listen_unix() {
  path_ = fresh_socket_path();
  auto endpoint = base::unix_endpoint(path_);
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  endpoint_ = *endpoint;
  listener_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&endpoint_.address), endpoint_.length),
            0);
  ASSERT_EQ(::listen(listener_.get(), 1), 0);
}

void TlsServer::listen_tcp() {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof in;
  listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&in), length), 0);
  ASSERT_EQ(::listen(listener_.get(), 1), 0);
  ASSERT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&in), &length), 0);
  auto endpoint = base::ipv4_endpoint("127.0.0.1", ntohs(in.sin_port));
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  endpoint_ = *endpoint;
}

base::Fd TlsServer::client_socket() const {
  return base::Fd(::socket(endpoint_.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

void TlsServer::serve(Script script) {
  base::Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.valid()) return;
  ServerConnection connection(std::move(socket), context_.get());
  if (options_.handshake && !connection.handshake()) {
    // Let the client read the alert before the end.
    connection.drain();
    return;
  }
  script(connection);
}

std::string fixture(uint64_t bytes, uint64_t offset) {
  std::string body(bytes, '\0');
  fill(offset, std::span(reinterpret_cast<uint8_t*>(body.data()), body.size()));
  return body;
}

std::string response_head(uint64_t content_length) {
  return absl::StrCat("HTTP/1.1 200 OK\r\nContent-Length: ", content_length, "\r\n\r\n");
}

}  // namespace hopyard::probe

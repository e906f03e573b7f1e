// SPDX-License-Identifier: Apache-2.0
// A real TLS 1.3 server for the probe's tests: one connection on a thread, records of chosen sizes, and
// misbehaviour on demand. Knows nothing of the probe.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "base/fd.h"
#include "probe/probe.h"

namespace hopyard::probe {

struct ServerOptions {
  std::string alpn = "http/1.1";  // empty: the server knows no ALPN
  bool tickets = false;
  uint16_t version = TLS1_3_VERSION;  // the only one
  bool tcp = false;                   // loopback TCP instead of a Unix socket
  bool handshake = true;              // false: the script gets the bare connection
};

// The server's side of the connection, for the script. Blocking; a false or empty return: the client has
// gone.
class ServerConnection {
 public:
  ServerConnection(base::Fd socket, SSL_CTX* context);

  bool handshake();
  SSL* ssl() { return ssl_.get(); }
  // Up to and including an empty line.
  std::string read_request();
  // At most `size` application bytes; empty at the end.
  std::string read_some(size_t size = 16384);
  // As records of up to `record_bytes`.
  bool write(std::string_view bytes, size_t record_bytes = 16384);
  // Past TLS.
  bool write_raw(std::string_view bytes);
  void send_close_notify();
  void close() { socket_.reset(); }
  // Reads until the client has closed.
  void drain();

 private:
  base::Fd socket_;
  bssl::UniquePtr<SSL> ssl_;
};

class TlsServer {
 public:
  using Script = std::function<void(ServerConnection&)>;
  // Listens at once; runs `script` on the first connection, after the handshake.
  TlsServer(ServerOptions options, Script script);
  ~TlsServer();

  const base::Endpoint& endpoint() const { return endpoint_; }
  // An unconnected socket of the endpoint's family.
  base::Fd client_socket() const;

 private:
  void listen_unix();
  void listen_tcp();
  void serve(Script script);

  ServerOptions options_;
  base::Endpoint endpoint_;
  std::string path_;
  base::Fd listener_;
  bssl::UniquePtr<SSL_CTX> context_;
  std::thread thread_;
};

// The fixture's bytes [offset, offset + bytes).
std::string fixture(uint64_t bytes, uint64_t offset = 0);
// "HTTP/1.1 200 OK", Content-Length, empty line.
std::string response_head(uint64_t content_length);

}  // namespace hopyard::probe

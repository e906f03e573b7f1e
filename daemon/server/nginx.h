// SPDX-License-Identifier: Apache-2.0
// One nginx process from configuration to reaping. Knows the namespace it runs in; nothing of trials or
// clients.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/child.h"
#include "base/endpoint.h"
#include "base/status.h"
#include "hopyard/v1/campaign.pb.h"
#include "hopyard/v1/result.pb.h"
#include "lab/namespace.h"
#include "server/certificate.h"

namespace hopyard::server {

struct Listen {
  std::string text;  // as nginx reads it: "192.0.2.1:443", "unix:../name"
  base::Endpoint endpoint;
};
// `address`: dotted IPv4.
absl::StatusOr<Listen> listen_ipv4(const std::string& address, uint16_t port);
// `path`: absolute, beside ServerSpec's directory. nginx is told it from there: the configuration, which is
// evidence, is then the same in each trial's folder.
absl::StatusOr<Listen> listen_unix(const std::string& path);

struct ServerSpec {
  std::string nginx_path;
  v1::Server settings;
  Listen listen;
  std::string directory;             // made here, the server's own; its parent lies on memory
  std::vector<uint64_t> body_bytes;  // served as "/<n>"; one for each request
  const Certificate* certificate = nullptr;
  const lab::NetNamespace* ns = nullptr;  // null: the caller's
  uint32_t send_buffer_bytes = 0;
  std::chrono::nanoseconds start_timeout = std::chrono::seconds(10);
};

class NginxServer {
 public:
  // Writes the files, starts nginx and waits until it accepts connections.
  // The caller has no other children: what nginx starts is ended with it. ABORTED, with nginx's own words, if
  // nginx refused the configuration, ended, or did not accept in time; other errors are of the place it was
  // to run in.
  static absl::StatusOr<NginxServer> start(ServerSpec spec);

  // QUIT, then by deadline KILL; reaped, as is what it started, which counts as an error of its. Exit status,
  // usage, and the writes of the one connection that made requests (none: empty; several: INTERNAL, since a
  // trial has one).
  absl::StatusOr<v1::ServerEvidence> stop(std::chrono::nanoseconds grace);

 private:
  static absl::StatusOr<NginxServer> try_start(ServerSpec spec);
  NginxServer(ServerSpec spec, std::string config, base::Child child);
  ServerSpec spec_;
  std::string config_;
  base::Child child_;
};

}  // namespace hopyard::server

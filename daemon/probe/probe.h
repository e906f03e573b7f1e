// SPDX-License-Identifier: Apache-2.0
// The measuring client: one connection, one workload, every time and every record of it as evidence. Knows
// nothing of how the server was started, how the path was made, or what the evidence will be judged by.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/endpoint.h"
#include "base/fd.h"

namespace hopyard::v1 {
class ClientEvidence;
class Workload;
}  // namespace hopyard::v1

namespace hopyard::probe {

// The name the client sends as SNI, Host and :authority. The certificate is not verified: whose it is plays
// no part in what is measured, only that the server holds its key.
inline constexpr std::string_view kHostName = "hopyard.test";

// How long each step may take before the client gives up and says so.
struct Deadlines {
  std::chrono::nanoseconds connect = std::chrono::seconds(10);
  std::chrono::nanoseconds handshake = std::chrono::seconds(10);
  std::chrono::nanoseconds settle = std::chrono::seconds(10);    // HTTP/2: both SETTINGS acknowledged
  std::chrono::nanoseconds request = std::chrono::seconds(120);  // each: from its write to its last byte
  std::chrono::nanoseconds shutdown = std::chrono::seconds(2);  // from our close_notify to the server's close
};

struct ProbeSpec {
  // What to do; must outlive run(). Body bytes N are asked for as "GET /N".
  const v1::Workload* workload = nullptr;
  base::Endpoint endpoint;  // where the server listens
  // A stream socket of the endpoint's family, unconnected, made in the client's namespace. The probe makes it
  // non-blocking and, for TCP, sets TCP_NODELAY (else a request waits for the acknowledgement of the client's
  // Finished, one round trip).
  base::Fd socket;
  Deadlines deadlines;
  // Waited before each read: a slow reader, for trying a server's write path. Zero: reads as fast as it can.
  std::chrono::nanoseconds read_pause{0};
  // Called with a later request's name (one with `after`) just before it is written: the caller snapshots the
  // server's socket. Its cost is outside that response's times. May be empty, as may the next two.
  std::function<void(std::string_view request)> before_request;
  // Called once, when the connection is settled and before anything is timed.
  std::function<void()> settled;
  // Called once, when every response is complete and the connection is still open. Not called after an error.
  std::function<void()> completed;
};

// Performs the workload, then closes in order. Never fails as a call: what went wrong is in evidence.error,
// what was seen until then is kept. Returns within the sum of the deadlines and the workload's pauses.
v1::ClientEvidence run(ProbeSpec spec);

}  // namespace hopyard::probe

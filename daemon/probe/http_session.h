// SPDX-License-Identifier: Apache-2.0
// What the client's event loop needs of an HTTP version. Knows no socket and no TLS.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "probe/meter.h"

namespace hopyard::probe {

// One HTTP/2 frame, either way; as v1::H2Frame.
struct FrameEntry {
  bool sent = false;
  uint8_t type = 0;
  uint8_t flags = 0;
  uint32_t stream = 0;
  uint32_t length = 0;
  int64_t first_byte_ns = 0;
  int64_t complete_ns = 0;
};

class HttpSession {
 public:
  virtual ~HttpSession() = default;

  // Queues what goes before the first request.
  virtual absl::Status start() = 0;
  // Nothing of start() is outstanding on the server's side.
  virtual bool settled() const = 0;
  // Another request may be queued now: HTTP/1.1 has one at a time, HTTP/2 as many as the server allows.
  virtual bool can_request() const = 0;
  // Queues the request that meter `index` stands for.
  virtual absl::Status request(size_t index) = 0;
  // Takes decrypted bytes, tells the meters. An error ends the connection.
  virtual absl::Status receive(std::span<const uint8_t> plaintext, int64_t decrypted_ns) = 0;
  // Queues a farewell, if the protocol has one.
  virtual absl::Status finish() = 0;

  // Queued bytes, which the caller gives to TLS at once; empty if none. Valid until the next call.
  virtual absl::StatusOr<std::span<const uint8_t>> output() = 0;
  // The last output() was given to TLS at `ns`.
  virtual void handed_over(int64_t ns) = 0;

  // Every HTTP/2 frame so far; empty for HTTP/1.1.
  virtual std::span<const FrameEntry> frames() const = 0;
};

}  // namespace hopyard::probe

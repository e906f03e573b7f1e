// SPDX-License-Identifier: Apache-2.0
// The socket, the record reader and the TLS engine as one event-driven stream: stamps and keeps every record.
// Knows no HTTP.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "probe/probe.h"
#include "probe/record_reader.h"
#include "probe/tls_engine.h"

namespace hopyard::probe {

// One record received; as v1::TlsRecord.
struct RecordEntry {
  Content content = Content::unknown;
  uint8_t outer_type = 0;
  uint32_t wire_bytes = 0;
  uint32_t plaintext_bytes = 0;
  int64_t received_ns = 0;
  int64_t decrypted_ns = 0;
};

// A 64 MiB body in fragments of 512 bytes is half of it; beyond it the connection is given up.
inline constexpr size_t kMaxRecords = 1 << 18;

class Channel {
 public:
  // Takes one record's application bytes and when they were decrypted. An error ends the connection.
  using Sink = std::function<absl::Status(std::span<const uint8_t> plaintext, int64_t decrypted_ns)>;
  enum class Step {
    moved,      // something was read or written
    timed_out,  // nothing was to do until the given instant
    closed,     // the server has closed; closed_how() says how
  };

  Channel(base::Fd socket, TlsEngine engine, size_t expected_records, std::chrono::nanoseconds read_pause);

  // Connects. DEADLINE_EXCEEDED, or what connect(2) said.
  absl::Status connect(const base::Endpoint& endpoint, int64_t until_ns);
  // Queues the ClientHello; step() does the rest.
  absl::Status start_handshake() { return engine_.start(); }
  // Waits until `until_ns` for the socket, reads once, opens every record that is then complete, in order,
  // and sends what is queued.
  absl::StatusOr<Step> step(int64_t until_ns, const Sink& sink);

  // Queues application bytes; flush() hands them to the kernel.
  absl::Status seal(std::span<const uint8_t> plaintext) { return engine_.seal(plaintext); }
  // Gives the kernel what it takes now. If the server no longer reads, the rest is dropped: what it sent
  // before that, and how it closed, is found by reading.
  absl::Status flush();
  // Sends close_notify. Our direction stays open: a server that sees it end answers with no close_notify.
  absl::Status close();

  // Wire bytes queued in all, and taken by the kernel in all, the last of these at last_taken_ns().
  uint64_t queued_bytes() const { return taken_bytes_ + engine_.output().size(); }
  uint64_t taken_bytes() const { return taken_bytes_; }
  int64_t last_taken_ns() const { return last_taken_ns_; }

  // The clock as last read: when bytes came, were opened, or did not come in time. Each reading is a call of
  // the kernel in a guest, and takes time on a virtual clock.
  int64_t now_ns() const { return now_ns_; }

  const TlsEngine& engine() const { return engine_; }
  int64_t connect_start_ns() const { return connect_start_ns_; }
  int64_t connected_ns() const { return connected_ns_; }
  int64_t handshake_done_ns() const { return handshake_done_ns_; }
  const std::string& closed_how() const { return closed_how_; }
  std::span<const RecordEntry> records() const { return records_; }
  uint64_t decrypted_bytes() const { return decrypted_bytes_; }

 private:
  absl::Status prepare_socket(int family);
  absl::Status await_connection(int64_t until_ns);
  // Nothing if the socket has no bytes now.
  absl::StatusOr<std::optional<Step>> read_once(const Sink& sink);
  absl::Status open_records(int64_t received_ns, const Sink& sink);
  absl::Status open_record(std::span<const uint8_t> record, int64_t received_ns, const Sink& sink);
  Step closed(std::string how);
  // Until the socket is ready; false in time.
  absl::StatusOr<bool> wait(short events, int64_t until_ns);

  base::Fd socket_;
  std::chrono::nanoseconds read_pause_;
  TlsEngine engine_;
  RecordReader reader_;
  std::vector<RecordEntry> records_;
  uint64_t decrypted_bytes_ = 0;
  uint64_t taken_bytes_ = 0;
  bool drained_ = false;  // the last read left nothing
  int64_t now_ns_ = 0;
  int64_t last_taken_ns_ = 0;
  int64_t connect_start_ns_ = 0;
  int64_t connected_ns_ = 0;
  int64_t handshake_done_ns_ = 0;
  std::string closed_how_;
};

}  // namespace hopyard::probe

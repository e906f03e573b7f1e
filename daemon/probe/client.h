// SPDX-License-Identifier: Apache-2.0
// One run of a workload over one connection, step by step, each with its deadline. Knows no framing.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "probe/channel.h"
#include "probe/http_session.h"
#include "probe/meter.h"
#include "probe/probe.h"
#include "probe/schedule.h"

namespace hopyard::probe {

class Client {
 public:
  explicit Client(ProbeSpec spec);
  // The callbacks hold its address.
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // From connecting to closing in order; the first error ends it.
  absl::Status perform();
  // What was seen, whether or not perform() succeeded.
  void fill(v1::ClientEvidence& out) const;

 private:
  absl::Status attempt();
  absl::Status set_up();
  absl::Status handshake();
  absl::Status settle();
  absl::Status exchange();
  // Closes in order. What the server leaves undone here is no error: every response is complete.
  absl::Status finish();

  absl::Status receive(std::span<const uint8_t> plaintext, int64_t decrypted_ns);
  // Writes every request that is due.
  absl::Status dispatch();
  absl::Status send(size_t index);
  // Gives TLS and the kernel what the session has queued.
  absl::Status give_output();
  void note_written();
  // Steps until `done` or `until_ns`; DEADLINE_EXCEEDED names `attempt`, as does a close by the server.
  template <typename Done>
  absl::Status step_until(std::string_view attempt, int64_t until_ns, Done done);
  absl::Status check_deadlines() const;
  // The earliest deadline of a request under way, or the end of a pause before it.
  int64_t next_event_ns() const;
  absl::Status closed_early(std::string_view attempt) const;

  struct Mark {
    size_t index;           // of a request
    uint64_t queued_bytes;  // its last wire byte
  };

  ProbeSpec spec_;
  std::vector<ResponseMeter> meters_;
  std::optional<Schedule> schedule_;
  std::optional<Channel> channel_;
  std::unique_ptr<HttpSession> session_;
  Channel::Sink sink_;
  std::deque<Mark> unwritten_;
  bool exchanging_ = false;
  int64_t settled_ns_ = 0;
};

}  // namespace hopyard::probe

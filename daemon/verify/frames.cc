// SPDX-License-Identifier: Apache-2.0
// A frame is a 9-byte header and its payload in the stream of decrypted bytes: its times are its records'.
#include "verify/consistency.h"

namespace hopyard::verify {
namespace {

constexpr char kFrames[] = "h2_frame";
constexpr uint64_t kHeaderBytes = 9;

}  // namespace

void check_frames(const Subject& subject, Findings& findings) {
  const StoredTrial& trial = subject.trial;
  if (!trial.client) return;
  if (subject.workload.protocol != "h2") {
    findings.same(kFrames, "", "seq", size_t{0}, trial.frames.size(), "HTTP/1.1 has no frames");
    return;
  }
  const Stream stream(trial.records);
  uint64_t offset = 0;
  for (size_t i = 0; i < trial.frames.size(); ++i) {
    const StoredFrame& frame = trial.frames[i];
    const std::string row = seq(frame.seq);
    findings.same(kFrames, row, "seq", static_cast<int64_t>(i), frame.seq, "rows count from 0");
    if (frame.sent) {
      findings.hold(kFrames, row, "complete_ns", frame.complete_ns >= frame.first_byte_ns,
                    fmt::format("at least {}", frame.first_byte_ns), frame.complete_ns,
                    "a frame is queued before it is handed to TLS");
      continue;
    }
    const uint64_t payload = offset + kHeaderBytes;
    offset = payload + frame.length;
    // A connection that broke may have left half a frame.
    if (!trial.client->error.empty() && offset > stream.bytes()) continue;
    findings.same(kFrames, row, "first_byte_ns",
                  stream.decrypted_ns(frame.length > 0 ? payload : payload - 1), frame.first_byte_ns,
                  "when the record of its first payload byte was decrypted");
    findings.same(kFrames, row, "complete_ns", stream.decrypted_ns(offset - 1), frame.complete_ns,
                  "when the record of its last byte was decrypted");
  }
  if (trial.client->error.empty())
    findings.same(kFrames, "sum of length", "length", stream.bytes(), offset,
                  "received frames and their headers are the decrypted bytes");
}

}  // namespace hopyard::verify

// SPDX-License-Identifier: Apache-2.0
// A response's counts and times, out of the records (HTTP/1.1) or the frames (HTTP/2) it came in.
#include <algorithm>

#include "absl/strings/escaping.h"
#include "verify/consistency.h"

namespace hopyard::verify {
namespace {

constexpr char kResponses[] = "response";
constexpr int64_t kEndStream = 1;

// What a response's row must say of its times.
struct Times {
  int64_t first_decrypted_ns = 0, first_body_ns = 0, body_1024_ns = 0, body_4096_ns = 0, body_8192_ns = 0;
  int64_t first_data_frame_ns = 0, complete_ns = 0;
};

void compare_times(const Times& derived, const StoredResponse& seen, Findings& findings) {
  const std::string row = seq(seen.seq);
  const auto one = [&](const char* column, int64_t expected, int64_t stored) {
    findings.same(kResponses, row, column, expected, stored, "the time of the record that brought it");
  };
  one("first_decrypted_ns", derived.first_decrypted_ns, seen.first_decrypted_ns);
  one("first_body_ns", derived.first_body_ns, seen.first_body_ns);
  one("body_1024_ns", derived.body_1024_ns, seen.body_1024_ns);
  one("body_4096_ns", derived.body_4096_ns, seen.body_4096_ns);
  one("body_8192_ns", derived.body_8192_ns, seen.body_8192_ns);
  one("first_data_frame_ns", derived.first_data_frame_ns, seen.first_data_frame_ns);
  one("complete_ns", derived.complete_ns, seen.complete_ns);
}

// Heads and bodies one after the other.
void check_h1(const StoredTrial& trial, const Stream& stream, Findings& findings) {
  uint64_t offset = 0;
  for (const StoredResponse& seen : trial.responses) {
    const uint64_t body = offset + seen.header_bytes;
    const auto after = [&](uint64_t bytes) {
      return seen.body_bytes < bytes ? 0 : stream.decrypted_ns(body + bytes - 1);
    };
    const uint64_t end = body + seen.body_bytes;
    Times derived;
    derived.first_decrypted_ns =
        end == offset && seen.first_decrypted_ns == 0 ? 0 : stream.decrypted_ns(offset);
    derived.first_body_ns = after(1);
    derived.body_1024_ns = after(1024);
    derived.body_4096_ns = after(4096);
    derived.body_8192_ns = after(8192);
    const bool whole = seen.content_length > 0 && seen.body_bytes == seen.content_length;
    derived.complete_ns = whole ? stream.decrypted_ns(end - 1) : 0;
    compare_times(derived, seen, findings);
    offset = end;
  }
  if (trial.client->error.empty())
    findings.same(kResponses, "sum of header_bytes and body_bytes", "header_bytes", stream.bytes(), offset,
                  "heads and bodies are the decrypted bytes");
}

struct Counted {
  Times times;
  uint64_t header_bytes = 0, body_bytes = 0;
};

void take_data(const StoredFrame& frame, Counted& counted) {
  counted.body_bytes += frame.length;
  Times& times = counted.times;
  if (times.first_data_frame_ns == 0) times.first_data_frame_ns = frame.complete_ns;
  const auto reached = [&](uint64_t bytes, int64_t& at) {
    if (at == 0 && counted.body_bytes >= bytes) at = frame.complete_ns;
  };
  reached(1, times.first_body_ns);
  reached(1024, times.body_1024_ns);
  reached(4096, times.body_4096_ns);
  reached(8192, times.body_8192_ns);
}

Counted count_stream(const StoredTrial& trial, int64_t stream) {
  Counted counted;
  for (const StoredFrame& frame : trial.frames) {
    if (frame.sent || frame.stream != stream || frame.first_byte_ns == 0 || counted.times.complete_ns != 0)
      continue;
    if (counted.times.first_decrypted_ns == 0) counted.times.first_decrypted_ns = frame.first_byte_ns;
    const bool head = frame.type == "HEADERS" || frame.type == "CONTINUATION";
    if (head && counted.body_bytes == 0) counted.header_bytes += frame.length;
    if (frame.type == "DATA") take_data(frame, counted);
    if ((head || frame.type == "DATA") && (frame.flags & kEndStream) != 0)
      counted.times.complete_ns = frame.complete_ns;
  }
  return counted;
}

// Body bytes of a stream that were decrypted by an instant, parts of frames included.
uint64_t body_bytes_by(const StoredTrial& trial, const Stream& stream, int64_t number, int64_t ns) {
  const uint64_t decrypted = stream.bytes_by(ns);
  uint64_t offset = 0, bytes = 0;
  for (const StoredFrame& frame : trial.frames) {
    if (frame.sent) continue;
    const uint64_t payload = offset + 9;
    offset = payload + frame.length;
    if (frame.type != "DATA" || frame.stream != number || decrypted <= payload) continue;
    bytes += std::min(decrypted, offset) - payload;
  }
  return bytes;
}

void check_h2(const StoredTrial& trial, Findings& findings) {
  for (const StoredResponse& seen : trial.responses) {
    if (seen.request_start_ns == 0) continue;  // it was never asked for
    const Counted derived = count_stream(trial, seen.stream);
    const std::string row = seq(seen.seq);
    findings.same(kResponses, row, "header_bytes", derived.header_bytes, seen.header_bytes,
                  "the HEADERS frames of its stream");
    // Of a frame that was cut off some bytes may have come.
    if (trial.client->error.empty())
      findings.same(kResponses, row, "body_bytes", derived.body_bytes, seen.body_bytes,
                    "the DATA frames of its stream");
    if (trial.client->error.empty()) compare_times(derived.times, seen, findings);
    const bool asked = std::any_of(trial.frames.begin(), trial.frames.end(), [&](const StoredFrame& frame) {
      return frame.sent && frame.type == "HEADERS" && frame.stream == seen.stream;
    });
    findings.hold(kResponses, row, "stream", asked, "a stream on which HEADERS were sent", seen.stream,
                  "HTTP/2");
  }
}

void check_dispatch(const Subject& subject, const Stream& stream, Findings& findings) {
  const StoredTrial& trial = subject.trial;
  for (size_t i = 0; i < trial.responses.size() && i < subject.workload.requests.size(); ++i) {
    const AskedRequest& asked = subject.workload.requests[i];
    const StoredResponse& seen = trial.responses[i];
    uint64_t expected = 0;
    for (const StoredResponse& awaited : trial.responses) {
      if (asked.after_body_bytes && awaited.role == asked.after_request && seen.request_start_ns != 0)
        expected = body_bytes_by(trial, stream, awaited.stream, seen.request_start_ns);
    }
    findings.same(kResponses, seq(seen.seq), "dispatch_after_bytes", expected, seen.dispatch_after_bytes,
                  "body bytes of the awaited response in records decrypted before the request");
  }
}

void check_identity(const Subject& subject, Findings& findings) {
  const auto& responses = subject.trial.responses;
  for (size_t i = 0; i < responses.size(); ++i) {
    const StoredResponse& seen = responses[i];
    const std::string row = seq(seen.seq);
    findings.same(kResponses, row, "seq", static_cast<int64_t>(i), seen.seq, "rows count from 0");
    findings.same(kResponses, row, "protocol_text", subject.workload.protocol, seen.protocol,
                  "the workload's");
    if (i < subject.workload.requests.size())
      findings.same(kResponses, row, "role_text", subject.workload.requests[i].name, seen.role,
                    "the workload's");
    if (subject.workload.protocol == "h1" && seen.request_start_ns != 0)
      findings.same(kResponses, row, "stream", static_cast<int64_t>(i) + 1, seen.stream,
                    "HTTP/1.1 counts requests");
    if (seen.body_equals_fixture)
      findings.same(kResponses, row, "body_sha256", fixture_sha256(seen.body_bytes),
                    absl::BytesToHexString(seen.body_sha256), "the rule of the served bodies");
  }
}

}  // namespace

void check_responses(const Subject& subject, Findings& findings) {
  const StoredTrial& trial = subject.trial;
  if (!trial.client) return;
  check_identity(subject, findings);
  const Stream stream(trial.records);
  if (subject.workload.protocol == "h2") {
    check_h2(trial, findings);
    check_dispatch(subject, stream, findings);
  } else if (trial.client->error.empty()) {
    check_h1(trial, stream, findings);
    check_dispatch(subject, stream, findings);
  }
}

}  // namespace hopyard::verify

// SPDX-License-Identifier: Apache-2.0
// One response as it arrives: its instants, its counts, and whether it is what was asked for. Knows no
// protocol beyond the names of its milestones; is told every instant.
#pragma once

#include <openssl/sha.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "probe/fixture.h"

namespace hopyard::v1 {
class Response;
}

namespace hopyard::probe {

class ResponseMeter {
 public:
  // `role` is the request's name, `expected_bytes` the body it asks for.
  ResponseMeter(std::string role, std::string_view protocol, uint64_t expected_bytes);

  void set_stream(uint32_t stream) { stream_ = stream; }
  // The request is about to be given to TLS; `after_bytes` of the awaited body were decrypted by then.
  void started(int64_t ns, uint64_t after_bytes);
  // The kernel took the request's last byte.
  void written(int64_t ns) { written_ns_ = ns; }

  // Some byte of the response was decrypted; the first call counts.
  void decrypted(int64_t ns);
  void add_header_bytes(uint64_t bytes) { header_bytes_ += bytes; }
  // The response's head is complete. Fails if it announces more than was asked for.
  absl::Status head(uint32_t status, uint64_t content_length);
  // Body bytes in order, as decrypted: hashed, compared, counted. Fails once they are too many.
  absl::Status body(std::span<const uint8_t> bytes);
  // `bytes` more of them reached the reader of the body (H1: the same instant; H2: their DATA frame is
  // complete).
  void delivered(uint64_t bytes, int64_t ns);
  // HTTP/2: a DATA frame is complete; the first call counts.
  void data_frame(int64_t ns);
  // The response has ended. Fails if it is not the one asked for; what was seen is kept.
  absl::Status finished(int64_t ns);

  const std::string& role() const { return role_; }
  int64_t start_ns() const { return start_ns_; }
  bool is_started() const { return start_ns_ != 0; }
  bool complete() const { return complete_ns_ != 0; }
  int64_t complete_ns() const { return complete_ns_; }
  uint64_t body_bytes() const { return check_.bytes(); }
  uint64_t content_length() const { return content_length_; }
  uint64_t expected_bytes() const { return expected_bytes_; }
  bool body_begun() const { return check_.bytes() > 0; }

  void fill(v1::Response& out) const;

 private:
  absl::Status wrong(std::string_view what) const;

  std::string role_;
  std::string protocol_;
  uint64_t expected_bytes_;
  uint32_t stream_ = 0;
  uint32_t status_ = 0;
  uint64_t header_bytes_ = 0;
  uint64_t content_length_ = 0;
  uint64_t delivered_bytes_ = 0;
  uint64_t after_bytes_ = 0;
  int64_t start_ns_ = 0;
  int64_t written_ns_ = 0;
  int64_t first_decrypted_ns_ = 0;
  int64_t first_body_ns_ = 0;
  int64_t body_1024_ns_ = 0;
  int64_t body_4096_ns_ = 0;
  int64_t body_8192_ns_ = 0;
  int64_t first_data_frame_ns_ = 0;
  int64_t complete_ns_ = 0;
  FixtureCheck check_;
  SHA256_CTX hash_;
};

}  // namespace hopyard::probe

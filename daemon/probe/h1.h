// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 for the measuring client: one exchange at a time on a kept connection. Strict, and small on
// purpose: only what a static response with Content-Length needs.
#pragma once

#include <optional>
#include <string>

#include "probe/http_session.h"

namespace hopyard::probe {

struct ResponseHead {
  uint32_t status = 0;
  uint64_t content_length = 0;
};

// Parses a whole head, up to and including its empty line. INVALID_ARGUMENT if it is not HTTP/1.1, has bare
// line ends, no single well-formed Content-Length, a Transfer-Encoding, or is an interim response.
absl::StatusOr<ResponseHead> parse_response_head(std::string_view head);

class H1Session final : public HttpSession {
 public:
  // `meters` outlive the session; request `index` is answered into meters[index].
  explicit H1Session(std::span<ResponseMeter> meters) : meters_(meters) { head_.reserve(kMaxHeadBytes); }

  absl::Status start() override { return absl::OkStatus(); }
  bool settled() const override { return true; }
  bool can_request() const override { return !current_; }
  absl::Status request(size_t index) override;
  absl::Status receive(std::span<const uint8_t> plaintext, int64_t decrypted_ns) override;
  absl::Status finish() override { return absl::OkStatus(); }
  absl::StatusOr<std::span<const uint8_t>> output() override;
  void handed_over(int64_t) override { output_.clear(); }
  std::span<const FrameEntry> frames() const override { return {}; }

 private:
  static constexpr size_t kMaxHeadBytes = 16384;
  // Both give what they left of `bytes`.
  absl::StatusOr<std::span<const uint8_t>> take_head(std::span<const uint8_t> bytes, int64_t ns);
  absl::StatusOr<std::span<const uint8_t>> take_body(std::span<const uint8_t> bytes, int64_t ns);

  std::span<ResponseMeter> meters_;
  std::optional<size_t> current_;
  bool in_body_ = false;
  std::string head_;
  std::string output_;
};

}  // namespace hopyard::probe

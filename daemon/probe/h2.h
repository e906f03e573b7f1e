// SPDX-License-Identifier: Apache-2.0
// HTTP/2 for the measuring client: nghttp2 frames and judges, the frame scanner times. Flow control is opened
// so wide that it never holds a response back.
#pragma once

#include <nghttp2/nghttp2.h>

#include <memory>
#include <string>
#include <vector>

#include "probe/h2_frames.h"
#include "probe/http_session.h"

namespace hopyard::probe {

// SETTINGS_INITIAL_WINDOW_SIZE; a larger body's stream is enlarged with its request.
inline constexpr int32_t kStreamWindowBytes = 4 << 20;
// What the connection's window of 65535 is enlarged by at least; more if the workload's bodies need more.
inline constexpr int32_t kConnectionWindowIncrementBytes = 8 << 20;
// No workload comes near; beyond it the connection is given up.
inline constexpr size_t kMaxFrames = 1 << 18;

class H2Session final : public HttpSession {
 public:
  // `meters` outlive the session; request `index` is answered into meters[index].
  static absl::StatusOr<std::unique_ptr<H2Session>> make(std::span<ResponseMeter> meters);

  absl::Status start() override;
  bool settled() const override { return settings_received_ && settings_acknowledged_; }
  bool can_request() const override;
  absl::Status request(size_t index) override;
  absl::Status receive(std::span<const uint8_t> plaintext, int64_t decrypted_ns) override;
  absl::Status finish() override;
  absl::StatusOr<std::span<const uint8_t>> output() override;
  void handed_over(int64_t ns) override;
  std::span<const FrameEntry> frames() const override { return frames_; }

 private:
  struct Callbacks;  // nghttp2's, in h2.cc
  struct SessionDelete {
    void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
  };

  explicit H2Session(std::span<ResponseMeter> meters);
  ResponseMeter* meter_of(uint32_t stream);
  void note_first_byte(const FrameEntry& frame);
  void on_frame(const nghttp2_frame& frame);
  void on_data_frame(ResponseMeter& meter);
  void fail(absl::Status status);
  // Everything nghttp2 wants to send, appended to output_.
  absl::Status collect();

  std::span<ResponseMeter> meters_;
  std::vector<FrameEntry> frames_;
  FrameScanner received_;
  FrameScanner sent_;
  std::unique_ptr<nghttp2_session, SessionDelete> session_;
  std::vector<uint8_t> output_;
  size_t preface_left_ = NGHTTP2_CLIENT_MAGIC_LEN;  // output bytes that are no frame
  size_t first_unstamped_ = 0;                      // in frames_: sent ones not yet handed over
  uint32_t open_streams_ = 0;
  bool settings_received_ = false;
  bool settings_acknowledged_ = false;
  int64_t now_ns_ = 0;  // when the bytes nghttp2 is working on were decrypted
  // Of the response head nghttp2 is working on.
  uint32_t head_status_ = 0;
  uint64_t head_content_length_ = 0;
  uint64_t frame_body_bytes_ = 0;  // body bytes of the DATA frame under way, padding left out
  std::string complaint_;          // nghttp2's last explanation
  absl::Status failure_;           // the first; callbacks cannot return one
};

}  // namespace hopyard::probe

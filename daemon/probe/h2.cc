// SPDX-License-Identifier: Apache-2.0
// Translates nghttp2's callbacks into milestones.
#include "probe/h2.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "probe/probe.h"

namespace hopyard::probe {
namespace {

absl::Status engine_error(std::string_view attempt, ptrdiff_t code) {
  return absl::InternalError(
      absl::StrCat(std::string(attempt), ": HTTP/2: ", nghttp2_strerror(static_cast<int>(code))));
}

absl::Status peer_error(std::string_view attempt, std::string_view cause) {
  return absl::AbortedError(absl::StrCat(std::string(attempt), ": HTTP/2: ", std::string(cause)));
}

nghttp2_nv field(std::string_view name, std::string_view value) {
  // nghttp2 copies both; its type is not const for historical reasons.
  return {const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(name.data())),
          const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

template <typename Number>
void take_number(std::string_view text, Number& out) {
  std::from_chars(text.data(), text.data() + text.size(), out);
}

}  // namespace

struct H2Session::Callbacks {
  static H2Session& self(void* user) { return *static_cast<H2Session*>(user); }

  static int on_begin_headers(nghttp2_session*, const nghttp2_frame*, void* user) {
    self(user).head_status_ = 0;
    self(user).head_content_length_ = 0;
    return 0;
  }
  static int on_header(nghttp2_session*, const nghttp2_frame*, const uint8_t* name, size_t name_size,
                       const uint8_t* value, size_t value_size, uint8_t, void* user) {
    const std::string_view key(reinterpret_cast<const char*>(name), name_size);
    const std::string_view text(reinterpret_cast<const char*>(value), value_size);
    // Their form is nghttp2's to judge.
    if (key == ":status") take_number(text, self(user).head_status_);
    if (key == "content-length") take_number(text, self(user).head_content_length_);
    return 0;
  }
  static int on_data_chunk(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* bytes, size_t size,
                           void* user) {
    H2Session& session = self(user);
    ResponseMeter* meter = session.meter_of(static_cast<uint32_t>(stream));
    if (meter == nullptr) return 0;
    session.frame_body_bytes_ += size;
    session.fail(meter->body({bytes, size}));
    return 0;
  }
  static int on_frame_recv(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    self(user).on_frame(*frame);
    return 0;
  }
  static int on_invalid_frame(nghttp2_session*, const nghttp2_frame* frame, int code, void* user) {
    H2Session& session = self(user);
    session.fail(peer_error("read frame", absl::StrCat(frame_type_name(frame->hd.type), ": ",
                                                       nghttp2_strerror(code), " ", session.complaint_)));
    return 0;
  }
  static int on_frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    // How nghttp2 ends a connection whose bytes it cannot make sense of.
    if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR) {
      self(user).fail(peer_error("read frame", absl::StrCat(nghttp2_http2_strerror(frame->goaway.error_code),
                                                            " ", self(user).complaint_)));
    }
    return 0;
  }
  static int on_stream_close(nghttp2_session*, int32_t stream, uint32_t code, void* user) {
    H2Session& session = self(user);
    const ResponseMeter* meter = session.meter_of(static_cast<uint32_t>(stream));
    if (meter == nullptr) return 0;
    --session.open_streams_;
    if (code == NGHTTP2_NO_ERROR && meter->complete()) return 0;
    session.fail(peer_error("read response",
                            absl::StrCat(meter->role(), ": stream reset: ", nghttp2_http2_strerror(code))));
    return 0;
  }
  static int on_complaint(nghttp2_session*, int, const char* text, size_t size, void* user) {
    self(user).complaint_.assign(text, size);
    return 0;
  }
};

H2Session::H2Session(std::span<ResponseMeter> meters)
    : meters_(meters),
      received_(frames_, /*sent=*/false, kMaxFrames),
      sent_(frames_, /*sent=*/true, kMaxFrames) {
  uint64_t bytes = 0;
  for (const ResponseMeter& meter : meters_) bytes += meter.expected_bytes();
  frames_.reserve(std::min<uint64_t>(kMaxFrames, bytes / 2048 + 256));
  output_.reserve(4096);
  received_.on_first_byte([this](const FrameEntry& frame) { note_first_byte(frame); });
}

absl::StatusOr<std::unique_ptr<H2Session>> H2Session::make(std::span<ResponseMeter> meters) {
  nghttp2_session_callbacks* callbacks = nullptr;
  if (const int code = nghttp2_session_callbacks_new(&callbacks); code != 0) {
    return engine_error("set up session", code);
  }
  const std::unique_ptr<nghttp2_session_callbacks, void (*)(nghttp2_session_callbacks*)> owner(
      callbacks, &nghttp2_session_callbacks_del);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, &Callbacks::on_begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, &Callbacks::on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &Callbacks::on_data_chunk);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &Callbacks::on_frame_recv);
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, &Callbacks::on_invalid_frame);
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, &Callbacks::on_frame_sent);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &Callbacks::on_stream_close);
  nghttp2_session_callbacks_set_error_callback2(callbacks, &Callbacks::on_complaint);
  std::unique_ptr<H2Session> session(new H2Session(meters));
  nghttp2_session* raw = nullptr;
  if (const int code = nghttp2_session_client_new(&raw, callbacks, session.get()); code != 0) {
    return engine_error("set up session", code);
  }
  session->session_.reset(raw);
  return session;
}

absl::Status H2Session::start() {
  const std::array<nghttp2_settings_entry, 2> settings = {
      {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
       {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<uint32_t>(kStreamWindowBytes)}}};
  if (const int code =
          nghttp2_submit_settings(session_.get(), NGHTTP2_FLAG_NONE, settings.data(), settings.size());
      code != 0) {
    return engine_error("send SETTINGS", code);
  }
  uint64_t needed = 0;
  for (const ResponseMeter& meter : meters_) needed += meter.expected_bytes();
  constexpr uint64_t kLargest = std::numeric_limits<int32_t>::max();
  const uint64_t window =
      std::min<uint64_t>(kLargest, NGHTTP2_INITIAL_CONNECTION_WINDOW_SIZE +
                                       std::max<uint64_t>(kConnectionWindowIncrementBytes, needed));
  if (const int code = nghttp2_session_set_local_window_size(session_.get(), NGHTTP2_FLAG_NONE, 0,
                                                             static_cast<int32_t>(window));
      code != 0) {
    return engine_error("send WINDOW_UPDATE", code);
  }
  return absl::OkStatus();
}

bool H2Session::can_request() const {
  return open_streams_ <
         nghttp2_session_get_remote_settings(session_.get(), NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

absl::Status H2Session::request(size_t index) {
  ResponseMeter& meter = meters_[index];
  const std::string path = absl::StrCat("/", meter.expected_bytes());
  const std::array<nghttp2_nv, 5> fields = {field(":method", "GET"), field(":scheme", "https"),
                                            field(":authority", kHostName), field(":path", path),
                                            field("user-agent", "hopyard")};
  const int32_t stream =
      nghttp2_submit_request(session_.get(), nullptr, fields.data(), fields.size(), nullptr, &meter);
  if (stream < 0) return engine_error("send request", stream);
  meter.set_stream(static_cast<uint32_t>(stream));
  ++open_streams_;
  if (meter.expected_bytes() <= kStreamWindowBytes) return absl::OkStatus();
  // The stream exists for nghttp2 only once its HEADERS are framed.
  HOPYARD_RETURN_IF_ERROR(collect());
  const auto window = static_cast<int32_t>(std::min<uint64_t>(meter.expected_bytes(), 1 << 30));
  const int code = nghttp2_session_set_local_window_size(session_.get(), NGHTTP2_FLAG_NONE, stream, window);
  return code == 0 ? absl::OkStatus() : engine_error("send WINDOW_UPDATE", code);
}

absl::Status H2Session::receive(std::span<const uint8_t> plaintext, int64_t decrypted_ns) {
  now_ns_ = decrypted_ns;
  received_.scan(plaintext, decrypted_ns);
  const ssize_t taken = nghttp2_session_mem_recv(session_.get(), plaintext.data(), plaintext.size());
  if (taken < 0)
    fail(peer_error("read frame", absl::StrCat(nghttp2_strerror(static_cast<int>(taken)), " ", complaint_)));
  if (received_.dropped() > 0)
    fail(peer_error("read frame", absl::StrCat("more than ", kMaxFrames, " frames")));
  if (!failure_.ok()) return failure_;
  // nghttp2 may be about to end the connection, which it says in a GOAWAY.
  HOPYARD_RETURN_IF_ERROR(collect());
  return failure_;
}

absl::Status H2Session::finish() {
  const int code = nghttp2_session_terminate_session(session_.get(), NGHTTP2_NO_ERROR);
  return code == 0 ? absl::OkStatus() : engine_error("send GOAWAY", code);
}

absl::Status H2Session::collect() {
  const int64_t ns = base::monotonic_ns();
  for (;;) {
    const uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_.get(), &bytes);
    if (size < 0) return engine_error("send frame", size);
    if (size == 0) return absl::OkStatus();
    std::span<const uint8_t> chunk(bytes, static_cast<size_t>(size));
    output_.insert(output_.end(), chunk.begin(), chunk.end());
    const size_t preface = std::min(preface_left_, chunk.size());
    preface_left_ -= preface;
    sent_.scan(chunk.subspan(preface), ns);
  }
}

absl::StatusOr<std::span<const uint8_t>> H2Session::output() {
  HOPYARD_RETURN_IF_ERROR(collect());
  return std::span<const uint8_t>(output_);
}

void H2Session::handed_over(int64_t ns) {
  output_.clear();
  for (; first_unstamped_ < frames_.size(); ++first_unstamped_) {
    if (frames_[first_unstamped_].sent) frames_[first_unstamped_].complete_ns = ns;
  }
}

ResponseMeter* H2Session::meter_of(uint32_t stream) {
  if (stream == 0) return nullptr;
  return static_cast<ResponseMeter*>(
      nghttp2_session_get_stream_user_data(session_.get(), static_cast<int32_t>(stream)));
}

void H2Session::note_first_byte(const FrameEntry& frame) {
  ResponseMeter* meter = meter_of(frame.stream);
  if (meter == nullptr) return;
  meter->decrypted(frame.first_byte_ns);
  const bool is_head = frame.type == kFrameHeaders || frame.type == kFrameContinuation;
  if (is_head && !meter->body_begun()) meter->add_header_bytes(frame.length);
}

void H2Session::on_frame(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_SETTINGS) {
    ((frame.hd.flags & NGHTTP2_FLAG_ACK) != 0 ? settings_acknowledged_ : settings_received_) = true;
  }
  if (frame.hd.type == NGHTTP2_GOAWAY && frame.goaway.error_code != NGHTTP2_NO_ERROR) {
    fail(peer_error("read frame",
                    absl::StrCat("server sent GOAWAY ", nghttp2_http2_strerror(frame.goaway.error_code))));
  }
  ResponseMeter* meter = meter_of(static_cast<uint32_t>(frame.hd.stream_id));
  if (meter == nullptr) return;
  if (frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_RESPONSE) {
    fail(meter->head(head_status_, head_content_length_));
  }
  if (frame.hd.type == NGHTTP2_DATA) on_data_frame(*meter);
  const bool may_end = frame.hd.type == NGHTTP2_DATA || frame.hd.type == NGHTTP2_HEADERS;
  if (may_end && (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) fail(meter->finished(now_ns_));
}

void H2Session::on_data_frame(ResponseMeter& meter) {
  meter.data_frame(now_ns_);
  meter.delivered(frame_body_bytes_, now_ns_);
  frame_body_bytes_ = 0;
}

void H2Session::fail(absl::Status status) { failure_.Update(status); }

}  // namespace hopyard::probe

// SPDX-License-Identifier: Apache-2.0
// The HTTP/2 test server: writes all it may, then reads, over and over.
#include "h2_server.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "gtest/gtest.h"
#include "probe/fixture.h"

namespace hopyard::probe {
namespace {

class H2Server {
 public:
  H2Server(ServerConnection& connection, H2Options options, H2Seen& seen)
      : connection_(connection), options_(std::move(options)), seen_(seen) {}

  void serve() {
    nghttp2_session_callbacks* callbacks = nullptr;
    ASSERT_EQ(nghttp2_session_callbacks_new(&callbacks), 0);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, &on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &on_close);
    nghttp2_session_callbacks_set_select_padding_callback(callbacks, &select_padding);
    nghttp2_session_server_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    if (options_.answer_settings) {
      const nghttp2_settings_entry streams = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                                              options_.max_streams.value_or(0)};
      nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &streams, options_.max_streams ? 1 : 0);
      while (write_all() && read_some()) {
      }
    } else {
      connection_.drain();
    }
    nghttp2_session_del(session_);
  }

 private:
  struct Body {
    H2Server* server;
    int32_t stream;
    uint64_t size;
    uint64_t sent = 0;
  };
  static H2Server& self(void* user) { return *static_cast<H2Server*>(user); }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                       const uint8_t* value, size_t value_size, uint8_t, void* user) {
    const std::string key(reinterpret_cast<const char*>(name), name_size);
    const std::string text(reinterpret_cast<const char*>(value), value_size);
    if (self(user).bodies_.empty()) self(user).seen_.fields[key] = text;
    if (key == ":path") self(user).paths_[frame->hd.stream_id] = text;
    return 0;
  }

  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_GOAWAY) self(user).seen_.goaway = true;
    if (frame->hd.type == NGHTTP2_SETTINGS) {
      for (size_t i = 0; i < frame->settings.niv; ++i) {
        self(user).seen_.settings[frame->settings.iv[i].settings_id] = frame->settings.iv[i].value;
      }
    }
    if (frame->hd.type == NGHTTP2_HEADERS) self(user).respond(frame->hd.stream_id);
    return 0;
  }

  static int on_close(nghttp2_session*, int32_t, uint32_t, void* user) {
    --self(user).open_;
    return 0;
  }

  static ssize_t select_padding(nghttp2_session*, const nghttp2_frame* frame, size_t limit, void* user) {
    const size_t padding = frame->hd.type == NGHTTP2_DATA ? self(user).options_.padding : 0;
    return static_cast<ssize_t>(std::min(frame->hd.length + padding, limit));
  }

  void respond(int32_t stream) {
    if (bodies_.empty()) {
      seen_.connection_window = nghttp2_session_get_remote_window_size(session_);
      seen_.stream_window = nghttp2_session_get_stream_remote_window_size(session_, stream);
    }
    ++open_;
    seen_.most_streams = std::max(seen_.most_streams, open_);
    const uint64_t size = std::strtoull(paths_[stream].c_str() + 1, nullptr, 10);
    const auto [at, added] = bodies_.emplace(stream, Body{this, stream, size});
    const std::string length = std::to_string(size);
    const auto field = [](const char* name, const std::string& value) {
      return nghttp2_nv{reinterpret_cast<uint8_t*>(const_cast<char*>(name)),
                        reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), std::strlen(name),
                        value.size(), NGHTTP2_NV_FLAG_NONE};
    };
    const std::string ok = "200";
    const nghttp2_nv fields[] = {field(":status", ok), field("content-length", length)};
    nghttp2_data_provider provider{.source = {.ptr = &at->second}, .read_callback = &read_body};
    nghttp2_submit_response(session_, stream, fields, 2, &provider);
    if (bodies_.size() == 2 && options_.hold_after)
      nghttp2_session_resume_data(session_, bodies_.begin()->first);
  }

  static ssize_t read_body(nghttp2_session* session, int32_t stream, uint8_t* out, size_t room,
                           uint32_t* flags, nghttp2_data_source* source, void*) {
    Body& body = *static_cast<Body*>(source->ptr);
    const H2Options& options = body.server->options_;
    uint64_t end = body.size;
    for (const auto& stop : {options.reset_after, options.goaway_after}) {
      if (stop) end = std::min(end, *stop);
    }
    const bool held = options.hold_after && body.server->bodies_.size() < 2;
    if (held) end = std::min(end, *options.hold_after);
    const size_t size = std::min<uint64_t>({room, options.frame_bytes, end - body.sent});
    if (size == 0 && held) return NGHTTP2_ERR_DEFERRED;
    if (size == 0 && options.reset_after) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    if (size == 0 && options.goaway_after) {
      nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE, stream, NGHTTP2_ENHANCE_YOUR_CALM, nullptr, 0);
      return NGHTTP2_ERR_DEFERRED;
    }
    fill(body.sent, {out, size});
    body.sent += size;
    body.server->unread_since_ += size;
    if (body.sent == body.size) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  }

  bool write_all() {
    unread_since_ = 0;
    std::string pending;
    for (;;) {
      const uint8_t* bytes = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
      if (size < 0) return false;
      if (size == 0) break;
      pending.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
      if (!bodies_.empty() && !options_.raw_after_headers.empty()) {
        pending += std::exchange(options_.raw_after_headers, {});
      }
    }
    seen_.sent_before_reading = std::max(seen_.sent_before_reading, unread_since_);
    return connection_.write(pending, options_.record_bytes);
  }

  bool read_some() {
    const std::string bytes = connection_.read_some();
    if (bytes.empty()) return false;
    return nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()) >=
           0;
  }

  ServerConnection& connection_;
  H2Options options_;
  H2Seen& seen_;
  nghttp2_session* session_ = nullptr;
  std::map<int32_t, std::string> paths_;
  std::map<int32_t, Body> bodies_;
  uint64_t unread_since_ = 0;
  size_t open_ = 0;
};

}  // namespace

TlsServer::Script h2_script(H2Options options, H2Seen* seen) {
  return [options = std::move(options), seen](ServerConnection& connection) {
    H2Seen unused;
    H2Server(connection, options, seen != nullptr ? *seen : unused).serve();
  };
}

}  // namespace hopyard::probe

// SPDX-License-Identifier: Apache-2.0
// An HTTP/2 server (nghttp2) for the probe's tests, with frames and records of chosen sizes and misbehaviour
// on demand. Answers "GET /N" with N bytes of the fixture.
#pragma once

#include <nghttp2/nghttp2.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tls_server.h"

namespace hopyard::probe {

struct H2Options {
  size_t frame_bytes = 8192;    // payload of a DATA frame, at most
  size_t record_bytes = 16384;  // plaintext of a record, at most
  uint8_t padding = 0;          // bytes added to every DATA frame
  // The first response stops after so many bytes until a second request has come.
  std::optional<uint64_t> hold_after;
  std::optional<uint64_t> reset_after;   // RST_STREAM then
  std::optional<uint64_t> goaway_after;  // GOAWAY with an error then
  std::optional<uint32_t> max_streams;   // at a time
  bool answer_settings = true;
  std::string raw_after_headers;  // put on the stream, unframed, once a request has come
};

// What the server saw of the client.
struct H2Seen {
  std::map<int32_t, uint32_t> settings;  // the client's, by id
  int32_t connection_window = 0;         // when the first request came
  int32_t stream_window = 0;
  uint64_t sent_before_reading = 0;           // body bytes written in one go after the first request
  std::map<std::string, std::string> fields;  // of the first request
  size_t most_streams = 0;                    // open at a time
  bool goaway = false;
};

// A script for TlsServer with ALPN "h2"; `seen` may be read once the server is gone.
TlsServer::Script h2_script(H2Options options, H2Seen* seen = nullptr);

}  // namespace hopyard::probe

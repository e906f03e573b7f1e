// SPDX-License-Identifier: Apache-2.0
// One loop for each kind of row.
#include "probe/evidence.h"

#include "hopyard/v1/result.pb.h"
#include "probe/h2_frames.h"

namespace hopyard::probe {
namespace {

v1::RecordContent content_of(Content content) {
  switch (content) {
    case Content::unknown:
      return v1::RECORD_CONTENT_UNSPECIFIED;
    case Content::handshake:
      return v1::HANDSHAKE;
    case Content::data:
      return v1::DATA;
    case Content::post_handshake:
      return v1::POST_HANDSHAKE;
    case Content::alert:
      return v1::ALERT;
  }
  return v1::RECORD_CONTENT_UNSPECIFIED;
}

}  // namespace

void fill_connection(const Channel& channel, v1::ClientEvidence& out) {
  out.set_connect_start_ns(channel.connect_start_ns());
  out.set_connected_ns(channel.connected_ns());
  out.set_handshake_done_ns(channel.handshake_done_ns());
  if (channel.engine().handshake_done()) {
    out.set_tls_version(channel.engine().version());
    out.set_cipher(channel.engine().cipher());
    out.set_alpn(channel.engine().alpn());
  }
  out.set_decrypted_bytes(channel.decrypted_bytes());
  out.mutable_records()->Reserve(static_cast<int>(channel.records().size()));
  uint32_t seq = 0;
  for (const RecordEntry& record : channel.records()) {
    v1::TlsRecord& row = *out.add_records();
    row.set_seq(seq++);
    row.set_content(content_of(record.content));
    row.set_outer_type(record.outer_type);
    row.set_wire_bytes(record.wire_bytes);
    row.set_plaintext_bytes(record.plaintext_bytes);
    row.set_received_ns(record.received_ns);
    row.set_decrypted_ns(record.decrypted_ns);
  }
}

void fill_frames(std::span<const FrameEntry> frames, v1::ClientEvidence& out) {
  out.mutable_frames()->Reserve(static_cast<int>(frames.size()));
  uint32_t seq = 0;
  for (const FrameEntry& frame : frames) {
    v1::H2Frame& row = *out.add_frames();
    row.set_seq(seq++);
    row.set_sent(frame.sent);
    row.set_stream(frame.stream);
    row.set_type(frame_type_name(frame.type));
    row.set_flags(frame.flags);
    row.set_length(frame.length);
    row.set_first_byte_ns(frame.first_byte_ns);
    row.set_complete_ns(frame.complete_ns);
  }
}

void fill_responses(std::span<const ResponseMeter> meters, v1::ClientEvidence& out) {
  for (const ResponseMeter& meter : meters) meter.fill(*out.add_responses());
}

}  // namespace hopyard::probe

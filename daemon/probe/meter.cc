// SPDX-License-Identifier: Apache-2.0
// Keeps first instants, counts bytes, and says in what a response differs from the one asked for.
#include "probe/meter.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "hopyard/v1/result.pb.h"

namespace hopyard::probe {

ResponseMeter::ResponseMeter(std::string role, std::string_view protocol, uint64_t expected_bytes)
    : role_(std::move(role)), protocol_(protocol), expected_bytes_(expected_bytes) {
  SHA256_Init(&hash_);
}

void ResponseMeter::started(int64_t ns, uint64_t after_bytes) {
  start_ns_ = ns;
  after_bytes_ = after_bytes;
}

void ResponseMeter::decrypted(int64_t ns) {
  if (first_decrypted_ns_ == 0) first_decrypted_ns_ = ns;
}

absl::Status ResponseMeter::head(uint32_t status, uint64_t content_length) {
  status_ = status;
  content_length_ = content_length;
  if (content_length <= expected_bytes_ || status != 200) return absl::OkStatus();
  return wrong(absl::StrCat("announces ", content_length, " body bytes, asked for ", expected_bytes_));
}

absl::Status ResponseMeter::body(std::span<const uint8_t> bytes) {
  check_.feed(bytes);
  SHA256_Update(&hash_, bytes.data(), bytes.size());
  if (check_.bytes() <= content_length_) return absl::OkStatus();
  return wrong(absl::StrCat("sent ", check_.bytes(), " body bytes, announced ", content_length_));
}

void ResponseMeter::delivered(uint64_t bytes, int64_t ns) {
  delivered_bytes_ += bytes;
  struct Milestone {
    uint64_t bytes;
    int64_t& at_ns;
  };
  const std::array<Milestone, 4> milestones = {
      {{1, first_body_ns_}, {1024, body_1024_ns_}, {4096, body_4096_ns_}, {8192, body_8192_ns_}}};
  for (const Milestone& milestone : milestones) {
    if (milestone.at_ns == 0 && delivered_bytes_ >= milestone.bytes) milestone.at_ns = ns;
  }
}

void ResponseMeter::data_frame(int64_t ns) {
  if (first_data_frame_ns_ == 0) first_data_frame_ns_ = ns;
}

absl::Status ResponseMeter::finished(int64_t ns) {
  complete_ns_ = ns;
  if (status_ != 200) return wrong(absl::StrCat("has status ", status_, ", expected 200"));
  if (content_length_ != expected_bytes_ || check_.bytes() != expected_bytes_) {
    return wrong(absl::StrCat("has ", check_.bytes(), " body bytes and content-length ", content_length_,
                              ", asked for ", expected_bytes_));
  }
  if (!check_.equal()) return wrong("differs from the fixture");
  return absl::OkStatus();
}

absl::Status ResponseMeter::wrong(std::string_view what) const {
  return absl::DataLossError(absl::StrCat("check response: ", role_, ": ", std::string(what)));
}

void ResponseMeter::fill(v1::Response& out) const {
  out.set_stream(stream_);
  out.set_role(role_);
  out.set_protocol(protocol_);
  out.set_request_start_ns(start_ns_);
  out.set_request_written_ns(written_ns_);
  out.set_status(status_);
  out.set_header_bytes(header_bytes_);
  out.set_body_bytes(check_.bytes());
  out.set_content_length(content_length_);
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256_CTX hash = hash_;
  SHA256_Final(reinterpret_cast<uint8_t*>(digest.data()), &hash);
  out.set_body_sha256(digest);
  out.set_first_decrypted_ns(first_decrypted_ns_);
  out.set_first_body_ns(first_body_ns_);
  out.set_body_1024_ns(body_1024_ns_);
  out.set_body_4096_ns(body_4096_ns_);
  out.set_body_8192_ns(body_8192_ns_);
  out.set_first_data_frame_ns(first_data_frame_ns_);
  out.set_complete_ns(complete_ns_);
  out.set_dispatch_after_bytes(after_bytes_);
  out.set_body_equals_fixture(check_.bytes() > 0 && check_.equal());
}

}  // namespace hopyard::probe

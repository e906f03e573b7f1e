// SPDX-License-Identifier: Apache-2.0
// Parses response heads and counts bodies off by their length.
#include "probe/h1.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "probe/probe.h"

namespace hopyard::probe {
namespace {

absl::Status bad_head(std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("read response head: HTTP/1.1: ", std::string(why)));
}

// Removes one line from `text`, without its CRLF; nothing if there is none or it holds a stray CR or LF.
std::optional<std::string_view> take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos || end == 0 || text[end - 1] != '\r') return std::nullopt;
  const std::string_view line = text.substr(0, end - 1);
  if (line.find('\r') != std::string_view::npos || line.find('\0') != std::string_view::npos)
    return std::nullopt;
  text.remove_prefix(end + 1);
  return line;
}

template <typename Number>
bool parse_digits(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && text[0] != '-';
}

absl::Status parse_status_line(std::string_view line, ResponseHead& head) {
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  const bool shaped = line.size() >= 12 && line.substr(0, kVersion.size()) == kVersion &&
                      (line.size() == 12 || line[12] == ' ');
  if (!shaped || !parse_digits(line.substr(9, 3), head.status)) return bad_head("malformed status line");
  if (head.status < 200 || head.status > 599) return bad_head(absl::StrCat("status ", head.status));
  return absl::OkStatus();
}

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  const auto is_token_char = [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           kMarks.find(c) != std::string_view::npos;
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

bool is_name(std::string_view text, absl::string_view name) {
  return absl::EqualsIgnoreCase(absl::string_view(text.data(), text.size()), name);
}

absl::Status parse_field(std::string_view line, ResponseHead& head, bool& has_length) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return bad_head("malformed field");
  const std::string_view name = line.substr(0, colon);
  if (is_name(name, "transfer-encoding")) return bad_head("has a Transfer-Encoding");
  if (!is_name(name, "content-length")) return absl::OkStatus();
  const std::string_view value = trim(line.substr(colon + 1));
  if (has_length || value.empty() || !parse_digits(value, head.content_length)) {
    return bad_head("malformed or repeated Content-Length");
  }
  has_length = true;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ResponseHead> parse_response_head(std::string_view text) {
  ResponseHead head;
  bool has_length = false;
  auto line = take_line(text);
  if (!line) return bad_head("malformed status line");
  HOPYARD_RETURN_IF_ERROR(parse_status_line(*line, head));
  while ((line = take_line(text)) && !line->empty()) {
    HOPYARD_RETURN_IF_ERROR(parse_field(*line, head, has_length));
  }
  if (!line || !text.empty()) return bad_head("malformed line end");
  if (!has_length) return bad_head("has no Content-Length");
  return head;
}

absl::Status H1Session::request(size_t index) {
  if (current_) return absl::InternalError("send request: HTTP/1.1: another is under way");
  current_ = index;
  in_body_ = false;
  head_.clear();
  ResponseMeter& meter = meters_[index];
  meter.set_stream(static_cast<uint32_t>(index) + 1);
  output_ = absl::StrCat("GET /", meter.expected_bytes(), " HTTP/1.1\r\nHost: ", std::string(kHostName),
                         "\r\nUser-Agent: hopyard\r\n\r\n");
  return absl::OkStatus();
}

absl::StatusOr<std::span<const uint8_t>> H1Session::output() {
  return std::span(reinterpret_cast<const uint8_t*>(output_.data()), output_.size());
}

absl::Status H1Session::receive(std::span<const uint8_t> bytes, int64_t ns) {
  while (!bytes.empty()) {
    if (!current_) {
      return absl::DataLossError(
          absl::StrCat("read response: HTTP/1.1: ", bytes.size(), " bytes not asked for"));
    }
    meters_[*current_].decrypted(ns);
    HOPYARD_ASSIGN_OR_RETURN(bytes, in_body_ ? take_body(bytes, ns) : take_head(bytes, ns));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::span<const uint8_t>> H1Session::take_head(std::span<const uint8_t> bytes, int64_t ns) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  const size_t before = head_.size();
  const size_t room = std::min(bytes.size(), kMaxHeadBytes - before);
  head_.append(reinterpret_cast<const char*>(bytes.data()), room);
  const size_t end = head_.find(kEnd, before < kEnd.size() ? 0 : before - kEnd.size() + 1);
  if (end == std::string::npos) {
    if (head_.size() == kMaxHeadBytes) return bad_head(absl::StrCat("longer than ", kMaxHeadBytes, " bytes"));
    return bytes.subspan(room);
  }
  const size_t size = end + kEnd.size();
  HOPYARD_ASSIGN_OR_RETURN(const ResponseHead head,
                           parse_response_head(std::string_view(head_).substr(0, size)));
  ResponseMeter& meter = meters_[*current_];
  meter.add_header_bytes(size);
  HOPYARD_RETURN_IF_ERROR(meter.head(head.status, head.content_length));
  in_body_ = true;
  if (head.content_length == 0) {
    current_.reset();
    HOPYARD_RETURN_IF_ERROR(meter.finished(ns));
  }
  return bytes.subspan(size - before);
}

absl::StatusOr<std::span<const uint8_t>> H1Session::take_body(std::span<const uint8_t> bytes, int64_t ns) {
  ResponseMeter& meter = meters_[*current_];
  const size_t size = std::min<uint64_t>(bytes.size(), meter.content_length() - meter.body_bytes());
  HOPYARD_RETURN_IF_ERROR(meter.body(bytes.first(size)));
  meter.delivered(size, ns);
  if (meter.body_bytes() == meter.content_length()) {
    current_.reset();
    HOPYARD_RETURN_IF_ERROR(meter.finished(ns));
  }
  return bytes.subspan(size);
}

}  // namespace hopyard::probe

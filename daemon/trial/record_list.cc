// SPDX-License-Identifier: Apache-2.0
// Buffers into budgets into fragments.
#include "trial/record_list.h"

#include <algorithm>

#include "fmt/format.h"
#include "trial/ramp.h"

namespace hopyard::trial {
namespace {

constexpr uint64_t kDefaultBufferBytes = 16384;    // nginx: NGX_SSL_BUFSIZE
constexpr uint32_t kDefaultFragmentBytes = 16384;  // TLS: SSL3_RT_MAX_PLAIN_LENGTH

uint32_t fragment_bytes(const v1::TrialSpec& spec) {
  const uint32_t fragment = spec.build().records().fragment_bytes();
  return fragment > 0 ? fragment : kDefaultFragmentBytes;
}

std::vector<uint32_t> climb(const Ramp& ramp, uint64_t total_bytes) {
  std::vector<uint32_t> records;
  for (uint64_t sent = 0; sent < total_bytes; sent += records.back()) {
    const uint64_t most = ramp.bound(records.size());
    records.push_back(static_cast<uint32_t>(std::min(most, total_bytes - sent)));
  }
  return records;
}

}  // namespace

uint64_t buffer_bytes(const v1::TrialSpec& spec) {
  const v1::Server& settings = spec.case_().server();
  return settings.has_ssl_buffer_size_bytes() ? settings.ssl_buffer_size_bytes() : kDefaultBufferBytes;
}

uint32_t record_bound_bytes(const v1::TrialSpec& spec) {
  return static_cast<uint32_t>(std::min<uint64_t>(fragment_bytes(spec), buffer_bytes(spec)));
}

std::vector<uint32_t> expected_h1_records(const v1::TrialSpec& spec, uint64_t total_bytes) {
  if (const auto ramp = ramp_of(spec)) return climb(*ramp, total_bytes);
  const v1::RecordPolicy& policy = spec.build().records();
  const uint64_t buffer = buffer_bytes(spec);
  std::vector<uint32_t> records;
  for (uint64_t sent = 0; sent < total_bytes;) {
    const bool early = sent < policy.early_budget_bytes();
    const uint64_t buffer_end = (sent / buffer + 1) * buffer;
    const uint64_t end =
        std::min({total_bytes, buffer_end, early ? policy.early_budget_bytes() : total_bytes});
    const uint64_t fragment = early ? policy.early_fragment_bytes() : fragment_bytes(spec);
    const uint64_t size = std::min(fragment, end - sent);
    records.push_back(static_cast<uint32_t>(size));
    sent += size;
  }
  return records;
}

std::vector<uint32_t> data_records(const v1::ClientEvidence& client) {
  std::vector<uint32_t> sizes;
  for (const v1::TlsRecord& record : client.records()) {
    if (record.content() == v1::DATA) sizes.push_back(record.plaintext_bytes());
  }
  return sizes;
}

uint64_t blocked_writes(const v1::ServerEvidence& server) {
  return static_cast<uint64_t>(
      std::count_if(server.writes().begin(), server.writes().end(),
                    [](const v1::SslWrite& write) { return write.returned() <= 0; }));
}

std::string describe_records(const std::vector<uint32_t>& sizes) {
  std::string text;
  for (size_t i = 0; i < sizes.size();) {
    size_t run = i;
    while (run < sizes.size() && sizes[run] == sizes[i]) ++run;
    if (!text.empty()) text += ", ";
    text += run - i > 1 ? fmt::format("{} x {}", run - i, sizes[i]) : fmt::format("{}", sizes[i]);
    i = run;
  }
  return text.empty() ? "none" : text;
}

}  // namespace hopyard::trial

// SPDX-License-Identifier: Apache-2.0
// TLS 1.3 with AES-GCM: each record costs 22 bytes, each write ends with a record, and both ends count the
// same.
#include <algorithm>

#include "verify/consistency.h"
#include "verify/ramp.h"

namespace hopyard::verify {
namespace {

constexpr char kRecords[] = "tls_record";
constexpr char kWrites[] = "ssl_write";
constexpr char kFragments[] = "fragment";
constexpr uint64_t kOverheadBytes = 22;
constexpr int64_t kChangeCipherSpec = 20, kAlertType = 21, kHandshakeType = 22, kApplicationType = 23;

bool may_be_outside(const StoredRecord& record) {
  switch (record.content) {
    case kHandshake:
      return record.outer_type == kHandshakeType || record.outer_type == kChangeCipherSpec ||
             record.outer_type == kApplicationType;
    case kAlert:
      return record.outer_type == kAlertType || record.outer_type == kApplicationType;
    default:
      return record.outer_type == kApplicationType;
  }
}

void check_sizes(const StoredRecord& record, Findings& findings) {
  const std::string row = seq(record.seq);
  const bool sealed = record.outer_type == kApplicationType;
  if (record.content == kData || (record.content == kAlert && sealed)) {
    findings.same(kRecords, row, "wire_bytes", record.plaintext_bytes + kOverheadBytes, record.wire_bytes,
                  "plaintext and 22 bytes: header, inner type, tag");
  } else {
    findings.same(kRecords, row, "plaintext_bytes", uint64_t{0}, record.plaintext_bytes,
                  "only data and alerts have a plaintext");
  }
  if (record.content == kAlert && sealed)
    findings.same(kRecords, row, "plaintext_bytes", uint64_t{2}, record.plaintext_bytes,
                  "an alert has two bytes");
  findings.hold(kRecords, row, "outer_type", may_be_outside(record), "a type this content comes under",
                record.outer_type, "TLS 1.3");
}

// A record that is larger than its regime allows is named by itself, beside the check that counts them.
void check_bounds(const Subject& subject, Findings& findings) {
  const StoredBuild& policy = subject.trial.build;
  const uint64_t full = record_bound_bytes(subject);
  uint64_t before = 0;
  for (const StoredRecord& record : subject.trial.records) {
    if (record.content != kData) continue;
    const bool early = before < policy.early_budget_bytes;
    uint64_t most = early ? std::min(full, policy.early_fragment_bytes) : full;
    if (early) most = std::min(most, policy.early_budget_bytes - before);
    // A trial that failed for this has said so itself.
    if (subject.trial.verdict == "passed")
      findings.hold(kRecords, seq(record.seq), "plaintext_bytes", record.plaintext_bytes <= most,
                    fmt::format("at most {}", most), record.plaintext_bytes, "the variant's promise");
    before += record.plaintext_bytes;
  }
}

void check_order(const std::vector<StoredRecord>& records, int64_t handshake_done_ns, Findings& findings) {
  for (size_t i = 0; i < records.size(); ++i) {
    const StoredRecord& record = records[i];
    const std::string row = seq(record.seq);
    findings.same(kRecords, row, "seq", static_cast<int64_t>(i), record.seq, "rows count from 0");
    findings.hold(kRecords, row, "decrypted_ns", record.decrypted_ns >= record.received_ns,
                  fmt::format("at least received_ns {}", record.received_ns), record.decrypted_ns,
                  "a record is received first");
    const bool handshake = record.content == kHandshake;
    if (handshake_done_ns != 0 && record.content != kAlert)
      findings.hold(
          kRecords, row, "content",
          handshake ? record.decrypted_ns <= handshake_done_ns : record.decrypted_ns >= handshake_done_ns,
          handshake ? "not 1: the handshake was done" : "1: the handshake was not done", record.content,
          "the handshake's end");
    if (i == 0) continue;
    findings.hold(kRecords, row, "received_ns", record.received_ns >= records[i - 1].received_ns,
                  fmt::format("at least {}", records[i - 1].received_ns), record.received_ns,
                  "records come one after the other");
    findings.hold(kRecords, row, "decrypted_ns", record.decrypted_ns >= records[i - 1].decrypted_ns,
                  fmt::format("at least {}", records[i - 1].decrypted_ns), record.decrypted_ns,
                  "records are opened one after the other");
  }
}

void check_write(const StoredTrial& trial, size_t place, Findings& findings) {
  const StoredWrite& write = trial.writes[place];
  const std::string row = seq(write.seq);
  findings.same(kWrites, row, "seq", static_cast<int64_t>(place), write.seq, "rows count from 0");
  if (write.returned > 0)
    findings.same(kWrites, row, "returned", write.requested, write.returned,
                  "without partial writes SSL_write takes all or nothing");
  const int64_t requests = static_cast<int64_t>(trial.responses.size());
  findings.hold(kWrites, row, "response", write.response >= 0 && write.response <= requests,
                fmt::format("0 to {}", requests), write.response, "requests parsed so far");
  if (place == 0) return;
  const StoredWrite& before = trial.writes[place - 1];
  findings.hold(kWrites, row, "response", write.response >= before.response,
                fmt::format("at least {}", before.response), write.response, "requests parsed so far");
  if (before.returned <= 0)
    findings.hold(kWrites, row, "requested", write.requested >= before.requested,
                  fmt::format("at least {}", before.requested), write.requested,
                  "a retry offers the same bytes, or more");
}

// SSL_write seals what it takes before it returns, so a write's end is a record's.
void check_writes(const StoredTrial& trial, const Stream& stream, Findings& findings) {
  uint64_t written = 0;
  bool together = true;  // one finding: all that follow are off by the same
  for (size_t i = 0; i < trial.writes.size(); ++i) {
    check_write(trial, i, findings);
    const StoredWrite& write = trial.writes[i];
    if (write.returned <= 0) continue;
    written += static_cast<uint64_t>(write.returned);
    const bool received = written <= stream.bytes();
    if (together && trial.client->error.empty() && !(received && stream.ends_at(written))) {
      together = false;
      findings.add(kWrites, seq(write.seq), "returned", "bytes that end with a record of the client",
                   fmt::format("{}, {} in all", write.returned, written),
                   "SSL_write seals what it takes before it returns");
    }
  }
  // A server's log is in its memory: what was killed may leave none.
  const bool lost = trial.writes.empty() && trial.server->signal != 0;
  if (together && !lost && trial.client->error.empty())
    findings.same(kWrites, "sum of returned", "returned", stream.bytes(), written,
                  "the client decrypted what the server wrote");
}

void check_fragments(const Subject& subject, Findings& findings) {
  const StoredBuild& policy = subject.trial.build;
  const auto& events = subject.trial.fragments;
  for (size_t i = 0; i < events.size(); ++i) {
    const StoredFragment& event = events[i];
    const std::string row = seq(event.seq);
    const bool early = !event.restored && policy.early_fragment_bytes > 0;
    // On a ramp, sizes and their places are judged together, by a check.
    if (!ramp_of(subject))
      findings.same(kFragments, row, "fragment_bytes",
                    early ? policy.early_fragment_bytes : policy.fragment_bytes, event.fragment_bytes,
                    "the variant's promise");
    const int64_t least = i == 0 ? 0 : events[i - 1].before_write;
    const auto most = static_cast<int64_t>(subject.trial.writes.size());
    findings.hold(kFragments, row, "before_write", event.before_write >= least && event.before_write <= most,
                  fmt::format("{} to {}", least, most), event.before_write, "events are in order");
    findings.same(kFragments, row, "seq", static_cast<int64_t>(i), event.seq, "rows count from 0");
    if (event.restored)
      findings.same(kFragments, row, "returned", int64_t{0}, event.returned,
                    "the log has none for this event");
  }
}

}  // namespace

Stream::Stream(const std::vector<StoredRecord>& records) {
  uint64_t offset = 0;
  for (const StoredRecord& record : records) {
    if (record.content != kData) continue;
    offset += record.plaintext_bytes;
    ends_.push_back({offset, record.decrypted_ns});
  }
}

int64_t Stream::decrypted_ns(uint64_t offset) const {
  const auto end = std::upper_bound(ends_.begin(), ends_.end(), offset,
                                    [](uint64_t at, const End& one) { return at < one.offset; });
  return end == ends_.end() ? 0 : end->decrypted_ns;
}

bool Stream::ends_at(uint64_t offset) const {
  return std::binary_search(ends_.begin(), ends_.end(), End{offset, 0},
                            [](const End& a, const End& b) { return a.offset < b.offset; });
}

uint64_t Stream::bytes_by(int64_t ns) const {
  uint64_t bytes = 0;
  for (const End& end : ends_) {
    if (end.decrypted_ns > ns) break;
    bytes = end.offset;
  }
  return bytes;
}

void check_records(const Subject& subject, Findings& findings) {
  const StoredTrial& trial = subject.trial;
  if (!trial.client) return;
  for (const StoredRecord& record : trial.records) check_sizes(record, findings);
  check_order(trial.records, trial.client->handshake_done_ns, findings);
  check_bounds(subject, findings);
  const Stream stream(trial.records);
  findings.same("client", "", "decrypted_bytes", stream.bytes(), trial.client->decrypted_bytes,
                "the sum of the records' plaintext");
  if (!trial.server) return;
  check_writes(trial, stream, findings);
  check_fragments(subject, findings);
}

}  // namespace hopyard::verify

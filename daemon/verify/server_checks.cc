// SPDX-License-Identifier: Apache-2.0
// Checks of what the server sent and how, from the client's and the server's rows.
#include <algorithm>
#include <map>
#include <mutex>

#include "absl/strings/escaping.h"
#include "base/digest.h"
#include "verify/checks.h"
#include "verify/ramp.h"

namespace hopyard::verify {
namespace {

constexpr uint64_t kLargestBytes = 16384;    // TLS's largest plaintext, and nginx's default buffer
constexpr uint64_t kSealBytes = 5 + 1 + 16;  // header, inner type, tag

const char* yes_no(bool yes) { return yes ? "yes" : "no"; }

void response(const AskedRequest& asked, const StoredResponse* seen, DerivedChecks& checks) {
  const std::string role = asked.name + ": ";
  if (seen == nullptr) return checks.holds(role + "response", "a response", "none", false);
  checks.equal(role + "status", "200", std::to_string(seen->status));
  checks.equal(role + "content-length", asked.body_bytes, seen->content_length);
  checks.equal(role + "body bytes", asked.body_bytes, seen->body_bytes);
  checks.equal(role + "body sha256", fixture_sha256(asked.body_bytes),
               absl::BytesToHexString(seen->body_sha256));
  checks.equal(role + "body equals the fixture", "yes", yes_no(seen->body_equals_fixture));
  checks.equal(role + "complete", "yes", yes_no(seen->complete_ns > 0));
  if (asked.after_body_bytes)
    checks.holds(role + "sent after body bytes", "at least " + std::to_string(*asked.after_body_bytes),
                 std::to_string(seen->dispatch_after_bytes),
                 seen->dispatch_after_bytes >= *asked.after_body_bytes);
}

void responses(const Subject& subject, DerivedChecks& checks) {
  const StoredClient& client = *subject.trial.client;
  checks.equal("client finished", "without an error",
               client.error.empty() ? "without an error" : client.error);
  checks.equal("tls version", "TLSv1.3", client.tls_version);
  checks.equal("tls cipher", "TLS_AES_256_GCM_SHA384", client.cipher);
  checks.equal("alpn", subject.workload.protocol == "h2" ? "h2" : "http/1.1", client.alpn);
  const auto& asked = subject.workload.requests;
  const auto& seen = subject.trial.responses;
  checks.equal("responses", asked.size(), seen.size());
  for (size_t i = 0; i < asked.size(); ++i) response(asked[i], i < seen.size() ? &seen[i] : nullptr, checks);
}

void bounds(const Subject& subject, DerivedChecks& checks) {
  const StoredBuild& policy = subject.trial.build;
  uint64_t before = 0, largest = 0, largest_early = 0;
  bool across = false;
  for (const StoredRecord& record : subject.trial.records) {
    if (record.content != kData) continue;
    const uint64_t after = before + record.plaintext_bytes;
    if (before < policy.early_budget_bytes) {
      largest_early = std::max(largest_early, record.plaintext_bytes);
      across = across || after > policy.early_budget_bytes;
    } else {
      largest = std::max(largest, record.plaintext_bytes);
    }
    before = after;
  }
  const auto bound = [&](const char* name, uint64_t most, uint64_t seen) {
    checks.holds(name, fmt::format("at most {} plaintext bytes", most), fmt::format("at most {}", seen),
                 seen <= most);
  };
  const uint64_t full = record_bound_bytes(subject);
  bound("record bound", full, largest);
  if (policy.early_budget_bytes == 0) return;
  bound("early record bound", std::min(full, policy.early_fragment_bytes), largest_early);
  checks.equal("early budget ends between records", "yes", yes_no(!across));
}

void records(const Subject& subject, DerivedChecks& checks) {
  bounds(subject, checks);
  uint64_t odd = 0, judged = 0, after_handshake = 0, plaintext = 0;
  for (const StoredRecord& record : subject.trial.records) {
    if (record.content == kPostHandshake) ++after_handshake;
    if (record.content == kData) plaintext += record.plaintext_bytes;
    if (record.content != kData && record.content != kAlert) continue;
    ++judged;
    if (record.wire_bytes != record.plaintext_bytes + kSealBytes) ++odd;
  }
  checks.holds("record overhead", "17 bytes sealed, 22 on the wire, on every record",
               fmt::format("{} of {} records differ", odd, judged), odd == 0 && judged > 0);
  checks.equal("post-handshake records", 0, after_handshake);
  checks.equal("records' plaintext total", subject.trial.client->decrypted_bytes, plaintext);
}

uint64_t written_before(const StoredTrial& trial, int64_t seq) {
  uint64_t sum = 0;
  for (const StoredWrite& write : trial.writes) {
    if (write.seq < seq && write.returned > 0) sum += static_cast<uint64_t>(write.returned);
  }
  return sum;
}

void fragments(const Subject& subject, DerivedChecks& checks) {
  const StoredTrial& trial = subject.trial;
  const StoredBuild& policy = trial.build;
  uint64_t set = 0, refused = 0, restored = 0, spent = 0;
  for (const StoredFragment& event : trial.fragments) {
    if (event.restored) {
      ++restored;
      spent = written_before(trial, event.before_write);
    } else {
      ++set;
      if (event.returned != 1) ++refused;
    }
  }
  checks.equal("fragment settings", policy.settings, set);
  checks.equal("fragment settings refused", 0, refused);
  const bool exceeded =
      policy.early_budget_bytes > 0 && trial.client->decrypted_bytes >= policy.early_budget_bytes;
  checks.equal("fragment transitions", exceeded ? policy.transitions : 0, restored);
  if (exceeded) checks.equal("early budget bytes", policy.early_budget_bytes, spent);
}

void server(const Subject& subject, DerivedChecks& checks) {
  const StoredTrial& trial = subject.trial;
  checks.equal("ssl_write total", trial.client->decrypted_bytes,
               written_before(trial, static_cast<int64_t>(trial.writes.size())));
  uint64_t shrunk = 0;
  for (size_t i = 1; i < trial.writes.size(); ++i) {
    if (trial.writes[i - 1].returned <= 0 && trial.writes[i].requested < trial.writes[i - 1].requested)
      ++shrunk;
  }
  checks.equal("ssl_write retries with fewer bytes", 0, shrunk);
  if (const auto ramp = ramp_of(subject)) {
    derive_ramp_checks(subject, *ramp, checks);
  } else {
    fragments(subject, checks);
  }
  const StoredServer& seen = *trial.server;
  checks.holds(
      "server exit", "status 0",
      seen.signal != 0 ? fmt::format("signal {}", seen.signal) : fmt::format("status {}", seen.exit_code),
      seen.exit_code == 0 && seen.signal == 0);
  checks.equal("server errors", "none", seen.errors.empty() ? "none" : seen.errors);
}

}  // namespace

std::string fixture_sha256(uint64_t bytes) {
  if (bytes > kMostBodyBytes) return "none: larger than any body";
  static std::map<uint64_t, std::string> known;  // campaigns have few sizes; verify runs on several threads
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::string& digest = known[bytes];
  if (!digest.empty()) return digest;
  std::string period(256 * 256, '\0');
  for (size_t i = 0; i < period.size(); ++i) period[i] = static_cast<char>(i % 256);
  base::Sha256 sha;
  for (uint64_t left = bytes; left > 0; left -= std::min<uint64_t>(left, period.size()))
    sha.add(std::string_view(period).substr(0, left));
  digest = absl::BytesToHexString(sha.finish());
  return digest;
}

uint64_t record_bound_bytes(const Subject& subject) {
  const uint64_t fragment = subject.trial.build.fragment_bytes;
  return std::min(fragment > 0 ? fragment : kLargestBytes,
                  subject.one_case.ssl_buffer_bytes.value_or(kLargestBytes));
}

void derive_server_checks(const Subject& subject, DerivedChecks& checks) {
  if (!subject.trial.client) return;
  checks.of_bed(false);
  responses(subject, checks);
  records(subject, checks);
  if (subject.trial.server) server(subject, checks);
}

}  // namespace hopyard::verify

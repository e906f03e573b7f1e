// SPDX-License-Identifier: Apache-2.0
// Checks of what the server sent and how.
#include "trial/client_checks.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>

#include "absl/strings/escaping.h"
#include "probe/fixture.h"
#include "trial/ramp.h"
#include "trial/record_list.h"

namespace hopyard::trial {
namespace {

std::string fixture_sha256(uint64_t bytes) {
  SHA256_CTX context;
  SHA256_Init(&context);
  std::array<uint8_t, 65536> chunk;
  for (uint64_t at = 0; at < bytes;) {
    const size_t n = std::min<uint64_t>(bytes - at, chunk.size());
    probe::fill(at, std::span(chunk).first(n));
    SHA256_Update(&context, chunk.data(), n);
    at += n;
  }
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256_Final(reinterpret_cast<uint8_t*>(digest.data()), &context);
  return digest;
}

std::string hex(const std::string& bytes) { return absl::BytesToHexString(bytes); }

void check_response(const v1::Request& request, const v1::Response* response, CheckList& checks) {
  const std::string role = request.name();
  if (response == nullptr) {
    checks.holds(role + ": response", "a response", "none", false);
    return;
  }
  checks.equal(role + ": status", 200u, response->status());
  checks.equal(role + ": content-length", request.body_bytes(), response->content_length());
  checks.equal(role + ": body bytes", request.body_bytes(), response->body_bytes());
  checks.equal(role + ": body sha256", hex(fixture_sha256(request.body_bytes())),
               hex(response->body_sha256()));
  checks.holds(role + ": body equals the fixture", "yes", response->body_equals_fixture() ? "yes" : "no",
               response->body_equals_fixture());
  checks.holds(role + ": complete", "yes", response->complete_ns() > 0 ? "yes" : "no",
               response->complete_ns() > 0);
  if (request.after().has_body_bytes()) {
    checks.holds(role + ": sent after body bytes", fmt::format("at least {}", request.after().body_bytes()),
                 fmt::format("{}", response->dispatch_after_bytes()),
                 response->dispatch_after_bytes() >= request.after().body_bytes());
  }
}

// Records after the handshake are of one early regime (up to the budget, never across its end), then of the
// full one.
void check_bounds(const v1::TrialSpec& spec, const v1::ClientEvidence& client, CheckList& checks) {
  const v1::RecordPolicy& policy = spec.build().records();
  const uint32_t full = record_bound_bytes(spec);
  uint64_t decrypted = 0;
  uint32_t largest = 0, largest_early = 0;
  bool across = false;
  for (const v1::TlsRecord& record : client.records()) {
    if (record.content() != v1::DATA) continue;
    const bool early = decrypted < policy.early_budget_bytes();
    decrypted += record.plaintext_bytes();
    across |= early && decrypted > policy.early_budget_bytes();
    uint32_t& most = early ? largest_early : largest;
    most = std::max(most, record.plaintext_bytes());
  }
  checks.holds("record bound", fmt::format("at most {} plaintext bytes", full),
               fmt::format("at most {}", largest), largest <= full);
  if (policy.early_budget_bytes() == 0) return;
  const uint32_t early_bound = std::min(full, policy.early_fragment_bytes());
  checks.holds("early record bound", fmt::format("at most {} plaintext bytes", early_bound),
               fmt::format("at most {}", largest_early), largest_early <= early_bound);
  checks.holds("early budget ends between records", "yes", across ? "no" : "yes", !across);
}

uint64_t written_before(const v1::ServerEvidence& server, uint32_t seq) {
  uint64_t written = 0;
  for (const v1::SslWrite& write : server.writes()) {
    if (write.seq() < seq && write.returned() > 0) written += static_cast<uint64_t>(write.returned());
  }
  return written;
}

void check_fragments(const v1::RecordPolicy& policy, const v1::ClientEvidence& client,
                     const v1::ServerEvidence& server, CheckList& checks) {
  uint32_t settings = 0, transitions = 0, refused = 0;
  uint64_t spent = 0;
  for (const v1::FragmentEvent& event : server.fragments()) {
    ++(event.restored() ? transitions : settings);
    if (event.restored()) spent = written_before(server, event.before_write());
    refused += !event.restored() && event.returned() != 1;
  }
  checks.equal("fragment settings", policy.settings(), settings);
  checks.equal("fragment settings refused", 0u, refused);
  const bool exceeded =
      policy.early_budget_bytes() > 0 && client.decrypted_bytes() >= policy.early_budget_bytes();
  checks.equal("fragment transitions", exceeded ? policy.transitions() : 0u, transitions);
  if (exceeded) checks.equal<uint64_t>("early budget bytes", policy.early_budget_bytes(), spent);
}

void check_writes(const v1::ClientEvidence& client, const v1::ServerEvidence& server, CheckList& checks) {
  checks.equal("ssl_write total", client.decrypted_bytes(),
               written_before(server, static_cast<uint32_t>(server.writes_size())));
  // nginx may add to its buffer before it tries again; fewer bytes would be BAD_WRITE_RETRY to BoringSSL.
  uint32_t shrunk = 0;
  for (int i = 0; i + 1 < server.writes_size(); ++i) {
    shrunk +=
        server.writes(i).returned() <= 0 && server.writes(i + 1).requested() < server.writes(i).requested();
  }
  checks.equal("ssl_write retries with fewer bytes", 0u, shrunk);
}

}  // namespace

void check_responses(const v1::TrialSpec& spec, const v1::ClientEvidence& client, CheckList& checks) {
  const bool finished = client.error().empty();
  checks.holds("client finished", "without an error", finished ? "without an error" : client.error(),
               finished);
  checks.equal<std::string>("tls version", "TLSv1.3", client.tls_version());
  checks.equal<std::string>("tls cipher", "TLS_AES_256_GCM_SHA384", client.cipher());
  const bool h2 = spec.workload().protocol() == "h2";
  checks.equal<std::string>("alpn", h2 ? "h2" : "http/1.1", client.alpn());
  checks.equal("responses", spec.workload().requests_size(), client.responses_size());
  for (int i = 0; i < spec.workload().requests_size(); ++i) {
    check_response(spec.workload().requests(i), i < client.responses_size() ? &client.responses(i) : nullptr,
                   checks);
  }
}

void check_records(const v1::TrialSpec& spec, const v1::ClientEvidence& client, CheckList& checks) {
  check_bounds(spec, client, checks);
  uint32_t odd = 0, tickets = 0, judged = 0;
  uint64_t plaintext = 0;
  for (const v1::TlsRecord& record : client.records()) {
    tickets += record.content() == v1::POST_HANDSHAKE;
    if (record.content() != v1::DATA && record.content() != v1::ALERT) continue;
    ++judged;
    odd += record.wire_bytes() != record.plaintext_bytes() + kSealOverheadBytes + kRecordHeaderBytes;
    if (record.content() == v1::DATA) plaintext += record.plaintext_bytes();
  }
  checks.holds("record overhead", "17 bytes sealed, 22 on the wire, on every record",
               fmt::format("{} of {} records differ", odd, judged), odd == 0 && judged > 0);
  checks.equal("post-handshake records", 0u, tickets);
  checks.equal("records' plaintext total", client.decrypted_bytes(), plaintext);
}

void check_server(const v1::TrialSpec& spec, const v1::ClientEvidence& client,
                  const v1::ServerEvidence& server, CheckList& checks) {
  check_writes(client, server, checks);
  if (const auto ramp = ramp_of(spec)) {
    check_ramp(spec, *ramp, client, server, checks);
  } else {
    check_fragments(spec.build().records(), client, server, checks);
  }
  const bool clean = server.exit_code() == 0 && server.signal() == 0;
  checks.holds("server exit", "status 0",
               server.signal() != 0 ? fmt::format("signal {}", server.signal())
                                    : fmt::format("status {}", server.exit_code()),
               clean);
  checks.holds("server errors", "none", server.errors().empty() ? "none" : server.errors(),
               server.errors().empty());
}

}  // namespace hopyard::trial

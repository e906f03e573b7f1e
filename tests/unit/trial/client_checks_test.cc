// SPDX-License-Identifier: Apache-2.0
// Each check of responses, records and writes holds on good evidence and breaks, by its own name, on one
// wrong value.
#include "trial/client_checks.h"

#include <openssl/sha.h>

#include <functional>
#include <map>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hopyard::trial {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint32_t kBody = 10000;
constexpr uint32_t kHead = 240;

struct Evidence {
  v1::TrialSpec spec;
  v1::ClientEvidence client;
  v1::ServerEvidence server;
};

void add_record(Evidence& evidence, v1::RecordContent content, uint32_t plaintext) {
  v1::TlsRecord* record = evidence.client.add_records();
  record->set_content(content);
  record->set_plaintext_bytes(plaintext);
  record->set_wire_bytes(plaintext + 22);
  if (content == v1::DATA) evidence.client.set_decrypted_bytes(evidence.client.decrypted_bytes() + plaintext);
}

void add_write(Evidence& evidence, uint32_t requested, int32_t returned) {
  v1::SslWrite* write = evidence.server.add_writes();
  write->set_seq(static_cast<uint32_t>(evidence.server.writes_size() - 1));
  write->set_requested(requested);
  write->set_returned(returned);
}

// One adaptive H1 response of 10000 bytes: 8 x 1024 inside the budget, then the rest.
Evidence good() {
  Evidence evidence;
  v1::RecordPolicy* policy = evidence.spec.mutable_build()->mutable_records();
  policy->set_fragment_bytes(16384);
  policy->set_early_fragment_bytes(1024);
  policy->set_early_budget_bytes(8192);
  policy->set_transitions(1);
  policy->set_settings(1);
  evidence.spec.mutable_workload()->set_protocol("h1");
  v1::Request* request = evidence.spec.mutable_workload()->add_requests();
  request->set_name("main");
  request->set_body_bytes(kBody);

  evidence.client.set_tls_version("TLSv1.3");
  evidence.client.set_cipher("TLS_AES_256_GCM_SHA384");
  evidence.client.set_alpn("http/1.1");
  v1::Response* response = evidence.client.add_responses();
  response->set_status(200);
  response->set_content_length(kBody);
  response->set_body_bytes(kBody);
  std::string body(kBody, '\0'), digest(SHA256_DIGEST_LENGTH, '\0');
  for (size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i);
  SHA256(reinterpret_cast<const uint8_t*>(body.data()), body.size(),
         reinterpret_cast<uint8_t*>(digest.data()));
  response->set_body_sha256(digest);
  response->set_body_equals_fixture(true);
  response->set_complete_ns(1);

  add_record(evidence, v1::HANDSHAKE, 0);
  for (int i = 0; i < 8; ++i) add_record(evidence, v1::DATA, 1024);
  add_record(evidence, v1::DATA, kBody + kHead - 8192);
  add_record(evidence, v1::ALERT, 2);
  v1::FragmentEvent* set = evidence.server.add_fragments();
  set->set_fragment_bytes(1024);
  set->set_returned(1);
  add_write(evidence, 8192, -1);
  add_write(evidence, 8192, 8192);
  v1::FragmentEvent* restored = evidence.server.add_fragments();
  restored->set_fragment_bytes(16384);
  restored->set_restored(true);
  restored->set_before_write(2);
  add_write(evidence, kBody + kHead - 8192, kBody + kHead - 8192);
  return evidence;
}

std::vector<v1::Check> checks_of(const Evidence& evidence) {
  CheckList checks(Blame::kServer);
  check_responses(evidence.spec, evidence.client, checks);
  check_records(evidence.spec, evidence.client, checks);
  check_server(evidence.spec, evidence.client, evidence.server, checks);
  return checks.checks();
}

std::set<std::string> broken(const Evidence& evidence) {
  std::set<std::string> names;
  for (const v1::Check& check : checks_of(evidence)) {
    if (check.outcome() != v1::HOLDS) names.insert(check.name());
  }
  return names;
}

std::set<std::string> broken_after(const std::function<void(Evidence&)>& change) {
  Evidence evidence = good();
  change(evidence);
  return broken(evidence);
}

TEST(ClientChecks, HoldOnGoodEvidence) { EXPECT_THAT(broken(good()), IsEmpty()); }

TEST(ClientChecks, NameTheResponseThatIsWrong) {
  EXPECT_THAT(broken_after([](Evidence& e) { e.client.mutable_responses(0)->set_status(404); }),
              ElementsAre("main: status"));
  EXPECT_THAT(broken_after([](Evidence& e) { e.client.mutable_responses(0)->set_body_bytes(9999); }),
              ElementsAre("main: body bytes"));
  EXPECT_THAT(
      broken_after([](Evidence& e) { e.client.mutable_responses(0)->mutable_body_sha256()->at(0) ^= 1; }),
      ElementsAre("main: body sha256"));
  EXPECT_THAT(broken_after([](Evidence& e) { e.client.mutable_responses(0)->set_complete_ns(0); }),
              ElementsAre("main: complete"));
  EXPECT_THAT(broken_after([](Evidence& e) { e.client.clear_responses(); }),
              ElementsAre("main: response", "responses"));
}

TEST(ClientChecks, NameTheHandshakeThatIsWrong) {
  EXPECT_THAT(broken_after([](Evidence& e) { e.client.set_tls_version("TLSv1.2"); }),
              ElementsAre("tls version"));
  EXPECT_THAT(broken_after([](Evidence& e) { e.client.set_cipher("TLS_AES_128_GCM_SHA256"); }),
              ElementsAre("tls cipher"));
  EXPECT_THAT(broken_after([](Evidence& e) { e.client.set_alpn("h2"); }), ElementsAre("alpn"));
}

TEST(ClientChecks, NameARecordOverItsBound) {
  EXPECT_THAT(broken_after([](Evidence& e) {
                e.client.mutable_records(1)->set_plaintext_bytes(1025);
                e.client.mutable_records(1)->set_wire_bytes(1025 + 22);
                e.client.mutable_records(2)->set_plaintext_bytes(1023);
                e.client.mutable_records(2)->set_wire_bytes(1023 + 22);
              }),
              ElementsAre("early record bound"));
  EXPECT_THAT(broken_after([](Evidence& e) {
                e.spec.mutable_case_()->mutable_server()->set_ssl_buffer_size_bytes(1500);
              }),
              ElementsAre("record bound"));
}

TEST(ClientChecks, NameAnOddOverhead) {
  EXPECT_THAT(broken_after([](Evidence& e) { e.client.mutable_records(3)->set_wire_bytes(1024 + 23); }),
              ElementsAre("record overhead"));
}

TEST(ClientChecks, NameATicket) {
  EXPECT_THAT(broken_after([](Evidence& e) { add_record(e, v1::POST_HANDSHAKE, 0); }),
              ElementsAre("post-handshake records"));
}

TEST(ServerChecks, NameBytesThatDoNotAddUp) {
  EXPECT_THAT(broken_after([](Evidence& e) { e.server.mutable_writes(2)->set_returned(1); }),
              ElementsAre("ssl_write total"));
}

TEST(ServerChecks, NameARetryWithFewerBytes) {
  EXPECT_THAT(broken_after([](Evidence& e) { e.server.mutable_writes(0)->set_requested(9000); }),
              ElementsAre("ssl_write retries with fewer bytes"));
}

TEST(ServerChecks, NameTransitionsAndBudget) {
  EXPECT_THAT(broken_after([](Evidence& e) { e.server.mutable_fragments()->RemoveLast(); }),
              ElementsAre("early budget bytes", "fragment transitions"));
  EXPECT_THAT(broken_after([](Evidence& e) { e.server.mutable_fragments(1)->set_before_write(3); }),
              ElementsAre("early budget bytes"));
  EXPECT_THAT(broken_after([](Evidence& e) { e.server.mutable_fragments(0)->set_returned(0); }),
              ElementsAre("fragment settings refused"));
}

TEST(ServerChecks, NameAnUncleanEnd) {
  EXPECT_THAT(broken_after([](Evidence& e) { e.server.set_signal(11); }), ElementsAre("server exit"));
  EXPECT_THAT(broken_after([](Evidence& e) { e.server.set_exit_code(1); }), ElementsAre("server exit"));
  EXPECT_THAT(broken_after([](Evidence& e) { e.server.set_errors("[alert] x"); }),
              ElementsAre("server errors"));
}

// What breaks each check. Its response waits for a part of an earlier one, so that all checks there are
// apply.
const std::map<std::string, std::function<void(Evidence&)>> kBreaks = {
    {"client finished", [](Evidence& e) { e.client.set_error("closed early"); }},
    {"tls version", [](Evidence& e) { e.client.set_tls_version(""); }},
    {"tls cipher", [](Evidence& e) { e.client.set_cipher(""); }},
    {"alpn", [](Evidence& e) { e.client.set_alpn(""); }},
    {"responses", [](Evidence& e) { e.client.add_responses(); }},
    {"main: status", [](Evidence& e) { e.client.mutable_responses(0)->set_status(206); }},
    {"main: content-length", [](Evidence& e) { e.client.mutable_responses(0)->set_content_length(1); }},
    {"main: body bytes", [](Evidence& e) { e.client.mutable_responses(0)->set_body_bytes(1); }},
    {"main: body sha256", [](Evidence& e) { e.client.mutable_responses(0)->clear_body_sha256(); }},
    {"main: body equals the fixture",
     [](Evidence& e) { e.client.mutable_responses(0)->set_body_equals_fixture(false); }},
    {"main: complete", [](Evidence& e) { e.client.mutable_responses(0)->clear_complete_ns(); }},
    {"main: sent after body bytes",
     [](Evidence& e) { e.client.mutable_responses(0)->set_dispatch_after_bytes(32767); }},
    {"record bound", [](Evidence& e) { e.client.mutable_records(9)->set_plaintext_bytes(16385); }},
    {"early record bound", [](Evidence& e) { e.client.mutable_records(1)->set_plaintext_bytes(1025); }},
    {"early budget ends between records",
     [](Evidence& e) { e.client.mutable_records(8)->set_plaintext_bytes(1025); }},
    {"record overhead", [](Evidence& e) { e.client.mutable_records(10)->set_wire_bytes(25); }},
    {"post-handshake records", [](Evidence& e) { add_record(e, v1::POST_HANDSHAKE, 0); }},
    {"records' plaintext total", [](Evidence& e) { e.client.set_decrypted_bytes(1); }},
    {"ssl_write total", [](Evidence& e) { add_write(e, 1, 1); }},
    {"ssl_write retries with fewer bytes", [](Evidence& e) { e.server.mutable_writes(1)->set_requested(1); }},
    {"fragment settings", [](Evidence& e) { e.server.mutable_fragments()->DeleteSubrange(0, 1); }},
    {"fragment settings refused", [](Evidence& e) { e.server.mutable_fragments(0)->set_returned(0); }},
    {"fragment transitions", [](Evidence& e) { e.server.mutable_fragments(0)->set_restored(true); }},
    {"early budget bytes", [](Evidence& e) { e.server.mutable_fragments(1)->set_before_write(0); }},
    {"server exit", [](Evidence& e) { e.server.set_exit_code(-1); }},
    {"server errors", [](Evidence& e) { e.server.set_errors("[warn] x"); }},
};

TEST(ClientAndServerChecks, CanEachBreak) {
  Evidence evidence = good();
  evidence.spec.mutable_workload()->mutable_requests(0)->mutable_after()->set_body_bytes(32768);
  evidence.client.mutable_responses(0)->set_dispatch_after_bytes(32768);
  EXPECT_THAT(broken(evidence), IsEmpty());
  std::set<std::string> names, breakable;
  for (const v1::Check& check : checks_of(evidence)) names.insert(check.name());
  for (const auto& [name, change] : kBreaks) {
    Evidence changed = evidence;
    change(changed);
    EXPECT_THAT(broken(changed), testing::Contains(name));
    breakable.insert(name);
  }
  EXPECT_EQ(names, breakable) << "a check that nothing here breaks";
}

}  // namespace
}  // namespace hopyard::trial

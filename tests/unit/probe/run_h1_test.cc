// SPDX-License-Identifier: Apache-2.0
// Whole HTTP/1.1 runs against a real TLS server: every record and milestone is where it belongs.
#include <openssl/sha.h>

#include <algorithm>
#include <ctime>

#include "gmock/gmock.h"
#include "run_support.h"

namespace hopyard::probe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const char kOne[] = "protocol: 'h1' requests { name: 'body' body_bytes: 10000 }";

// Answers one request with head and body apart, the body in records of `record_bytes`.
TlsServer::Script answer(uint64_t bytes, size_t record_bytes) {
  return [=](ServerConnection& connection) {
    EXPECT_THAT(connection.read_request(), HasSubstr("GET /" + std::to_string(bytes) + " HTTP/1.1"));
    connection.write(response_head(bytes));
    connection.write(fixture(bytes), record_bytes);
    connection.read_some();
  };
}

TEST(RunH1, KeepsEveryRecordWithItsSizes) {
  TlsServer server({}, answer(10000, 1024));
  const v1::ClientEvidence evidence = run_against(server, kOne);
  EXPECT_EQ(evidence.error(), "");
  EXPECT_EQ(evidence.tls_version(), "TLSv1.3");
  EXPECT_EQ(evidence.cipher(), "TLS_AES_256_GCM_SHA384");
  EXPECT_EQ(evidence.alpn(), "http/1.1");

  const auto data = records_of(evidence, v1::DATA);
  ASSERT_EQ(data.size(), 11u);
  uint64_t plaintext = 0;
  for (const v1::TlsRecord& record : data) {
    EXPECT_EQ(record.wire_bytes(), record.plaintext_bytes() + 22);
    EXPECT_EQ(record.outer_type(), 23u);
    EXPECT_GE(record.decrypted_ns(), record.received_ns());
    plaintext += record.plaintext_bytes();
  }
  EXPECT_EQ(data[1].plaintext_bytes(), 1024u);
  EXPECT_EQ(data[10].plaintext_bytes(), 10000u - 9 * 1024);
  EXPECT_EQ(evidence.decrypted_bytes(), plaintext);
  for (int i = 0; i < evidence.records_size(); ++i)
    EXPECT_EQ(evidence.records(i).seq(), static_cast<uint32_t>(i));
  EXPECT_FALSE(records_of(evidence, v1::HANDSHAKE).empty());
  EXPECT_TRUE(records_of(evidence, v1::POST_HANDSHAKE).empty());
}

TEST(RunH1, StampsMilestonesAtTheRecordsThatBroughtThem) {
  TlsServer server({}, answer(10000, 1024));
  const v1::ClientEvidence evidence = run_against(server, kOne);
  ASSERT_EQ(evidence.error(), "");
  const auto data = records_of(evidence, v1::DATA);
  ASSERT_EQ(data.size(), 11u);
  const v1::Response& got = evidence.responses(0);
  EXPECT_EQ(got.first_decrypted_ns(), data[0].decrypted_ns());
  EXPECT_EQ(got.first_body_ns(), data[1].decrypted_ns());
  EXPECT_EQ(got.body_1024_ns(), data[1].decrypted_ns());
  EXPECT_EQ(got.body_4096_ns(), data[4].decrypted_ns());
  EXPECT_EQ(got.body_8192_ns(), data[8].decrypted_ns());
  EXPECT_EQ(got.complete_ns(), data[10].decrypted_ns());
  EXPECT_EQ(got.first_data_frame_ns(), 0);
}

TEST(RunH1, TellsTheResponseAsItWas) {
  TlsServer server({}, answer(10000, 16384));
  const v1::ClientEvidence evidence = run_against(server, kOne);
  const v1::Response& got = evidence.responses(0);
  EXPECT_EQ(got.role(), "body");
  EXPECT_EQ(got.protocol(), "h1");
  EXPECT_EQ(got.stream(), 1u);
  EXPECT_EQ(got.status(), 200u);
  EXPECT_EQ(got.header_bytes(), response_head(10000).size());
  EXPECT_EQ(got.content_length(), 10000u);
  EXPECT_EQ(got.body_bytes(), 10000u);
  EXPECT_TRUE(got.body_equals_fixture());
  const std::string body = fixture(10000);
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const uint8_t*>(body.data()), body.size(),
         reinterpret_cast<uint8_t*>(digest.data()));
  EXPECT_EQ(got.body_sha256(), digest);
}

TEST(RunH1, OrdersItsInstants) {
  TlsServer server({.tcp = true}, answer(10000, 1000));
  const v1::ClientEvidence evidence = run_against(server, kOne);
  ASSERT_EQ(evidence.error(), "");
  const v1::Response& got = evidence.responses(0);
  const std::vector<int64_t> instants = {
      evidence.connect_start_ns(), evidence.connected_ns(),  evidence.handshake_done_ns(),
      got.request_start_ns(),      got.request_written_ns(), got.first_decrypted_ns(),
      got.first_body_ns(),         got.body_1024_ns(),       got.body_4096_ns(),
      got.body_8192_ns(),          got.complete_ns()};
  EXPECT_GT(instants.front(), 0);
  EXPECT_TRUE(std::is_sorted(instants.begin(), instants.end())) << testing::PrintToString(instants);
  EXPECT_EQ(evidence.settled_ns(), evidence.handshake_done_ns());
}

TEST(RunH1, SharesOneInstantAmongMilestonesOfOneRecord) {
  TlsServer server({}, [](ServerConnection& connection) {
    connection.read_request();
    connection.write(response_head(10000) + fixture(10000));
    connection.read_some();
  });
  const v1::ClientEvidence evidence = run_against(server, kOne);
  ASSERT_EQ(evidence.error(), "");
  const v1::Response& got = evidence.responses(0);
  EXPECT_EQ(records_of(evidence, v1::DATA).size(), 1u);
  for (const int64_t ns :
       {got.first_body_ns(), got.body_1024_ns(), got.body_4096_ns(), got.body_8192_ns(), got.complete_ns()}) {
    EXPECT_EQ(ns, got.first_decrypted_ns());
  }
}

TEST(RunH1, FollowsAPausedRequestOnTheSameConnection) {
  TlsServer server({}, [](ServerConnection& connection) {
    for (const uint64_t bytes : {20000, 4096}) {
      connection.read_request();
      connection.write(response_head(bytes) + fixture(bytes));
    }
    connection.read_some();
  });
  std::vector<std::string> calls;
  const v1::ClientEvidence evidence =
      run_against(server,
                  "protocol: 'h1' requests { name: 'first' body_bytes: 20000 }"
                  "requests { name: 'later' body_bytes: 4096 after { request: 'first' pause_ns: 30000000 } }",
                  kPatient, [&](ProbeSpec& spec) {
                    spec.settled = [&] { calls.push_back("settled"); };
                    spec.before_request = [&](std::string_view name) { calls.push_back(std::string(name)); };
                    spec.completed = [&] { calls.push_back("completed"); };
                  });
  ASSERT_EQ(evidence.error(), "");
  EXPECT_THAT(calls, ElementsAre("settled", "later", "completed"));
  ASSERT_EQ(evidence.responses_size(), 2);
  EXPECT_GE(evidence.responses(1).request_start_ns(), evidence.responses(0).complete_ns() + 30000000);
  EXPECT_EQ(evidence.responses(1).stream(), 2u);
  EXPECT_TRUE(evidence.responses(1).body_equals_fixture());
}

TEST(RunH1, KeepsTheCostOfTheSnapshotOutOfTheLaterResponse) {
  TlsServer server({}, [](ServerConnection& connection) {
    for (int i = 0; i < 2; ++i) {
      connection.read_request();
      connection.write(response_head(10) + fixture(10));
    }
    connection.read_some();
  });
  int64_t snapshot_done_ns = 0;
  const v1::ClientEvidence evidence =
      run_against(server,
                  "protocol: 'h1' requests { name: 'a' body_bytes: 10 }"
                  "requests { name: 'b' body_bytes: 10 after { request: 'a' } }",
                  kPatient, [&](ProbeSpec& spec) {
                    spec.before_request = [&](std::string_view) {
                      timespec now{};
                      ::clock_gettime(CLOCK_MONOTONIC, &now);
                      snapshot_done_ns = now.tv_sec * 1'000'000'000 + now.tv_nsec;
                    };
                  });
  ASSERT_EQ(evidence.error(), "");
  EXPECT_GE(evidence.responses(1).request_start_ns(), snapshot_done_ns);
  EXPECT_GE(snapshot_done_ns, evidence.responses(0).complete_ns());
}

TEST(RunH1, DoesNotTakeTicketsForData) {
  TlsServer server({.tickets = true}, answer(10000, 16384));
  const v1::ClientEvidence evidence = run_against(server, kOne);
  EXPECT_EQ(evidence.error(), "");
  const auto tickets = records_of(evidence, v1::POST_HANDSHAKE);
  ASSERT_FALSE(tickets.empty());
  for (const v1::TlsRecord& record : tickets) {
    EXPECT_EQ(record.outer_type(), 23u);
    EXPECT_EQ(record.plaintext_bytes(), 0u);
  }
  EXPECT_EQ(records_of(evidence, v1::DATA).size(), 2u);
}

TEST(RunH1, KeepsTheServersCloseNotifyAsAnAlert) {
  TlsServer server({}, [](ServerConnection& connection) {
    connection.read_request();
    connection.write(response_head(10000) + fixture(10000));
    connection.send_close_notify();
  });
  const v1::ClientEvidence evidence = run_against(server, kOne);
  EXPECT_EQ(evidence.error(), "");
  const auto alerts = records_of(evidence, v1::ALERT);
  ASSERT_EQ(alerts.size(), 1u);
  EXPECT_EQ(alerts[0].outer_type(), 23u);
  EXPECT_EQ(alerts[0].wire_bytes(), 24u);
  EXPECT_EQ(alerts[0].plaintext_bytes(), 2u) << "17 sealed and 22 on the wire, as on every record";
}

TEST(RunH1, EndsWithItsOwnCloseNotify) {
  std::string after_response = "unread";
  int error = 0;
  {
    TlsServer server({}, [&](ServerConnection& connection) {
      connection.read_request();
      connection.write(response_head(10000) + fixture(10000));
      after_response = connection.read_some();
      error = SSL_get_error(connection.ssl(), 0);
    });
    EXPECT_EQ(run_against(server, kOne).error(), "");
  }
  EXPECT_THAT(after_response, IsEmpty());
  EXPECT_EQ(error, SSL_ERROR_ZERO_RETURN);
}

TEST(RunH1, TakesKeyUpdatesInItsStride) {
  TlsServer server({}, [](ServerConnection& connection) {
    connection.read_request();
    connection.write(response_head(10000));
    SSL_key_update(connection.ssl(), SSL_KEY_UPDATE_REQUESTED);
    connection.write(fixture(10000));
    connection.read_some();
  });
  const v1::ClientEvidence evidence = run_against(server, kOne);
  EXPECT_EQ(evidence.error(), "");
  EXPECT_EQ(records_of(evidence, v1::POST_HANDSHAKE).size(), 1u);
  EXPECT_TRUE(evidence.responses(0).body_equals_fixture());
}

TEST(RunH1, DoesNotLetASlowCloseDelayCompletion) {
  // The server never closes; the client waits its shutdown deadline after completion, and no error comes of
  // it.
  TlsServer server({}, [](ServerConnection& connection) {
    connection.read_request();
    connection.write(response_head(10000) + fixture(10000));
    connection.drain();
  });
  Deadlines deadlines = kPatient;
  deadlines.shutdown = std::chrono::milliseconds(20);
  int64_t completed_before_close = 0;
  const v1::ClientEvidence evidence = run_against(
      server, kOne, deadlines, [&](ProbeSpec& spec) { spec.completed = [&] { ++completed_before_close; }; });
  EXPECT_EQ(evidence.error(), "");
  EXPECT_EQ(completed_before_close, 1);
  EXPECT_TRUE(evidence.responses(0).body_equals_fixture());
}

}  // namespace
}  // namespace hopyard::probe

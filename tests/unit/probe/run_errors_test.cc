// SPDX-License-Identifier: Apache-2.0
// Misbehaving servers: each gets a named error in bounded time, and what was seen before it is kept.
#include <netinet/in.h>
#include <openssl/err.h>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "run_support.h"

namespace hopyard::probe {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const char kOne[] = "protocol: 'h1' requests { name: 'body' body_bytes: 10000 }";

TEST(RunErrors, ServerThatIsNotThere) {
  const v1::Workload workload = workload_from(kOne);
  ProbeSpec spec{.workload = &workload,
                 .endpoint = *base::unix_endpoint(testing::TempDir() + "hopyard-probe-nobody.sock"),
                 .socket = base::Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  const v1::ClientEvidence evidence = run(std::move(spec));
  EXPECT_THAT(evidence.error(), HasSubstr("connect: server: No such file"));
  EXPECT_GT(evidence.connect_start_ns(), 0);
  EXPECT_EQ(evidence.connected_ns(), 0);
  EXPECT_EQ(evidence.responses_size(), 1);
}

TEST(RunErrors, ServerThatRefusesTcp) {
  uint16_t port = 0;
  {
    TlsServer gone({.tcp = true}, [](ServerConnection&) {});
    port = ntohs(reinterpret_cast<const sockaddr_in&>(gone.endpoint().address).sin_port);
  }
  const v1::Workload workload = workload_from(kOne);
  ProbeSpec spec{.workload = &workload,
                 .endpoint = *base::ipv4_endpoint("127.0.0.1", port),
                 .socket = base::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  EXPECT_THAT(run(std::move(spec)).error(), HasSubstr("connect: server: Connection refused"));
}

// The kernel drops what a full queue has no place for, and says nothing: only our own deadline ends it.
TEST(RunErrors, ServerThatNeverAnswersTcp) {
  const base::Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  base::Endpoint any = *base::ipv4_endpoint("127.0.0.1", 0);
  ASSERT_EQ(::bind(listener.get(), any.get(), any.length), 0);
  ASSERT_EQ(::listen(listener.get(), 0), 0);
  base::Endpoint full{.length = sizeof full.address};
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&full.address), &full.length), 0);
  const base::Fd first(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(first.get(), full.get(), full.length), 0);

  const v1::Workload workload = workload_from(kOne);
  Deadlines deadlines = kPatient;
  deadlines.connect = std::chrono::milliseconds(30);
  ProbeSpec spec{.workload = &workload,
                 .endpoint = full,
                 .socket = base::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
                 .deadlines = deadlines};
  EXPECT_THAT(run(std::move(spec)).error(), HasSubstr("connect: server: no answer in time"));
}

TEST(RunErrors, ServerThatNeverShakesHands) {
  TlsServer server({.handshake = false}, [](ServerConnection& connection) { connection.drain(); });
  Deadlines deadlines = kPatient;
  deadlines.handshake = std::chrono::milliseconds(30);
  const v1::ClientEvidence evidence = run_against(server, kOne, deadlines);
  EXPECT_THAT(evidence.error(), HasSubstr("handshake: server: no end in time"));
  EXPECT_GT(evidence.connected_ns(), 0);
}

TEST(RunErrors, ServerThatClosesInTheHandshake) {
  TlsServer server({.handshake = false}, [](ServerConnection&) {});
  EXPECT_THAT(run_against(server, kOne).error(), HasSubstr("handshake: server: "));
}

TEST(RunErrors, ServerThatSpeaksPlainHttp) {
  TlsServer server({.handshake = false}, [](ServerConnection& connection) {
    connection.write_raw("HTTP/1.1 400 Bad Request\r\n\r\n");
    connection.drain();
  });
  EXPECT_THAT(run_against(server, kOne).error(), HasSubstr("read record: header: content type 72"));
}

TEST(RunErrors, ServerThatKnowsOnlyTls12) {
  TlsServer server({.version = TLS1_2_VERSION}, [](ServerConnection&) {});
  const v1::ClientEvidence evidence = run_against(server, kOne);
  EXPECT_THAT(evidence.error(), HasSubstr("sent alert 'protocol version'"));
  EXPECT_EQ(records_of(evidence, v1::ALERT).size(), 1u);
}

TEST(RunErrors, ServerWithoutTheProtocol) {
  TlsServer server({.alpn = ""}, [](ServerConnection& connection) { connection.drain(); });
  const v1::ClientEvidence evidence = run_against(server, kOne);
  EXPECT_THAT(evidence.error(), HasSubstr("chose ALPN ''"));
  EXPECT_EQ(evidence.tls_version(), "TLSv1.3");
}

TEST(RunErrors, ServerThatNeverAnswers) {
  TlsServer server({}, [](ServerConnection& connection) { connection.drain(); });
  Deadlines deadlines = kPatient;
  deadlines.request = std::chrono::milliseconds(30);
  const v1::ClientEvidence evidence = run_against(server, kOne, deadlines);
  EXPECT_THAT(evidence.error(), HasSubstr("await response: body: not complete within 0.03 s, 0 of 10000"));
  EXPECT_GT(evidence.responses(0).request_written_ns(), 0);
  EXPECT_EQ(evidence.responses(0).first_decrypted_ns(), 0);
}

TEST(RunErrors, ServerThatDribblesForever) {
  TlsServer server({}, [](ServerConnection& connection) {
    connection.read_request();
    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n");
    // Until the client is gone.
    while (connection.write("X-More: 1\r\n")) {
    }
  });
  Deadlines deadlines = kPatient;
  deadlines.request = std::chrono::milliseconds(30);
  // Whichever limit it meets first.
  const v1::ClientEvidence evidence = run_against(server, kOne, deadlines);
  EXPECT_THAT(evidence.error(),
              testing::AnyOf(HasSubstr("longer than 16384"), HasSubstr("not complete within")));
}

TEST(RunErrors, ServerThatClosesMidRecord) {
  TlsServer server({}, [](ServerConnection& connection) {
    connection.read_request();
    connection.write(response_head(10000) + fixture(5000));
    connection.write_raw(std::string("\x17\x03\x03\x10\x00", 5) + std::string(95, 'x'));
  });
  const v1::ClientEvidence evidence = run_against(server, kOne);
  EXPECT_THAT(evidence.error(), AllOf(HasSubstr("exchange: server: "),
                                      HasSubstr("in the middle of a record, 100 bytes into it")));
  EXPECT_EQ(evidence.responses(0).body_bytes(), 5000u);
  EXPECT_GT(evidence.responses(0).body_4096_ns(), 0);
  EXPECT_EQ(evidence.responses(0).body_8192_ns(), 0);
  EXPECT_EQ(evidence.responses(0).complete_ns(), 0);
  EXPECT_EQ(records_of(evidence, v1::DATA).size(), 1u);
}

TEST(RunErrors, ServerThatClosesEarlyWithCloseNotify) {
  TlsServer server({}, [](ServerConnection& connection) {
    connection.read_request();
    connection.write(response_head(10000) + fixture(9999));
    connection.send_close_notify();
    connection.drain();
  });
  const v1::ClientEvidence evidence = run_against(server, kOne);
  EXPECT_EQ(evidence.error(), "exchange: server: closed with close_notify");
  EXPECT_EQ(evidence.responses(0).body_bytes(), 9999u);
}

TEST(RunErrors, ServerThatAnnouncesAnOversizedRecord) {
  TlsServer server({}, [](ServerConnection& connection) {
    connection.read_request();
    connection.write(response_head(10000));
    connection.write_raw(std::string("\x17\x03\x03\x41\x01", 5));
    connection.drain();
  });
  const v1::ClientEvidence evidence = run_against(server, kOne);
  EXPECT_THAT(evidence.error(), HasSubstr("read record: header: length 16641"));
  EXPECT_EQ(evidence.responses(0).status(), 200u);
}

TEST(RunErrors, ServerWhoseRecordDoesNotOpen) {
  std::string told;
  v1::ClientEvidence evidence;
  {
    TlsServer server({}, [&](ServerConnection& connection) {
      connection.read_request();
      connection.write(response_head(10000));
      connection.write_raw(std::string("\x17\x03\x03\x00\x20", 5) + std::string(32, 'x'));
      connection.read_some();
      told = ERR_reason_error_string(ERR_peek_last_error());
    });
    evidence = run_against(server, kOne);
  }
  EXPECT_THAT(evidence.error(), HasSubstr("open record: TLS engine: DECRYPTION_FAILED_OR_BAD_RECORD_MAC"));
  EXPECT_EQ(told, "SSLV3_ALERT_BAD_RECORD_MAC");
  const auto unopened = records_of(evidence, v1::RECORD_CONTENT_UNSPECIFIED);
  ASSERT_EQ(unopened.size(), 1u);
  EXPECT_EQ(unopened[0].wire_bytes(), 37u);
}

TEST(RunErrors, ServerWithTheWrongBody) {
  TlsServer server({}, [](ServerConnection& connection) {
    connection.read_request();
    std::string body = fixture(10000);
    body[7777] = 'x';
    connection.write(response_head(10000) + body);
    connection.drain();
  });
  const v1::ClientEvidence evidence = run_against(server, kOne);
  EXPECT_EQ(evidence.error(), "check response: body: differs from the fixture");
  EXPECT_FALSE(evidence.responses(0).body_equals_fixture());
  EXPECT_EQ(evidence.responses(0).body_bytes(), 10000u);
  EXPECT_GT(evidence.responses(0).complete_ns(), 0);
}

TEST(RunErrors, ServerWithTheWrongLength) {
  TlsServer server({}, [](ServerConnection& connection) {
    connection.read_request();
    connection.write(response_head(9999) + fixture(9999));
    connection.drain();
  });
  EXPECT_THAT(run_against(server, kOne).error(),
              HasSubstr("9999 body bytes and content-length 9999, asked for 10000"));
}

TEST(RunErrors, ServerWithoutTheFile) {
  TlsServer server({}, [](ServerConnection& connection) {
    connection.read_request();
    connection.write("HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nno!");
    connection.drain();
  });
  const v1::ClientEvidence evidence = run_against(server, kOne);
  EXPECT_EQ(evidence.error(), "check response: body: has status 404, expected 200");
  EXPECT_EQ(evidence.responses(0).status(), 404u);
}

TEST(RunErrors, ServerThatGoesAwayDuringAPause) {
  TlsServer server({}, [](ServerConnection& connection) {
    connection.read_request();
    connection.write(response_head(10) + fixture(10));
  });
  bool completed = false;
  const v1::ClientEvidence evidence =
      run_against(server,
                  "protocol: 'h1' requests { name: 'a' body_bytes: 10 }"
                  "requests { name: 'b' body_bytes: 10 after { request: 'a' pause_ns: 60000000000 } }",
                  kPatient, [&](ProbeSpec& spec) { spec.completed = [&] { completed = true; }; });
  EXPECT_THAT(evidence.error(), HasSubstr("exchange: server: "));
  EXPECT_FALSE(completed);
  EXPECT_GT(evidence.responses(0).complete_ns(), 0);
  EXPECT_EQ(evidence.responses(1).request_start_ns(), 0);
}

TEST(RunErrors, WorkloadThatCannotBePerformedNeverConnects) {
  TlsServer server({}, [](ServerConnection&) { ADD_FAILURE() << "was connected to"; });
  for (const char* text : {"protocol: 'h1'", "protocol: 'h3' requests { name: 'a' body_bytes: 1 }"}) {
    const v1::ClientEvidence evidence = run_against(server, text);
    EXPECT_THAT(evidence.error(), HasSubstr("read workload: ")) << text;
    EXPECT_EQ(evidence.connect_start_ns(), 0);
  }
}

TEST(Endpoints, AreRefusedWhereTheyCannotBe) {
  EXPECT_TRUE(absl::IsInvalidArgument(base::ipv4_endpoint("192.0.2.256", 1).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(base::ipv4_endpoint("localhost", 1).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(base::unix_endpoint("").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(base::unix_endpoint(std::string(108, 'x')).status()));
  EXPECT_TRUE(base::unix_endpoint(std::string(107, 'x')).ok());
}

}  // namespace
}  // namespace hopyard::probe

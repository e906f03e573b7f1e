// SPDX-License-Identifier: Apache-2.0
// Whole HTTP/2 runs against a real server: frames, milestones by complete DATA frames, triggers, flow
// control.
#include <algorithm>

#include "gmock/gmock.h"
#include "h2_server.h"
#include "probe/h2.h"
#include "run_support.h"

namespace hopyard::probe {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const char kOne[] = "protocol: 'h2' requests { name: 'body' body_bytes: 131072 }";
const ServerOptions kH2 = {.alpn = "h2"};

std::vector<v1::H2Frame> frames_of(const v1::ClientEvidence& evidence, const std::string& type, bool sent) {
  std::vector<v1::H2Frame> out;
  for (const v1::H2Frame& frame : evidence.frames()) {
    if (frame.type() == type && frame.sent() == sent) out.push_back(frame);
  }
  return out;
}

TEST(RunH2, TellsTheResponseAndItsFrames) {
  TlsServer server(kH2, h2_script({.record_bytes = 4096}));
  const v1::ClientEvidence evidence = run_against(server, kOne);
  ASSERT_EQ(evidence.error(), "");
  EXPECT_EQ(evidence.alpn(), "h2");
  const v1::Response& got = evidence.responses(0);
  EXPECT_EQ(got.stream(), 1u);
  EXPECT_EQ(got.protocol(), "h2");
  EXPECT_EQ(got.status(), 200u);
  EXPECT_EQ(got.body_bytes(), 131072u);
  EXPECT_EQ(got.content_length(), 131072u);
  EXPECT_TRUE(got.body_equals_fixture());

  const auto data = frames_of(evidence, "DATA", false);
  ASSERT_EQ(data.size(), 16u);
  EXPECT_EQ(data[0].length(), 8192u);
  EXPECT_EQ(data[15].flags() & NGHTTP2_FLAG_END_STREAM, NGHTTP2_FLAG_END_STREAM);
  const auto headers = frames_of(evidence, "HEADERS", false);
  ASSERT_EQ(headers.size(), 1u);
  EXPECT_EQ(got.header_bytes(), headers[0].length());
  for (int i = 0; i < evidence.frames_size(); ++i) {
    EXPECT_EQ(evidence.frames(i).seq(), static_cast<uint32_t>(i));
    EXPECT_GT(evidence.frames(i).first_byte_ns(), 0);
    EXPECT_GE(evidence.frames(i).complete_ns(), evidence.frames(i).first_byte_ns());
  }
}

TEST(RunH2, AccountsForEveryDecryptedByteByFrames) {
  TlsServer server(kH2, h2_script({.record_bytes = 1000, .padding = 37}));
  const v1::ClientEvidence evidence = run_against(server, kOne);
  ASSERT_EQ(evidence.error(), "");
  uint64_t frames = 0;
  for (const v1::H2Frame& frame : evidence.frames()) {
    if (!frame.sent()) frames += kFrameHeaderBytes + frame.length();
  }
  uint64_t records = 0;
  for (const v1::TlsRecord& record : records_of(evidence, v1::DATA)) records += record.plaintext_bytes();
  EXPECT_EQ(evidence.decrypted_bytes(), frames);
  EXPECT_EQ(evidence.decrypted_bytes(), records);
}

TEST(RunH2, DeliversBodyByCompleteDataFrames) {
  // A frame of 8192 bytes comes in three records and more: raw payload is decrypted before any body is
  // delivered.
  TlsServer server(kH2, h2_script({.record_bytes = 3000}));
  const v1::ClientEvidence evidence = run_against(server, kOne);
  ASSERT_EQ(evidence.error(), "");
  const v1::Response& got = evidence.responses(0);
  const auto data = frames_of(evidence, "DATA", false);
  ASSERT_FALSE(data.empty());
  EXPECT_EQ(got.first_data_frame_ns(), data.front().complete_ns());
  EXPECT_EQ(got.first_body_ns(), data.front().complete_ns());
  EXPECT_EQ(got.body_1024_ns(), data.front().complete_ns());
  EXPECT_EQ(got.body_8192_ns(), data.front().complete_ns());
  EXPECT_EQ(got.complete_ns(), data.back().complete_ns());
  EXPECT_EQ(got.first_decrypted_ns(), frames_of(evidence, "HEADERS", false).front().first_byte_ns());
  EXPECT_LT(got.first_decrypted_ns(), got.first_body_ns());
}

TEST(RunH2, SplitsMilestonesOverSmallDataFrames) {
  TlsServer server(kH2, h2_script({.frame_bytes = 1000, .record_bytes = 1009}));
  const v1::ClientEvidence evidence = run_against(server, kOne);
  ASSERT_EQ(evidence.error(), "");
  const auto data = frames_of(evidence, "DATA", false);
  const v1::Response& got = evidence.responses(0);
  EXPECT_EQ(got.first_body_ns(), data[0].complete_ns());
  EXPECT_EQ(got.body_1024_ns(), data[1].complete_ns());
  EXPECT_EQ(got.body_4096_ns(), data[4].complete_ns());
  EXPECT_EQ(got.body_8192_ns(), data[8].complete_ns());
}

TEST(RunH2, SettlesBothSettingsBeforeItAsks) {
  H2Seen seen;
  v1::ClientEvidence evidence;
  {
    TlsServer server(kH2, h2_script({}, &seen));
    evidence = run_against(server, kOne);
  }
  ASSERT_EQ(evidence.error(), "");
  EXPECT_GT(evidence.settled_ns(), evidence.handshake_done_ns());
  EXPECT_GT(evidence.responses(0).request_start_ns(), evidence.settled_ns());
  int acknowledged = 0;
  for (const v1::H2Frame& frame : evidence.frames()) {
    if (frame.type() != "SETTINGS" || (frame.flags() & NGHTTP2_FLAG_ACK) == 0) continue;
    EXPECT_LE(frame.complete_ns(), evidence.settled_ns());
    ++acknowledged;
  }
  EXPECT_EQ(acknowledged, 2);
  EXPECT_EQ(seen.settings[NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE], 4u << 20);
  EXPECT_EQ(seen.settings[NGHTTP2_SETTINGS_ENABLE_PUSH], 0u);
  EXPECT_EQ(seen.connection_window, 65535 + (8 << 20));
  EXPECT_EQ(seen.stream_window, 4 << 20);
  EXPECT_EQ(seen.fields[":authority"], "hopyard.test");
  EXPECT_EQ(seen.fields[":path"], "/131072");
  EXPECT_TRUE(seen.goaway);
}

TEST(RunH2, GivesAMebibyteCreditWithoutAnyFurtherWindowUpdate) {
  TlsServer server(kH2, h2_script({}));
  const v1::ClientEvidence evidence =
      run_against(server, "protocol: 'h2' requests { name: 'bulk' body_bytes: 1048576 }");
  ASSERT_EQ(evidence.error(), "");
  EXPECT_EQ(frames_of(evidence, "WINDOW_UPDATE", true).size(), 1u);
}

TEST(RunH2, NeverHoldsALargeBodyBack) {
  // The server writes all it has credit for before it reads again: the whole body, or the windows were too
  // small.
  H2Seen seen;
  {
    TlsServer server(kH2, h2_script({.frame_bytes = 16384}, &seen));
    const v1::ClientEvidence evidence =
        run_against(server, "protocol: 'h2' requests { name: 'bulk' body_bytes: 33554432 }");
    ASSERT_EQ(evidence.error(), "");
  }
  EXPECT_EQ(seen.sent_before_reading, 33554432u);
}

TEST(RunH2, AsksAgainOnceEnoughOfTheBulkIsDecrypted) {
  // The server holds the bulk back at 33000 bytes: the trigger must fire on what came, at the first record by
  // which 32768 body bytes are decrypted, in the middle of a DATA frame.
  TlsServer server(kH2, h2_script({.frame_bytes = 16384, .record_bytes = 1000, .hold_after = 33000}));
  std::vector<std::string> calls;
  const v1::ClientEvidence evidence =
      run_against(server,
                  "protocol: 'h2' requests { name: 'bulk' body_bytes: 1048576 }"
                  "requests { name: 'late' body_bytes: 4096 after { request: 'bulk' body_bytes: 32768 } }",
                  kPatient, [&](ProbeSpec& spec) {
                    spec.before_request = [&](std::string_view name) { calls.push_back(std::string(name)); };
                  });
  ASSERT_EQ(evidence.error(), "");
  EXPECT_THAT(calls, ElementsAre("late"));
  ASSERT_EQ(evidence.responses_size(), 2);
  const v1::Response& late = evidence.responses(1);
  EXPECT_GE(late.dispatch_after_bytes(), 32768u);
  EXPECT_LE(late.dispatch_after_bytes(), 33000u);
  EXPECT_EQ(late.stream(), 3u);
  EXPECT_EQ(late.body_bytes(), 4096u);
  EXPECT_TRUE(late.body_equals_fixture());
  EXPECT_TRUE(evidence.responses(0).body_equals_fixture());
  EXPECT_EQ(evidence.responses(0).dispatch_after_bytes(), 0u);
}

TEST(RunH2, AsksBeforeTheRecordsAfterTheTriggerAreOpened) {
  // All of the bulk is there; the true count still is that of the very record that reached the trigger.
  TlsServer server(kH2, h2_script({.frame_bytes = 16384, .record_bytes = 1000}));
  const v1::ClientEvidence evidence =
      run_against(server,
                  "protocol: 'h2' requests { name: 'bulk' body_bytes: 1048576 }"
                  "requests { name: 'late' body_bytes: 4096 after { request: 'bulk' body_bytes: 32768 } }");
  ASSERT_EQ(evidence.error(), "");
  EXPECT_LT(evidence.responses(1).dispatch_after_bytes(), 32768u + 1000);
}

TEST(RunH2, SendsSimultaneousRequestsInOrder) {
  TlsServer server(kH2, h2_script({}));
  const v1::ClientEvidence evidence =
      run_against(server,
                  "protocol: 'h2' requests { name: 'a' body_bytes: 50000 }"
                  "requests { name: 'b' body_bytes: 60000 } requests { name: 'c' body_bytes: 1 }");
  ASSERT_EQ(evidence.error(), "");
  ASSERT_EQ(evidence.responses_size(), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(evidence.responses(i).stream(), static_cast<uint32_t>(2 * i + 1));
    EXPECT_TRUE(evidence.responses(i).body_equals_fixture());
  }
  EXPECT_LT(evidence.responses(0).request_start_ns(), evidence.responses(1).request_start_ns());
  EXPECT_LT(evidence.responses(1).request_start_ns(), evidence.responses(2).request_start_ns());
}

TEST(RunH2, HoldsRequestsBackToAsManyAsTheServerAllows) {
  H2Seen seen;
  v1::ClientEvidence evidence;
  {
    TlsServer server(kH2, h2_script({.max_streams = 2}, &seen));
    std::string text = "protocol: 'h2'";
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      text += " requests { name: '" + std::string(name) + "' body_bytes: 20000 }";
    }
    evidence = run_against(server, text);
  }
  ASSERT_EQ(evidence.error(), "");
  EXPECT_LE(seen.most_streams, 2u);
  ASSERT_EQ(evidence.responses_size(), 5);
  const int64_t first_end =
      std::min(evidence.responses(0).complete_ns(), evidence.responses(1).complete_ns());
  EXPECT_LT(evidence.responses(1).request_start_ns(), first_end);
  for (int i = 2; i < 5; ++i) {
    EXPECT_GE(evidence.responses(i).request_start_ns(), first_end);
    EXPECT_TRUE(evidence.responses(i).body_equals_fixture());
  }
}

TEST(RunH2, PausesOnTheSameConnection) {
  TlsServer server(kH2, h2_script({}));
  const v1::ClientEvidence evidence = run_against(
      server,
      "protocol: 'h2' requests { name: 'first' body_bytes: 131072 }"
      "requests { name: 'later' body_bytes: 4096 after { request: 'first' pause_ns: 30000000 } }");
  ASSERT_EQ(evidence.error(), "");
  EXPECT_GE(evidence.responses(1).request_start_ns(), evidence.responses(0).complete_ns() + 30000000);
}

// What comes meanwhile is read afterwards: the request goes out at the point of the awaited body at which it
// became due.
TEST(RunH2, ReadsNothingWhileItStalls) {
  TlsServer server(kH2, h2_script({}));
  const v1::ClientEvidence evidence =
      run_against(server,
                  "protocol: 'h2' requests { name: 'bulk' body_bytes: 1048576 }"
                  "requests { name: 'later' body_bytes: 4096 after { request: 'bulk' body_bytes: 8192 "
                  "stall_ns: 50000000 } }");
  ASSERT_EQ(evidence.error(), "");
  const v1::Response& later = evidence.responses(1);
  EXPECT_GE(later.dispatch_after_bytes(), 8192u);
  EXPECT_LT(later.dispatch_after_bytes(), 100000u);
  int64_t last_before_ns = 0;
  for (const v1::TlsRecord& record : evidence.records()) {
    if (record.decrypted_ns() < later.request_start_ns()) last_before_ns = record.decrypted_ns();
  }
  EXPECT_GE(later.request_start_ns(), last_before_ns + 50000000);
  EXPECT_LT(last_before_ns, evidence.responses(0).complete_ns());
}

TEST(RunH2, LeavesPaddingOutOfBodies) {
  TlsServer server(kH2, h2_script({.record_bytes = 500, .padding = 200}));
  const v1::ClientEvidence evidence = run_against(server, kOne);
  ASSERT_EQ(evidence.error(), "");
  EXPECT_EQ(evidence.responses(0).body_bytes(), 131072u);
  EXPECT_TRUE(evidence.responses(0).body_equals_fixture());
  EXPECT_GT(frames_of(evidence, "DATA", false).front().length(), 8192u);
}

TEST(RunH2Errors, ServerThatResetsTheStream) {
  TlsServer server(kH2, h2_script({.reset_after = 20000}));
  const v1::ClientEvidence evidence = run_against(server, kOne);
  EXPECT_THAT(evidence.error(), HasSubstr("read response: HTTP/2: body: stream reset: INTERNAL_ERROR"));
  EXPECT_EQ(evidence.responses(0).body_bytes(), 20000u);
  EXPECT_GT(evidence.responses(0).body_8192_ns(), 0);
  EXPECT_EQ(evidence.responses(0).complete_ns(), 0);
}

TEST(RunH2Errors, ServerThatSendsGoaway) {
  TlsServer server(kH2, h2_script({.goaway_after = 20000}));
  const v1::ClientEvidence evidence = run_against(server, kOne);
  EXPECT_THAT(evidence.error(), HasSubstr("server sent GOAWAY ENHANCE_YOUR_CALM"));
  EXPECT_EQ(evidence.responses(0).body_bytes(), 20000u);
}

TEST(RunH2Errors, ServerThatNeverSettles) {
  TlsServer server(kH2, h2_script({.answer_settings = false}));
  Deadlines deadlines = kPatient;
  deadlines.settle = std::chrono::milliseconds(30);
  const v1::ClientEvidence evidence = run_against(server, kOne, deadlines);
  EXPECT_EQ(evidence.error(), "settle HTTP/2: server: no end in time");
  EXPECT_EQ(evidence.settled_ns(), 0);
  EXPECT_EQ(frames_of(evidence, "SETTINGS", true).size(), 1u);
}

TEST(RunH2Errors, ServerWithAFrameTooLarge) {
  TlsServer server(kH2,
                   h2_script({.raw_after_headers = std::string("\xff\xff\xff\x00\x00\x00\x00\x00\x01", 9)}));
  EXPECT_THAT(run_against(server, kOne).error(),
              AllOf(HasSubstr("read frame: HTTP/2: "), HasSubstr("FRAME_SIZE")));
}

TEST(RunH2Errors, ServerWithDataOnStreamZero) {
  TlsServer server(
      kH2, h2_script({.raw_after_headers = std::string("\x00\x00\x01\x00\x00\x00\x00\x00\x00x", 10)}));
  EXPECT_THAT(run_against(server, kOne).error(), HasSubstr("read frame: HTTP/2: "));
}

TEST(RunH2Errors, ServerThatSpeaksHttp1UnderH2) {
  TlsServer server(kH2, [](ServerConnection& connection) {
    connection.write(response_head(131072) + fixture(131072));
    connection.drain();
  });
  const v1::ClientEvidence evidence = run_against(server, kOne);
  EXPECT_THAT(evidence.error(), HasSubstr("HTTP/2: "));
  EXPECT_GT(evidence.decrypted_bytes(), 0u);
}

}  // namespace
}  // namespace hopyard::probe

// SPDX-License-Identifier: Apache-2.0
// The log reader against lines nginx 1.26.3 really writes, and against damage.
#include "server/trace.h"

#include "gtest/gtest.h"

namespace hopyard::server {
namespace {

std::string at(std::string_view level, std::string_view text) {
  return "2026/11/30 22:15:44 [" + std::string(level) + "] 12697#12697: " + std::string(text) + "\n";
}

std::string debug(std::string_view text) { return at("debug", text); }

TEST(ParseLog, PairsRequestsWithResultsAndCountsRetries) {
  const Trace trace = parse_log(debug("*2 http request line: \"GET /131072 HTTP/1.1\"") +  //
                                debug("*2 SSL to write: 16384") + debug("*2 SSL_write: -1") +
                                debug("*2 SSL_get_error: 3") +  //
                                debug("*2 SSL to write: 16384") + debug("*2 SSL_write: 16384"));
  ASSERT_EQ(trace.connections.size(), 1u);
  const auto& writes = trace.connections[0].writes;
  ASSERT_EQ(writes.size(), 2u);
  EXPECT_EQ(writes[0].requested(), 16384u);
  EXPECT_EQ(writes[0].returned(), -1);
  EXPECT_EQ(writes[1].returned(), 16384);
  EXPECT_EQ(writes[1].seq(), 1u);
}

TEST(ParseLog, NumbersWritesByTheRequestsParsedBefore) {
  const Trace trace = parse_log(debug("*1 SSL to write: 40") + debug("*1 SSL_write: 40") +  //
                                debug("*1 http2 request line: \"GET /1 HTTP/2.0\"") +       //
                                debug("*1 SSL to write: 99") + debug("*1 SSL_write: 99") +
                                debug("*1 http2 request line: \"GET /2 HTTP/2.0\"") +
                                debug("*1 SSL to write: 7") + debug("*1 SSL_write: 7"));
  ASSERT_EQ(trace.connections.size(), 1u);
  const auto& writes = trace.connections[0].writes;
  ASSERT_EQ(writes.size(), 3u);
  EXPECT_EQ(writes[0].response(), 0u);
  EXPECT_EQ(writes[1].response(), 1u);
  EXPECT_EQ(writes[2].response(), 2u);
  EXPECT_EQ(trace.connections[0].requests, 2u);
}

TEST(ParseLog, KeepsConnectionsApartAndLeavesOutThoseWithoutARequest) {
  const Trace trace =
      parse_log(debug("*1 SSL to write: 5") + debug("*2 SSL to write: 6") + debug("*2 SSL_write: 6") +
                debug("*1 SSL_write: 5") + debug("*2 http request line: \"GET / HTTP/1.1\""));
  ASSERT_EQ(trace.connections.size(), 1u);
  EXPECT_EQ(trace.connections[0].connection, 2u);
  ASSERT_EQ(trace.connections[0].writes.size(), 1u);
  EXPECT_EQ(trace.connections[0].writes[0].returned(), 6);
}

TEST(ParseLog, ReadsFragmentLimitsAndTheirRestoration) {
  const Trace trace =
      parse_log(debug("*1 SSL early fragment: 1024 budget:8192 rc:1") +
                debug("*1 http request line: \"GET / HTTP/1.1\"") + debug("*1 SSL to write: 8192") +
                debug("*1 SSL_write: 8192") + debug("*1 SSL early write: 8192 left:0") +
                debug("*1 SSL fragment restored: 16384"));
  ASSERT_EQ(trace.connections.size(), 1u);
  const auto& events = trace.connections[0].fragments;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].fragment_bytes(), 1024u);
  EXPECT_EQ(events[0].returned(), 1);
  EXPECT_EQ(events[0].before_write(), 0u);
  EXPECT_FALSE(events[0].restored());
  EXPECT_EQ(events[1].fragment_bytes(), 16384u);
  EXPECT_EQ(events[1].before_write(), 1u);
  EXPECT_TRUE(events[1].restored());
}

TEST(ParseLog, KeepsSeriousLinesAndTheVersion) {
  const Trace trace = parse_log(at("notice", "nginx/1.26.3") + at("info", "*1 client closed connection") +
                                at("alert", "worker process 7 exited on signal 11"));
  EXPECT_EQ(trace.nginx_version, "nginx/1.26.3");
  EXPECT_EQ(trace.errors, at("alert", "worker process 7 exited on signal 11"));
}

TEST(ParseLog, BoundsTheSeriousLinesItKeeps) {
  std::string log;
  for (int i = 0; i < 1000; ++i) log += at("error", "again and again");
  EXPECT_LE(parse_log(log).errors.size(), kErrorBytes);
}

TEST(ParseLog, SeesASeriousLineThatIsLongerThanWhatItKeeps) {
  const std::string errors = parse_log(at("error", std::string(3 * kErrorBytes, 'x'))).errors;
  EXPECT_EQ(errors.size(), kErrorBytes);
  EXPECT_TRUE(errors.ends_with("xxx\n"));
}

TEST(ParseLog, KeepsSeriousLinesFitToBeShown) {
  EXPECT_EQ(parse_log(at("error", "\xff\x1b[31m words")).errors, at("error", "??[31m words"));
}

TEST(ParseLog, SurvivesDamage) {
  const std::string whole = debug("*2 http request line: \"GET /\"") + debug("*2 SSL to write: 16384") +
                            debug("*2 SSL_write: 16384") + debug("*2 SSL static fragment: 4096 rc:1");
  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    const Trace trace = parse_log(std::string_view(whole).substr(cut));
    EXPECT_LE(trace.connections.size(), 1u);
  }
  EXPECT_TRUE(
      parse_log("\n\n] [ : *\n[debug] 1: *99999999999999999999999 SSL_write: 5\n").connections.empty());
}

}  // namespace
}  // namespace hopyard::server

// SPDX-License-Identifier: Apache-2.0
// Response heads are read strictly; bodies are counted off exactly, however they are cut.
#include "probe/h1.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hopyard/v1/result.pb.h"
#include "tls_server.h"

namespace hopyard::probe {
namespace {

TEST(ResponseHead, IsReadWithStatusAndLength) {
  const auto head =
      parse_response_head("HTTP/1.1 404 Not Found\r\nServer: x\r\ncontent-LENGTH:  12 \r\nX-Empty:\r\n\r\n");
  ASSERT_TRUE(head.ok()) << head.status();
  EXPECT_EQ(head->status, 404u);
  EXPECT_EQ(head->content_length, 12u);
}

TEST(ResponseHead, MayHaveNoReason) {
  EXPECT_TRUE(parse_response_head("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n").ok());
  EXPECT_TRUE(parse_response_head("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n").ok());
}

TEST(ResponseHead, IsRefusedWhereItIsNotExact) {
  const char* const kLength = "Content-Length: 5\r\n";
  const std::string refused[] = {
      "",
      "\r\n\r\n",
      "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n",
      "HTTP/2 200 OK\r\nContent-Length: 5\r\n\r\n",
      "HTTP/1.1 20 OK\r\nContent-Length: 5\r\n\r\n",
      "HTTP/1.1 2000 OK\r\nContent-Length: 5\r\n\r\n",
      "HTTP/1.1 -20 OK\r\nContent-Length: 5\r\n\r\n",
      "HTTP/1.1  200 OK\r\nContent-Length: 5\r\n\r\n",
      "HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\n",
      "HTTP/1.1 600 Odd\r\nContent-Length: 5\r\n\r\n",
      "HTTP/1.1 200 OK\nContent-Length: 5\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
      absl::StrCat("HTTP/1.1 200 OK\r\n", kLength, kLength, "\r\n"),
      "HTTP/1.1 200 OK\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n",
      "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 5\r\n\r\n",
      "HTTP/1.1 200 OK\r\n folded: 1\r\nContent-Length: 5\r\n\r\n",
      absl::StrCat("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n", kLength, "\r\n"),
      std::string("HTTP/1.1 200 OK\r\nX: \0\r\nContent-Length: 5\r\n\r\n", 45),
  };
  for (const std::string& head : refused) {
    EXPECT_TRUE(absl::IsInvalidArgument(parse_response_head(head).status())) << head;
  }
}

class H1SessionTest : public testing::Test {
 protected:
  absl::Status receive(std::string_view bytes, int64_t ns) {
    return session_.receive(std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()), ns);
  }
  v1::Response response(size_t index) {
    v1::Response out;
    meters_[index].fill(out);
    return out;
  }
  std::vector<ResponseMeter> meters_ = {{"first", "h1", 5000}, {"second", "h1", 3}};
  H1Session session_{meters_};
};

TEST_F(H1SessionTest, AsksByBodySize) {
  ASSERT_TRUE(session_.request(0).ok());
  const auto bytes = *session_.output();
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_EQ(text, "GET /5000 HTTP/1.1\r\nHost: hopyard.test\r\nUser-Agent: hopyard\r\n\r\n");
}

TEST_F(H1SessionTest, StampsMilestonesWhereverTheBytesAreCut) {
  const std::string stream = response_head(5000) + fixture(5000);
  const size_t head = stream.size() - 5000;
  for (const size_t step : {1u, 3u, 100u, 1024u}) {
    meters_[0] = ResponseMeter("first", "h1", 5000);
    H1Session session(meters_);
    ASSERT_TRUE(session.request(0).ok());
    // The instant of a byte is its place in the stream, rounded up to the step that brought it.
    for (size_t at = 0; at < stream.size(); at += step) {
      const std::string_view part = std::string_view(stream).substr(at, step);
      ASSERT_TRUE(session
                      .receive(std::span(reinterpret_cast<const uint8_t*>(part.data()), part.size()),
                               static_cast<int64_t>(at + part.size()))
                      .ok());
    }
    const auto arrival = [&](size_t bytes) {
      return static_cast<int64_t>(std::min((bytes + step - 1) / step * step, stream.size()));
    };
    const v1::Response got = response(0);
    EXPECT_EQ(got.header_bytes(), head);
    EXPECT_EQ(got.first_decrypted_ns(), arrival(1)) << step;
    EXPECT_EQ(got.first_body_ns(), arrival(head + 1)) << step;
    EXPECT_EQ(got.body_1024_ns(), arrival(head + 1024)) << step;
    EXPECT_EQ(got.body_4096_ns(), arrival(head + 4096)) << step;
    EXPECT_EQ(got.body_8192_ns(), 0);
    EXPECT_EQ(got.complete_ns(), static_cast<int64_t>(stream.size()));
    EXPECT_TRUE(got.body_equals_fixture());
  }
}

TEST_F(H1SessionTest, RefusesBytesNobodyAskedFor) {
  ASSERT_TRUE(session_.request(0).ok());
  ASSERT_TRUE(receive(response_head(5000) + fixture(5000), 7).ok());
  EXPECT_FALSE(receive("x", 8).ok());
}

TEST_F(H1SessionTest, RefusesBytesBeyondTheBody) {
  ASSERT_TRUE(session_.request(1).ok());
  EXPECT_FALSE(receive(response_head(3) + fixture(3) + "x", 7).ok());
  EXPECT_EQ(response(1).body_bytes(), 3u);
}

TEST_F(H1SessionTest, RefusesALongerBodyThanAskedForAtItsHead) {
  ASSERT_TRUE(session_.request(1).ok());
  EXPECT_TRUE(absl::IsDataLoss(receive(response_head(4), 7)));
}

TEST_F(H1SessionTest, RefusesAnEndlessHead) {
  ASSERT_TRUE(session_.request(0).ok());
  EXPECT_FALSE(receive("HTTP/1.1 200 OK\r\nX: " + std::string(16384, 'x'), 7).ok());
}

TEST_F(H1SessionTest, CallsAnEmptyBodyWhereSomeWasAskedForWrong) {
  ASSERT_TRUE(session_.request(0).ok());
  EXPECT_TRUE(absl::IsDataLoss(receive(response_head(0), 7)));
}

}  // namespace
}  // namespace hopyard::probe

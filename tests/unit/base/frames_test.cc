// SPDX-License-Identifier: Apache-2.0
// Frames survive any cutting of the stream, and a broken length ends it.
#include "base/frames.h"

#include <fcntl.h>

#include "base/fd.h"
#include "gtest/gtest.h"

namespace hopyard::base {
namespace {

TEST(FrameDecoder, GivesTheSameFramesHoweverTheStreamIsCut) {
  const std::string stream = encode_frame("one") + encode_frame("") + encode_frame(std::string(70000, 'x'));
  for (const size_t step : {1u, 3u, 4u, 7u, 4096u, 100000u}) {
    FrameDecoder decoder;
    std::vector<std::string> got;
    for (size_t at = 0; at < stream.size(); at += step) {
      ASSERT_TRUE(decoder.feed(std::string_view(stream).substr(at, step)).ok());
      while (auto payload = decoder.next()) got.push_back(*payload);
    }
    EXPECT_EQ(got, (std::vector<std::string>{"one", "", std::string(70000, 'x')})) << "step " << step;
    EXPECT_EQ(decoder.pending_bytes(), 0u);
  }
}

TEST(FrameDecoder, RefusesALengthOverTheLimit) {
  FrameDecoder decoder;
  EXPECT_TRUE(absl::IsInvalidArgument(decoder.feed(std::string("\xff\xff\xff\xff", 4))));
  EXPECT_FALSE(decoder.next().has_value());
}

TEST(ReadFrame, TellsAnEndBetweenFramesFromAnEndInsideOne) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe.ok());
  ASSERT_TRUE(write_frame(pipe->write.get(), "whole").ok());
  ASSERT_TRUE(write_all(pipe->write.get(), std::string("\0\0\0\5ab", 6)).ok());
  pipe->write.reset();
  FrameDecoder decoder;
  const Deadline deadline{std::chrono::seconds(5)};
  EXPECT_EQ(read_frame(pipe->read.get(), decoder, deadline).value(), "whole");
  EXPECT_TRUE(absl::IsDataLoss(read_frame(pipe->read.get(), decoder, deadline).status()));
  FrameDecoder empty;
  EXPECT_TRUE(absl::IsOutOfRange(read_frame(pipe->read.get(), empty, deadline).status()));
}

TEST(ReadFrame, GivesUpAtTheDeadline) {
  auto pipe = make_pipe();
  FrameDecoder decoder;
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      read_frame(pipe->read.get(), decoder, Deadline{std::chrono::milliseconds(1)}).status()));
}

TEST(ReadFrame, GivesUpAtTheDeadlineThoughBytesComeAllTheTime) {
  const auto endless = open_file("/dev/zero", O_RDONLY);
  FrameDecoder decoder;
  ASSERT_TRUE(decoder.feed(std::string("\4\0\0\0", 4)).ok());  // 64 MiB are to come
  const absl::Status status =
      read_frame(endless->get(), decoder, Deadline{std::chrono::nanoseconds(1)}).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_LT(decoder.pending_bytes(), 1u << 20);
}

TEST(ReadFrame, GivesWhatLiesThereHoweverLateItIsAskedFor) {
  auto pipe = make_pipe();
  ASSERT_TRUE(write_frame(pipe->write.get(), "whole").ok());
  FrameDecoder decoder;
  EXPECT_EQ(read_frame(pipe->read.get(), decoder, Deadline{std::chrono::nanoseconds(0)}).value(), "whole");
}

TEST(WriteFrame, GivesUpOnAReaderThatTakesNothing) {
  auto pipe = make_pipe();
  ASSERT_EQ(::fcntl(pipe->write.get(), F_SETFL, O_NONBLOCK), 0);
  const std::string large(1 << 20, 'x');
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      write_frame(pipe->write.get(), large, Deadline{std::chrono::milliseconds(20)})));
}

}  // namespace
}  // namespace hopyard::base

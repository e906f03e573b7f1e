// SPDX-License-Identifier: Apache-2.0
// Frames are followed through any cut of the stream, each stamped at its first and last payload byte.
#include "probe/h2_frames.h"

#include "gtest/gtest.h"

namespace hopyard::probe {
namespace {

std::vector<uint8_t> frame(uint32_t length, uint8_t type, uint8_t flags, uint32_t stream) {
  std::vector<uint8_t> bytes(kFrameHeaderBytes + length, 0xaa);
  const uint64_t header = uint64_t{length} << 16 | uint64_t{type} << 8 | flags;
  for (size_t i = 0; i < 5; ++i) bytes[i] = static_cast<uint8_t>(header >> (8 * (4 - i)));
  for (size_t i = 0; i < 4; ++i) bytes[5 + i] = static_cast<uint8_t>(stream >> (8 * (3 - i)));
  return bytes;
}

TEST(FrameScanner, StampsFirstAndLastPayloadByteWhereverTheStreamIsCut) {
  std::vector<uint8_t> stream;
  for (const auto& each : {frame(0, 4, 1, 0), frame(5, 1, 4, 1), frame(8192, 0, 0, 1), frame(1, 0, 1, 1)}) {
    stream.insert(stream.end(), each.begin(), each.end());
  }
  // Offsets just beyond the first and the last payload byte of each; the header's end where there is none.
  const std::vector<std::pair<size_t, size_t>> ends = {{9, 9}, {19, 23}, {33, 8224}, {8234, 8234}};
  for (const size_t step : {1u, 2u, 4u, 9u, 11u, 4096u, 65536u}) {
    std::vector<FrameEntry> log;
    FrameScanner scanner(log, false, 100);
    for (size_t at = 0; at < stream.size(); at += step) {
      const size_t size = std::min(step, stream.size() - at);
      scanner.scan(std::span(stream).subspan(at, size), static_cast<int64_t>(at + size));
    }
    ASSERT_EQ(log.size(), ends.size()) << step;
    for (size_t i = 0; i < ends.size(); ++i) {
      const auto arrival = [&](size_t end) {
        return static_cast<int64_t>(std::min((end + step - 1) / step * step, stream.size()));
      };
      EXPECT_EQ(log[i].first_byte_ns, arrival(ends[i].first)) << "frame " << i << " in steps of " << step;
      EXPECT_EQ(log[i].complete_ns, arrival(ends[i].second)) << "frame " << i << " in steps of " << step;
    }
    EXPECT_EQ(log[2].length, 8192u);
    EXPECT_EQ(log[3].flags, 1u);
    EXPECT_EQ(log[3].stream, 1u);
  }
}

TEST(FrameScanner, LeavesAnUnfinishedFrameUnfinished) {
  std::vector<FrameEntry> log;
  FrameScanner scanner(log, false, 100);
  const auto bytes = frame(100, 0, 0, 7);
  scanner.scan(std::span(bytes).first(50), 3);
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0].first_byte_ns, 3);
  EXPECT_EQ(log[0].complete_ns, 0);
}

TEST(FrameScanner, IgnoresTheReservedBitOfStreams) {
  std::vector<FrameEntry> log;
  FrameScanner scanner(log, false, 100);
  scanner.scan(frame(0, 0, 0, 0x80000003u), 1);
  EXPECT_EQ(log[0].stream, 3u);
}

TEST(FrameScanner, CountsFramesBeyondItsLimitAndStaysInStep) {
  std::vector<FrameEntry> log;
  FrameScanner scanner(log, false, 2);
  for (int i = 0; i < 5; ++i) scanner.scan(frame(10, 0, 0, 1), i + 1);
  EXPECT_EQ(log.size(), 2u);
  EXPECT_EQ(scanner.dropped(), 3u);
}

TEST(FrameTypeName, NamesWhatTheStandardNames) {
  EXPECT_EQ(frame_type_name(0), "DATA");
  EXPECT_EQ(frame_type_name(8), "WINDOW_UPDATE");
  EXPECT_EQ(frame_type_name(9), "CONTINUATION");
  EXPECT_EQ(frame_type_name(0x2a), "0x2a");
}

}  // namespace
}  // namespace hopyard::probe

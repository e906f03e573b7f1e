// SPDX-License-Identifier: Apache-2.0
// Records come out whole however the bytes came in, and what cannot be TLS is refused.
#include "probe/record_reader.h"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"

namespace hopyard::probe {
namespace {

std::string record(uint8_t type, size_t length, uint8_t minor = 3) {
  std::string bytes = {static_cast<char>(type), 3, static_cast<char>(minor), static_cast<char>(length >> 8),
                       static_cast<char>(length)};
  return bytes + std::string(length, static_cast<char>(length));
}

void put(RecordReader& reader, std::string_view bytes) {
  const auto room = reader.room();
  ASSERT_GE(room.size(), bytes.size());
  std::copy(bytes.begin(), bytes.end(), room.begin());
  reader.commit(bytes.size());
}

// Everything that is complete, as text.
std::vector<std::string> take_all(RecordReader& reader) {
  std::vector<std::string> records;
  for (;;) {
    auto next = reader.next();
    EXPECT_TRUE(next.ok()) << next.status();
    if (!next.ok() || !*next) return records;
    records.emplace_back((*next)->begin(), (*next)->end());
  }
}

TEST(RecordReader, GivesTheSameRecordsForEverySizeOfRead) {
  const std::vector<std::string> sent = {record(22, 1),  record(20, 1),  record(23, 16640),
                                         record(21, 19), record(23, 17), record(23, 4113)};
  std::string stream;
  for (const std::string& each : sent) stream += each;
  for (const size_t step : {1u, 2u, 3u, 5u, 7u, 1000u, 16645u, 65536u}) {
    RecordReader reader;
    std::vector<std::string> got;
    for (size_t at = 0; at < stream.size(); at += step) {
      put(reader, std::string_view(stream).substr(at, step));
      for (std::string& each : take_all(reader)) got.push_back(std::move(each));
    }
    EXPECT_EQ(got, sent) << "reads of " << step;
    EXPECT_EQ(reader.pending_bytes(), 0u);
  }
}

TEST(RecordReader, HoldsARecordUntilItsLastByte) {
  RecordReader reader;
  const std::string whole = record(23, 100);
  put(reader, std::string_view(whole).substr(0, whole.size() - 1));
  EXPECT_TRUE(take_all(reader).empty());
  EXPECT_EQ(reader.pending_bytes(), whole.size() - 1);
  put(reader, std::string_view(whole).substr(whole.size() - 1));
  EXPECT_EQ(take_all(reader), std::vector<std::string>{whole});
}

TEST(RecordReader, OffersRoomForAWholeReadEvenWhileARecordIsIncomplete) {
  RecordReader reader(4096);
  put(reader, std::string_view(record(23, 16640)).substr(0, 4096));
  for (int i = 0; i < 3; ++i) put(reader, std::string(4096, 'x'));
  EXPECT_TRUE(take_all(reader).empty());
  EXPECT_GE(reader.room().size(), 4096u);
}

struct BadHeader {
  const char* what;
  std::string bytes;
};

TEST(RecordReader, RefusesWhatCannotBeTls) {
  const BadHeader cases[] = {
      {"content type", record(19, 20)}, {"content type", record(24, 20)}, {"content type", "HTTP/1.1"},
      {"version", record(23, 20, 0)},   {"version", record(23, 20, 4)},   {"length", record(23, 0)},
      {"length", record(23, 16641)},    {"length", record(23, 65535)},
  };
  for (const BadHeader& bad : cases) {
    RecordReader reader(1 << 17);
    put(reader, bad.bytes);
    for (int again = 0; again < 2; ++again) {
      const auto next = reader.next();
      EXPECT_TRUE(absl::IsInvalidArgument(next.status())) << bad.what;
      EXPECT_NE(std::string(next.status().message()).find(bad.what), std::string::npos) << next.status();
    }
  }
}

TEST(RecordReader, RefusesABadHeaderBeforeItsPayloadComes) {
  RecordReader reader;
  put(reader, std::string("\x17\x03\x03\x41\x01", 5));
  EXPECT_FALSE(reader.next().ok());
}

}  // namespace
}  // namespace hopyard::probe

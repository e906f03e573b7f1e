// SPDX-License-Identifier: Apache-2.0
// The list of drops out of what two taps saw: by contents, whatever order, number and state packets leave in.
#include "lab/drops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace hopyard::lab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint8_t kFin = 1, kSyn = 2, kPsh = 8, kAck = 16;

void put(std::string& to, size_t at, uint32_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) to[at + i] = static_cast<char>(value >> (8 * (bytes - 1 - i)));
}

struct Tcp {
  uint32_t sequence = 0;
  uint32_t payload_bytes = 0;
  uint8_t flags = kAck;
  uint16_t id = 0;  // IPv4's: each packet of a socket has another
  uint16_t source_port = 443;
  int64_t seen_ns = 0;
};

// With the twelve bytes of options that carry time stamps.
Sighting ipv4(const Tcp& tcp) {
  std::string head(52, '\0');
  const uint32_t bytes = 52 + tcp.payload_bytes;
  put(head, 0, 0x45, 1);
  put(head, 2, bytes, 2);
  put(head, 4, tcp.id, 2);
  put(head, 8, 64, 1);  // hops
  put(head, 9, 6, 1);
  put(head, 10, 0x1234, 2);  // checksum
  put(head, 12, 0xc0000201, 4);
  put(head, 16, 0xc6336401, 4);
  put(head, 20, tcp.source_port, 2);
  put(head, 22, 50000, 2);
  put(head, 24, tcp.sequence, 4);
  put(head, 32, 0x80, 1);  // eight words of header
  put(head, 33, tcp.flags, 1);
  put(head, 36, 0xbeef, 2);  // checksum
  return {.seen_ns = tcp.seen_ns, .bytes = bytes, .head = head};
}

Sighting ipv6(const Tcp& tcp) {
  const Sighting v4 = ipv4(tcp);
  std::string head(40, '\0');
  put(head, 0, 0x60000000, 4);
  put(head, 4, v4.bytes - 20, 2);
  put(head, 6, 6, 1);
  put(head, 7, 64, 1);
  put(head, 8, 0x20010db8, 4);
  put(head, 24, 0x20010db8, 4);
  return {.seen_ns = tcp.seen_ns, .bytes = v4.bytes + 20, .head = head + v4.head.substr(20)};
}

// As a router sends on what came: a hop less, another header checksum.
Sighting forwarded(Sighting packet) {
  if (packet.head[0] >> 4 == 4) {
    put(packet.head, 8, 63, 1);
    put(packet.head, 10, 0x1334, 2);
  } else {
    put(packet.head, 7, 63, 1);
  }
  packet.seen_ns += 10'000'000;
  return packet;
}

std::vector<Sighting> forwarded(const std::vector<Sighting>& packets, const std::vector<size_t>& which) {
  std::vector<Sighting> out;
  for (const size_t i : which) out.push_back(forwarded(packets[i]));
  return out;
}

std::vector<uint32_t> ordinals(const Matched& matched) {
  std::vector<uint32_t> out;
  for (const DroppedPacket& packet : matched.dropped) out.push_back(packet.ordinal);
  return out;
}

// A connection's packets of one direction: SYN, then full segments.
std::vector<Sighting> segments(size_t count, uint32_t first_sequence = 1000) {
  std::vector<Sighting> out = {ipv4({.sequence = first_sequence, .flags = kSyn, .id = 1})};
  for (size_t i = 0; i < count; ++i) {
    out.push_back(ipv4({.sequence = first_sequence + 1 + static_cast<uint32_t>(i) * 1448,
                        .payload_bytes = 1448,
                        .flags = kAck | kPsh,
                        .id = static_cast<uint16_t>(2 + i),
                        .seen_ns = static_cast<int64_t>(i)}));
  }
  return out;
}

void expect_exact(const Matched& matched) {
  EXPECT_EQ(matched.unexplained, 0u);
  EXPECT_EQ(matched.doubtful, 0u);
}

TEST(Drops, AreNoneWhereAllThatCameLeft) {
  const auto arrived = segments(3);
  const Matched matched = find_drops(arrived, forwarded(arrived, {0, 1, 2, 3}));
  EXPECT_THAT(matched.dropped, IsEmpty());
  expect_exact(matched);
}

TEST(Drops, AreListedWithOrdinalTimeAndSequenceRange) {
  const auto arrived = segments(5);
  const Matched matched = find_drops(arrived, forwarded(arrived, {0, 1, 3, 5}));
  expect_exact(matched);
  ASSERT_THAT(ordinals(matched), ElementsAre(3, 5));
  const DroppedPacket& first = matched.dropped[0];
  EXPECT_EQ(first.arrived_ns, 1);
  EXPECT_EQ(first.ip_protocol, 6u);
  EXPECT_EQ(first.ip_bytes, 1500u);
  EXPECT_EQ(first.flags, kAck | kPsh);
  EXPECT_EQ(first.sequence, 1449u);
  EXPECT_EQ(first.payload_bytes, 1448u);
  EXPECT_FALSE(first.repeated);
  EXPECT_EQ(matched.dropped[1].sequence, 1u + 3 * 1448);
}

TEST(Drops, OfEverythingAreEverything) {
  const auto arrived = segments(2);
  EXPECT_THAT(ordinals(find_drops(arrived, {})), ElementsAre(1, 2, 3));
}

TEST(Drops, AreFoundWhateverOrderTheRestLeavesIn) {
  const auto arrived = segments(4);
  const Matched matched = find_drops(arrived, forwarded(arrived, {4, 0, 3, 1}));
  expect_exact(matched);
  EXPECT_THAT(ordinals(matched), ElementsAre(3));
}

TEST(Drops, SequenceNumbersGoOnWhereTheWireWraps) {
  const auto arrived = segments(5, 0xfffff000);
  const Matched matched = find_drops(arrived, forwarded(arrived, {0, 1, 2}));
  ASSERT_THAT(ordinals(matched), ElementsAre(4, 5, 6));
  EXPECT_EQ(matched.dropped[0].sequence, 1u + 2 * 1448);
  EXPECT_EQ(matched.dropped[2].sequence, 1u + 4 * 1448);
  EXPECT_FALSE(matched.dropped[2].repeated);
}

// Beyond 4 GiB too: half of the numbers' range at a step is more than any window.
TEST(Drops, SequenceNumbersGoOnBeyondTheWiresRange) {
  std::vector<Sighting> arrived = {ipv4({.sequence = 5, .flags = kSyn})};
  uint16_t id = 1;
  for (uint64_t at = 6; at < (uint64_t{5} << 32); at += 1u << 30)
    arrived.push_back(ipv4({.sequence = static_cast<uint32_t>(at), .payload_bytes = 100, .id = id++}));
  const Matched matched = find_drops(arrived, forwarded(arrived, {0}));
  EXPECT_EQ(matched.dropped.back().sequence, 1 + 19 * (uint64_t{1} << 30));
}

TEST(Drops, OfARetransmissionAreToldFromTheFirst) {
  auto arrived = segments(2);
  arrived.push_back(ipv4({.sequence = 1001, .payload_bytes = 1448, .flags = kAck | kPsh, .id = 9}));
  const Matched matched = find_drops(arrived, forwarded(arrived, {0, 2}));
  expect_exact(matched);
  ASSERT_THAT(ordinals(matched), ElementsAre(2, 4));
  EXPECT_FALSE(matched.dropped[0].repeated);
  EXPECT_TRUE(matched.dropped[1].repeated);
  EXPECT_EQ(matched.dropped[0].sequence, matched.dropped[1].sequence);
}

TEST(Drops, OfSynAndFinCountTheirNumbers) {
  const std::vector<Sighting> arrived = {
      ipv4({.sequence = 7, .flags = kSyn, .id = 1}), ipv4({.sequence = 7, .flags = kSyn, .id = 2}),
      ipv4({.sequence = 8, .flags = kFin | kAck, .id = 3}), ipv4({.sequence = 9, .flags = kAck, .id = 4})};
  const Matched matched = find_drops(arrived, {});
  ASSERT_THAT(ordinals(matched), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(matched.dropped[0].sequence, 0u);
  EXPECT_TRUE(matched.dropped[1].repeated);
  EXPECT_EQ(matched.dropped[2].sequence, 1u);
  EXPECT_FALSE(matched.dropped[2].repeated);
  EXPECT_EQ(matched.dropped[3].sequence, 2u);
  EXPECT_FALSE(matched.dropped[3].repeated) << "a bare acknowledgement repeats no byte";
}

TEST(Drops, CountEachFlowsNumbersByItself) {
  const std::vector<Sighting> arrived = {
      ipv4({.sequence = 100, .flags = kSyn, .id = 1}),
      ipv4({.sequence = 900, .flags = kSyn, .id = 2, .source_port = 444}),
      ipv4({.sequence = 101, .payload_bytes = 10, .id = 3}),
      ipv4({.sequence = 901, .payload_bytes = 10, .id = 4, .source_port = 444})};
  const Matched matched = find_drops(arrived, forwarded(arrived, {0, 1}));
  EXPECT_EQ(matched.dropped[0].sequence, 1u);
  EXPECT_EQ(matched.dropped[1].sequence, 1u);
}

TEST(Drops, OfIpv6AreReadLikewise) {
  const std::vector<Sighting> arrived = {ipv6({.sequence = 50, .flags = kSyn}),
                                         ipv6({.sequence = 51, .payload_bytes = 1428})};
  const Matched matched = find_drops(arrived, forwarded(arrived, {0}));
  ASSERT_THAT(ordinals(matched), ElementsAre(2));
  EXPECT_EQ(matched.dropped[0].ip_bytes, 1500u);
  EXPECT_EQ(matched.dropped[0].payload_bytes, 1428u);
  EXPECT_EQ(matched.dropped[0].sequence, 1u);
}

TEST(Drops, DoNotIncludeWhatLeftMarkedOrWithItsChecksumMade) {
  for (const auto& make : {ipv4, ipv6}) {
    const Sighting packet = make({.sequence = 5, .payload_bytes = 10});
    Sighting marked = forwarded(packet);
    const bool v4 = packet.head[0] >> 4 == 4;
    marked.head[1] = static_cast<char>(marked.head[1] | (v4 ? 3 : 0x30));
    put(marked.head, (v4 ? 20 : 40) + 16, 0xabcd, 2);
    const Matched matched = find_drops(std::vector{packet}, std::vector{marked});
    EXPECT_THAT(matched.dropped, IsEmpty());
    expect_exact(matched);
  }
}

TEST(Drops, WithADuplicateAmongTheDeparturesSayThatSomethingIsUnexplained) {
  const auto arrived = segments(3);
  const Matched matched = find_drops(arrived, forwarded(arrived, {0, 1, 1, 3}));
  EXPECT_THAT(ordinals(matched), ElementsAre(3));
  EXPECT_EQ(matched.unexplained, 1u);
}

TEST(Drops, OfACorruptedPacketSayThatSomethingIsUnexplained) {
  const auto arrived = segments(3);
  auto departed = forwarded(arrived, {0, 1, 2, 3});
  departed[2].head[27] ^= 0x40;  // in its sequence number
  const Matched matched = find_drops(arrived, departed);
  EXPECT_THAT(ordinals(matched), ElementsAre(3));
  EXPECT_EQ(matched.unexplained, 1u);
}

TEST(Drops, AmongTwinsAreCountedRightAndSaidToBeDoubtful) {
  const Sighting twin = ipv4({.sequence = 7, .flags = kAck});
  const std::vector<Sighting> arrived = {twin, ipv4({.sequence = 7, .payload_bytes = 5}), twin, twin};
  const Matched matched = find_drops(arrived, std::vector{forwarded(twin), forwarded(arrived[1])});
  EXPECT_THAT(ordinals(matched), ElementsAre(3, 4));
  EXPECT_EQ(matched.doubtful, 2u);
  // None of them left: there is no doubt.
  EXPECT_EQ(find_drops(arrived, {}).doubtful, 0u);
}

TEST(Drops, OfWhatIsNoTcpHaveNothingOfIt) {
  Sighting udp = ipv4({.sequence = 7, .payload_bytes = 5});
  put(udp.head, 9, 17, 1);
  const std::vector<Sighting> arrived = {udp, {.bytes = 3, .head = "abc"}, {.bytes = 0, .head = ""}};
  const Matched matched = find_drops(arrived, {});
  ASSERT_THAT(ordinals(matched), ElementsAre(1, 2, 3));
  EXPECT_EQ(matched.dropped[0].ip_protocol, 17u);
  EXPECT_EQ(matched.dropped[0].sequence, 0u);
  EXPECT_EQ(matched.dropped[0].payload_bytes, 0u);
  EXPECT_EQ(matched.dropped[1].ip_protocol, 0u);
}

// Whatever lengths the headers claim.
TEST(Drops, AreReadFromCutHeadersWithoutHarm) {
  const Sighting whole = ipv4({.sequence = 7, .payload_bytes = 5});
  for (size_t bytes = 0; bytes <= whole.head.size(); ++bytes) {
    const Sighting cut = {.bytes = whole.bytes, .head = whole.head.substr(0, bytes)};
    EXPECT_EQ(find_drops(std::vector{cut}, {}).dropped.size(), 1u);
  }
  Sighting lying = whole;
  put(lying.head, 0, 0x4f, 1);  // sixty bytes of header
  EXPECT_EQ(find_drops(std::vector{lying}, {}).dropped[0].sequence, 0u);
}

}  // namespace
}  // namespace hopyard::lab

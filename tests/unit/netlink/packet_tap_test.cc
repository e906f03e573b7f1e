// SPDX-License-Identifier: Apache-2.0
// A tap sees what comes and goes by its link and no other, in order, and counts what it had no room for.
#include "netlink/packet_tap.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "netlink/route.h"
#include "unit/netlink/network.h"

namespace hopyard::netlink {
namespace {

using testing::IsEmpty;

struct Packet {
  bool outgoing;
  int64_t seen_ns;
  uint32_t bytes;
  std::vector<uint8_t> head;
};

// Without what IPv6 says of itself.
std::vector<Packet> drain(PacketTap& tap) {
  std::vector<Packet> out;
  tap.drain([&out](const TappedPacket& packet) {
    if (packet.head[0] >> 4 != 4) return;
    out.push_back({packet.outgoing, packet.seen_ns, packet.bytes, {packet.head.begin(), packet.head.end()}});
  });
  return out;
}

constexpr int kLo = 1;

// Every packet leaves by lo and comes in by it.
class PacketTapTest : public netlink_test::NetworkTest {
 protected:
  void SetUp() override {
    NetworkTest::SetUp();
    socket_ = netlink_test::udp_to("127.0.0.1");
  }
  // A datagram to a port where nobody listens. That the last one was refused is told once.
  void send(size_t bytes) {
    const std::string text(bytes, 'x');
    while (::write(socket_.get(), text.data(), text.size()) < 0) ASSERT_EQ(errno, ECONNREFUSED);
  }
  base::Fd socket_;
};

// The room's tests run where packet sockets may be missing or forbidden.
#define OPEN_TAP_OR_SKIP(tap, link, room)                                                  \
  auto tap##_opened = PacketTap::open(link, room);                                         \
  if (absl::IsUnimplemented(tap##_opened.status())) GTEST_SKIP() << tap##_opened.status(); \
  ASSERT_TRUE(tap##_opened.ok()) << tap##_opened.status();                                 \
  PacketTap tap = *std::move(tap##_opened)

TEST_F(PacketTapTest, SeesWhatLeavesAndWhatComesWithItsTime) {
  OPEN_TAP_OR_SKIP(tap, kLo, 100);
  const int64_t before_ns = base::monotonic_ns();
  send(300);
  const auto seen = drain(tap);
  const int64_t after_ns = base::monotonic_ns();
  ASSERT_EQ(seen.size(), 4u) << "the datagram, and the answer that nobody listens";
  for (const size_t i : {0u, 1u}) {
    EXPECT_EQ(seen[i].outgoing, i == 0);
    EXPECT_EQ(seen[i].bytes, 328u);
    EXPECT_EQ(seen[i].head.size(), PacketTap::kHeadBytes);
    EXPECT_EQ(seen[i].head[0], 0x45) << "from the network header on";
    EXPECT_EQ(seen[i].head[9], 17) << "UDP";
  }
  EXPECT_EQ(seen[3].head[9], 1) << "ICMP";
  // The two clocks are read one after the other, microseconds apart at most.
  EXPECT_GE(seen[0].seen_ns, before_ns - 50'000);
  EXPECT_LE(seen[3].seen_ns, after_ns + 50'000);
  EXPECT_LE(seen[0].seen_ns, seen[3].seen_ns);
  EXPECT_EQ(tap.unseen().value(), 0u);
  EXPECT_FALSE(tap.clock_was_set());
}

TEST_F(PacketTapTest, SeesNothingOfOtherLinksOrOfBefore) {
  ASSERT_OK_AND_TAKE(RouteSocket socket, RouteSocket::open());
  ASSERT_TRUE(socket
                  .run(RouteBatch()
                           .add_veth({.name = "va", .index = 5}, {.name = "vb", .index = 6})
                           .set_up(5)
                           .set_up(6))
                  .ok());
  send(10);
  OPEN_TAP_OR_SKIP(late, kLo, 100);
  EXPECT_THAT(drain(late), IsEmpty());
  OPEN_TAP_OR_SKIP(aside, 5, 100);
  send(10);
  EXPECT_THAT(drain(aside), IsEmpty());
  EXPECT_EQ(drain(late).size(), 4u);
}

TEST_F(PacketTapTest, HandsOverEachPacketOnceHoweverOftenTheRingGoesRound) {
  OPEN_TAP_OR_SKIP(tap, kLo, 300);  // 16 pages of 19 packets
  uint32_t next = 1;
  for (int round = 0; round < 20; ++round) {
    for (uint32_t i = 0; i < 50; ++i) send(next + i);
    for (const Packet& packet : drain(tap)) {
      if (!packet.outgoing || packet.head[9] != 17) continue;
      ASSERT_EQ(packet.bytes, 28 + next);
      ++next;
    }
  }
  EXPECT_EQ(next, 1001u);
  EXPECT_EQ(tap.unseen().value(), 0u);
}

TEST_F(PacketTapTest, CountsWhatItHasNoRoomForAndKeepsTheOldest) {
  OPEN_TAP_OR_SKIP(tap, kLo, 300);
  for (uint32_t i = 1; i <= 500; ++i) send(i);
  const auto seen = drain(tap);
  ASSERT_FALSE(seen.empty());
  EXPECT_LE(seen.size(), 304u);
  EXPECT_EQ(seen[0].bytes, 29u);
  const uint64_t unseen = tap.unseen().value();
  EXPECT_GE(unseen, 2 * 500u - 304u);
  EXPECT_EQ(tap.unseen().value(), unseen)
      << "the kernel's counter starts anew when it is read, ours does not";
  send(7);
  const auto later = drain(tap);
  ASSERT_FALSE(later.empty());
  EXPECT_EQ(later[0].bytes, 35u) << "with room again it goes on";
}

TEST_F(PacketTapTest, OnALinkThatIsNotThereNamesIt) {
  const auto tap = PacketTap::open(77, 10);
  ASSERT_FALSE(tap.ok());
  if (absl::IsUnimplemented(tap.status())) GTEST_SKIP() << tap.status();
  EXPECT_THAT(std::string(tap.status().message()), testing::HasSubstr("link 77"));
}

}  // namespace
}  // namespace hopyard::netlink

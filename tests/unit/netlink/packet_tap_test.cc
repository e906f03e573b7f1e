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

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

struct Packet {
  bool outgoing;
  int64_t seen_ns;
  uint32_t bytes;
  std::vector<uint8_t> head;
};

std::vector<Packet> drain(PacketTap& tap) {
  std::vector<Packet> out;
  tap.drain([&out](const TappedPacket& packet) {
    out.push_back({packet.outgoing, packet.seen_ns, packet.bytes, {packet.head.begin(), packet.head.end()}});
  });
  return out;
}

// va (10.1.0.1) here, vb (10.1.0.2) in another namespace.
class PacketTapTest : public netlink_test::NetworkTest {
 protected:
  void SetUp() override {
    NetworkTest::SetUp();
    there_ = netlink_test::new_netns();
    ASSERT_OK_AND_TAKE(RouteSocket here, RouteSocket::open());
    RouteBatch batch;
    batch.add_veth({.name = "va", .index = 5, .mac = "02:00:00:00:00:01"},
                   {.name = "vb", .netns_fd = there_.get(), .index = 6, .mac = "02:00:00:00:00:02"});
    batch.set_up(5).add_address(5, "10.1.0.1/24").add_neighbour(5, "10.1.0.2", "02:00:00:00:00:02");
    ASSERT_TRUE(here.run(batch).ok());
    netlink_test::inside(there_, [] {
      ASSERT_OK_AND_TAKE(RouteSocket socket, RouteSocket::open());
      RouteBatch other;
      other.set_up(6).add_address(6, "10.1.0.2/24").add_neighbour(6, "10.1.0.1", "02:00:00:00:00:01");
      ASSERT_TRUE(socket.run(other).ok());
    });
    socket_ = netlink_test::udp_to("10.1.0.2");
  }
  // A datagram from here to there; nobody listens, and the answer says so.
  void send(size_t bytes) {
    const std::string text(bytes, 'x');
    (void)!::write(socket_.get(), text.data(), text.size());
  }
  base::Fd there_;
  base::Fd socket_;
};

// The room's tests run where packet sockets may be missing or forbidden.
#define OPEN_TAP_OR_SKIP(tap, link, room)                                                  \
  auto tap##_opened = PacketTap::open(link, room);                                         \
  if (absl::IsUnimplemented(tap##_opened.status())) GTEST_SKIP() << tap##_opened.status(); \
  ASSERT_TRUE(tap##_opened.ok()) << tap##_opened.status();                                 \
  PacketTap tap = *std::move(tap##_opened)

TEST_F(PacketTapTest, SeesWhatLeavesAndWhatComesWithItsTime) {
  OPEN_TAP_OR_SKIP(tap, 5, 100);
  const int64_t before_ns = base::monotonic_ns();
  send(300);
  const auto seen = drain(tap);
  const int64_t after_ns = base::monotonic_ns();
  ASSERT_EQ(seen.size(), 2u) << "the datagram, and the answer that its port is closed";
  EXPECT_TRUE(seen[0].outgoing);
  EXPECT_EQ(seen[0].bytes, 328u);
  EXPECT_EQ(seen[0].head.size(), PacketTap::kHeadBytes);
  EXPECT_EQ(seen[0].head[0], 0x45) << "from the network header on";
  EXPECT_EQ(seen[0].head[9], 17) << "UDP";
  EXPECT_FALSE(seen[1].outgoing);
  EXPECT_EQ(seen[1].head[9], 1) << "ICMP";
  // The two clocks are read one after the other, some 10 us apart at worst.
  EXPECT_GE(seen[0].seen_ns, before_ns - 50'000);
  EXPECT_LE(seen[1].seen_ns, after_ns + 50'000);
  EXPECT_LE(seen[0].seen_ns, seen[1].seen_ns);
  EXPECT_EQ(tap.unseen().value(), 0u);
  EXPECT_FALSE(tap.clock_was_set());
}

TEST_F(PacketTapTest, SeesNothingOfOtherLinksOrOfBefore) {
  send(10);
  OPEN_TAP_OR_SKIP(tap, 5, 100);
  EXPECT_THAT(drain(tap), IsEmpty());
  const base::Fd own = netlink_test::udp_to("127.0.0.1");
  (void)!::write(own.get(), "x", 1);
  EXPECT_THAT(drain(tap), IsEmpty());
}

TEST_F(PacketTapTest, HandsOverEachPacketOnceHoweverOftenTheRingGoesRound) {
  OPEN_TAP_OR_SKIP(tap, 5, 1);  // one block: 315 packets
  uint32_t next = 1;
  for (int round = 0; round < 20; ++round) {
    for (uint32_t i = 0; i < 50; ++i) send(next + i);
    for (const Packet& packet : drain(tap)) {
      if (!packet.outgoing) continue;
      ASSERT_EQ(packet.bytes, 28 + next);
      ++next;
    }
  }
  EXPECT_EQ(next, 1001u);
  EXPECT_EQ(tap.unseen().value(), 0u);
}

TEST_F(PacketTapTest, CountsWhatItHasNoRoomForAndKeepsTheOldest) {
  OPEN_TAP_OR_SKIP(tap, 5, 1);
  for (uint32_t i = 1; i <= 500; ++i) send(i);
  const auto seen = drain(tap);
  ASSERT_EQ(seen.size(), 315u);
  EXPECT_EQ(seen[0].bytes, 29u);
  const uint64_t unseen = tap.unseen().value();
  EXPECT_GE(unseen, 500u - 315u);
  EXPECT_EQ(tap.unseen().value(), unseen)
      << "the kernel's counter starts anew when it is read, ours does not";
  send(7);
  const auto later = drain(tap);
  ASSERT_FALSE(later.empty());
  EXPECT_EQ(later[0].bytes, 35u) << "with room again it goes on";
}

TEST_F(PacketTapTest, OnALinkThatIsNotThereNamesIt) {
  const auto tap = PacketTap::open(77, 10);
  EXPECT_FALSE(tap.ok());
  if (!absl::IsUnimplemented(tap.status()))
    EXPECT_THAT(tap.status().message(), testing::HasSubstr("link 77"));
}

}  // namespace
}  // namespace hopyard::netlink

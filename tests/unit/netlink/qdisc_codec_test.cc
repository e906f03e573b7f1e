// SPDX-License-Identifier: Apache-2.0
// fq and netem options there and back, bit by bit; cut and hostile messages.
#include "netlink/qdisc_codec.h"

#include <gmock/gmock.h>
#include <libmnl/libmnl.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include <cmath>

namespace hopyard::netlink {
namespace {

using std::chrono::nanoseconds;
using testing::HasSubstr;

using Buffer = std::vector<uint8_t>;

// A qdisc message as the kernel would send it, had it taken these options.
template <typename Options>
wire::Request message(const char* kind, const Options& options) {
  wire::Request request(RTM_NEWQDISC, 0);
  auto* header = request.extra<tcmsg>();
  header->tcm_ifindex = 3;
  header->tcm_handle = 0x80010000;
  header->tcm_parent = TC_H_ROOT;
  mnl_attr_put_strz(request.header(), TCA_KIND, kind);
  put_options(request.header(), options);
  return request;
}

Buffer payload_of(wire::Request request) {
  const wire::Bytes bytes = request.bytes();
  return {bytes.begin() + sizeof(nlmsghdr), bytes.end()};
}

NetemOptions there_and_back(const NetemOptions& options) {
  EXPECT_TRUE(check(options).ok()) << check(options);
  const auto info = decode_qdisc(payload_of(message("netem", options)));
  return info->netem.value();
}

double number(const QdiscInfo& info, std::string_view name) {
  for (const QdiscValue& entry : info.options) {
    if (entry.name == name) return std::visit([](auto v) { return static_cast<double>(v); }, entry.value);
  }
  ADD_FAILURE() << "no option " << name;
  return -1;
}

TEST(NetemOptionsTest, EveryPartComesBack) {
  const NetemOptions options{.limit_packets = 12345,
                             .delay = nanoseconds(10'000'001),
                             .jitter = nanoseconds(999),
                             .rate_bps = 20'000'000,
                             .loss = netem_fraction(4294967),
                             .duplicate = netem_fraction(1),
                             .corrupt = netem_fraction(2),
                             .reorder = netem_fraction(0xfffffffe),
                             .reorder_gap = 5,
                             .seed = 0xfedcba9876543210};
  EXPECT_EQ(there_and_back(options), options);
  EXPECT_EQ(there_and_back({.limit_packets = 1}), NetemOptions{.limit_packets = 1});
}

TEST(NetemOptionsTest, FractionsKeepTheirBits) {
  for (const uint32_t bits : {0u, 1u, 2u, 4294967u, 0x7fffffffu, 0x80000000u, 0xfffffffeu, 0xffffffffu}) {
    EXPECT_EQ(netem_fraction_bits(netem_fraction(bits)), bits);
  }
  EXPECT_EQ(netem_fraction_bits(0.001), 4294967u);  // as `tc … loss 0.1%` sends it
  EXPECT_EQ(netem_fraction_bits(1), 0xffffffffu);
  EXPECT_EQ(netem_fraction_bits(0.5), static_cast<uint32_t>(std::rint(0.5 * 4294967295.0)));
}

TEST(NetemOptionsTest, RatesOfEitherWidthComeBack) {
  constexpr uint64_t kEdge = uint64_t{8} << 32;
  for (const uint64_t rate : {uint64_t{8}, kEdge - 16, kEdge - 8, kEdge, kEdge + 8, uint64_t{1} << 60}) {
    const NetemOptions options{.limit_packets = 1, .rate_bps = rate};
    EXPECT_EQ(there_and_back(options).rate_bps, rate);
    EXPECT_EQ(number(*decode_qdisc(payload_of(message("netem", options))), "rate"),
              static_cast<double>(rate / 8));
  }
}

TEST(NetemOptionsTest, TimesComeBackToTheNanosecond) {
  for (const int64_t ns : {int64_t{1}, int64_t{63}, int64_t{64}, int64_t{10'000'000},
                           int64_t{274'877'906'944}, int64_t{1} << 60}) {
    const NetemOptions options{.limit_packets = 1, .delay = nanoseconds(ns), .jitter = nanoseconds(ns - 1)};
    EXPECT_EQ(there_and_back(options).delay.count(), ns);
    EXPECT_EQ(there_and_back(options).jitter.count(), ns - 1);
  }
}

TEST(NetemOptionsTest, AKernelWithoutNanosecondsIsReadInTicks) {
  wire::Request request(RTM_NEWQDISC, 0);
  request.extra<tcmsg>();
  mnl_attr_put_strz(request.header(), TCA_KIND, "netem");
  const tc_netem_qopt qopt{.latency = 156250, .limit = 1000, .jitter = 2};
  mnl_attr_put(request.header(), TCA_OPTIONS, sizeof qopt, &qopt);
  const auto info = decode_qdisc(payload_of(request));
  EXPECT_EQ(info->netem->delay, std::chrono::milliseconds(10));
  EXPECT_EQ(info->netem->jitter, nanoseconds(128));
  EXPECT_FALSE(info->netem->seed.has_value());
}

TEST(NetemOptionsTest, JsonIsFlatAndKeepsEveryDigit) {
  const NetemOptions options{.limit_packets = 1000,
                             .delay = nanoseconds(10'000'001),
                             .rate_bps = 80'000'000'000,
                             .loss = 0.001,
                             .seed = 18446744073709551615u};
  const std::string json = decode_qdisc(payload_of(message("netem", options)))->options_json();
  EXPECT_THAT(json, testing::StartsWith("{\"limit\":1000,\"delay\":0.010000001,\"jitter\":0,"));
  EXPECT_THAT(json, HasSubstr("\"rate\":10000000000,"));
  EXPECT_THAT(json, testing::EndsWith("\"ecn\":false,\"gap\":0,\"seed\":18446744073709551615}"));
  const size_t loss = json.find("\"loss\":") + 7;
  EXPECT_EQ(netem_fraction_bits(std::strtod(json.c_str() + loss, nullptr)), netem_fraction_bits(0.001));
}

TEST(NetemOptionsTest, ReorderWithoutGapMeansEveryPacket) {
  const NetemOptions options{.limit_packets = 1, .delay = nanoseconds(5), .reorder = 0.25};
  EXPECT_EQ(there_and_back(options).reorder_gap, 1u);
}

TEST(FqOptionsTest, WhatIsGivenComesBackAndTheRestIsAbsent) {
  const FqOptions options{.limit_packets = 10000,
                          .flow_limit_packets = 200,
                          .pacing = true,
                          .quantum_bytes = 3028,
                          .initial_quantum_bytes = 15140,
                          .horizon_drop = false};
  const auto info = decode_qdisc(payload_of(message("fq", options)));
  EXPECT_EQ(info->fq, options);
  EXPECT_EQ(info->link, 3);
  EXPECT_EQ(info->handle, 0x80010000u);
  EXPECT_EQ(info->parent, TC_H_ROOT);
  EXPECT_EQ(info->options_json(),
            "{\"limit\":10000,\"flow_limit\":200,\"quantum\":3028,\"initial_quantum\":15140,"
            "\"pacing\":true,\"horizon_drop\":false}");
}

TEST(FqOptionsTest, EveryOptionComesBack) {
  FqOptions options{1, 2, false, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, true};
  const auto info = decode_qdisc(payload_of(message("fq", options)));
  EXPECT_EQ(info->fq, options);
  EXPECT_EQ(number(*info, "buckets"), 128);  // shown as their number, kept as its logarithm
}

// Appends the counters of every kind, and fq's own cut to `fq_bytes`.
void put_stats(nlmsghdr* request, size_t fq_bytes) {
  nlattr* nest = mnl_attr_nest_start(request, TCA_STATS2);
  const gnet_stats_basic basic{.bytes = 1ull << 40, .packets = 7};
  const gnet_stats_queue queue{.qlen = 3, .backlog = 4500, .drops = 2, .requeues = 1, .overlimits = 9};
  std::array<uint8_t, 168> fq{};
  for (size_t i = 0; i < fq.size(); ++i) fq[i] = static_cast<uint8_t>(i % 8 == 0 ? i / 8 + 1 : 0);
  mnl_attr_put(request, TCA_STATS_BASIC, sizeof basic, &basic);
  mnl_attr_put(request, TCA_STATS_QUEUE, sizeof queue, &queue);
  mnl_attr_put(request, TCA_STATS_APP, fq_bytes, fq.data());
  mnl_attr_nest_end(request, nest);
}

TEST(QdiscCountersTest, AreReadFromTheNestedForm) {
  wire::Request request = message("fq", FqOptions{});
  put_stats(request.header(), 168);
  const auto info = decode_qdisc(payload_of(request));
  EXPECT_EQ(info->bytes, 1ull << 40);
  EXPECT_EQ(info->packets, 7u);
  EXPECT_EQ(info->backlog_packets, 3u);
  EXPECT_EQ(info->backlog_bytes, 4500u);
  EXPECT_EQ(info->drops, 2u);
  EXPECT_EQ(info->requeues, 1u);
  EXPECT_EQ(info->overlimits, 9u);
  EXPECT_THAT(info->xstats_json(), testing::AllOf(HasSubstr("{\"gc_flows\":1,\"highprio_packets\":2,"),
                                                  HasSubstr("\"time_next_delayed_flow\":8,\"flows\":9,"),
                                                  HasSubstr("\"band2_drops\":17,\"band0_pkt_count\":18,")));
}

TEST(QdiscCountersTest, AnOlderKernelsFqGivesFewer) {
  wire::Request request = message("fq", FqOptions{});
  put_stats(request.header(), 80);  // up to unthrottle_latency_ns
  const auto info = decode_qdisc(payload_of(request));
  EXPECT_EQ(info->xstats.size(), 12u);
  EXPECT_THAT(info->xstats_json(), testing::Not(HasSubstr("ce_mark")));
}

// Each test message in a block of exactly its size, so that a sanitizer sees any step beyond it.
std::vector<Buffer> samples() {
  wire::Request fq = message("fq", FqOptions{1, 2, false, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, true});
  put_stats(fq.header(), 168);
  wire::Request netem = message("netem", NetemOptions{.limit_packets = 9,
                                                      .delay = nanoseconds(1),
                                                      .rate_bps = 1ull << 40,
                                                      .corrupt = 0.5,
                                                      .reorder = 0.5,
                                                      .seed = 1});
  put_stats(netem.header(), 168);
  return {payload_of(fq), payload_of(netem)};
}

TEST(HostileQdiscMessages, CutAnywhereGiveNoMoreThanWasThere) {
  for (const Buffer& whole : samples()) {
    const auto all = decode_qdisc(whole);
    for (size_t size = 0; size <= whole.size(); ++size) {
      const Buffer cut(whole.begin(), whole.begin() + static_cast<long>(size));
      const auto info = decode_qdisc(cut);
      EXPECT_EQ(info.has_value(), size >= sizeof(tcmsg)) << size;
      if (!info) continue;
      EXPECT_LE(info->options.size(), all->options.size());
      EXPECT_LE(info->xstats.size(), all->xstats.size());
    }
  }
}

TEST(HostileQdiscMessages, AnyByteMayBeWrong) {
  for (const Buffer& whole : samples()) {
    for (size_t at = 0; at < whole.size(); ++at) {
      for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
        Buffer changed = whole;
        changed[at] = static_cast<uint8_t>(value);
        const auto info = decode_qdisc(changed);
        ASSERT_TRUE(info.has_value());
        EXPECT_EQ(info->options_json().back(), '}');
        EXPECT_EQ(info->xstats_json().back(), '}');
      }
    }
  }
}

}  // namespace
}  // namespace hopyard::netlink

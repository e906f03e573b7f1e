// SPDX-License-Identifier: Apache-2.0
// Queueing disciplines over rtnetlink (libmnl): fq and netem set and read back bit by bit, every qdisc's
// counters. Knows no path.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/fd.h"
#include "base/status.h"

namespace hopyard::netlink {

// Absent: not sent (the kernel's default), or not reported by this kernel.
struct FqOptions {
  std::optional<uint32_t> limit_packets;
  std::optional<uint32_t> flow_limit_packets;
  std::optional<bool> pacing;
  std::optional<uint32_t> quantum_bytes;
  std::optional<uint32_t> initial_quantum_bytes;
  std::optional<uint32_t> max_rate_bytes_per_s;  // per flow; 2^32-1: none
  std::optional<uint32_t> buckets_log;           // log2 of the number of buckets
  std::optional<uint32_t> refill_delay_us;
  std::optional<uint32_t> orphan_mask;
  std::optional<uint32_t> low_rate_threshold_bytes_per_s;
  std::optional<uint32_t> ce_threshold_us;  // 2^32-1: none
  std::optional<uint32_t> timer_slack_ns;
  std::optional<uint32_t> horizon_us;
  std::optional<bool> horizon_drop;

  bool operator==(const FqOptions&) const = default;
};

// Fractions are of 1. The kernel keeps them as 32-bit integers: compare with netem_fraction_bits.
struct NetemOptions {
  uint32_t limit_packets = 0;  // must be given: the kernel would take 0 as "drop everything"
  std::chrono::nanoseconds delay{0};
  std::chrono::nanoseconds jitter{0};
  uint64_t rate_bps = 0;  // bit/s, a multiple of 8 (the kernel counts bytes); 0: no limit
  double loss = 0;
  double duplicate = 0;
  double corrupt = 0;
  double reorder = 0;        // needs a delay; this fraction is sent at once
  uint32_t reorder_gap = 0;  // every gap-th packet is a candidate; 0 with reorder: 1, as tc does
  // Seed of the random numbers. netem knows it since Linux 6.6; an older one ignores it silently and reads
  // back without.
  std::optional<uint64_t> seed;

  bool operator==(const NetemOptions&) const = default;
};

// The kernel's 32-bit form of a fraction, rounded as tc rounds: 0 is never, 2^32-1 is always.
uint32_t netem_fraction_bits(double fraction);
double netem_fraction(uint32_t bits);

// Names are static text. Integers where the kernel has integers; doubles only for fractions and seconds.
struct QdiscValue {
  std::string_view name;
  std::variant<bool, uint64_t, int64_t, double> value;
};

struct QdiscInfo {
  int link = 0;      // link index
  std::string kind;  // "fq", "netem", "noqueue", …
  uint32_t handle = 0;
  uint32_t parent = 0;  // 0xffffffff: root
  // Every option of fq and netem that the kernel reported, named as `tc -j` names them; nested ones are
  // flattened (netem: delay and jitter in seconds, delay_correlation, loss, rate in byte/s, seed, …).
  std::vector<QdiscValue> options;
  std::optional<FqOptions> fq;        // kind "fq"
  std::optional<NetemOptions> netem;  // kind "netem"
  uint64_t bytes = 0;
  uint64_t packets = 0;
  uint64_t drops = 0;
  uint64_t overlimits = 0;
  uint64_t requeues = 0;
  uint64_t backlog_bytes = 0;
  uint64_t backlog_packets = 0;
  // Counters of the kind itself; fq's by the members of struct tc_fq_qd_stats (gc_flows, throttled, flows,
  // …).
  std::vector<QdiscValue> xstats;

  std::string options_json() const;  // one flat JSON object; doubles with all their digits
  std::string xstats_json() const;
};

// A NETLINK_ROUTE socket of the network namespace its opener was in; usable from anywhere later, by one
// thread at a time.
class QdiscSocket {
 public:
  static absl::StatusOr<QdiscSocket> open();

  // At the link's root, in place of the default; ALREADY_EXISTS if one was set before, NOT_FOUND if the
  // kernel has no such kind, INVALID_ARGUMENT (before anything is sent) if the kernel could not hold the
  // values exactly.
  absl::Status add_root(int link, const FqOptions& options);
  absl::Status add_root(int link, const NetemOptions& options);
  // Back to the default qdisc.
  absl::Status delete_root(int link);

  // All qdiscs of the namespace.
  absl::StatusOr<std::vector<QdiscInfo>> dump();
  // Entries of traffic-control filters at the link's root qdisc, as `tc filter show` lists them; 0: no
  // filter.
  absl::StatusOr<size_t> count_filters(int link);

 private:
  explicit QdiscSocket(base::Fd fd);
  template <typename Options>
  absl::Status add(const char* kind, int link, const Options& options);
  base::Fd fd_;
  uint32_t sequence_ = 0;
  std::vector<char> buffer_;
};

}  // namespace hopyard::netlink

// SPDX-License-Identifier: Apache-2.0
// Reads and writes /proc/sys/net of the calling thread's namespace, by allow-list.
#include "lab/sysctl.h"

#include <fcntl.h>

#include <algorithm>
#include <array>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/fd.h"
#include "fmt/format.h"

namespace hopyard::lab {
namespace {

// Everything here is per namespace; nothing that reaches beyond it may be added.
constexpr std::array kWritable = {
    std::string_view("net.ipv4.ip_forward"),
    std::string_view("net.ipv4.conf.all.rp_filter"),
    std::string_view("net.ipv4.conf.default.rp_filter"),
    std::string_view("net.ipv4.tcp_congestion_control"),
    std::string_view("net.ipv4.tcp_ecn"),
    std::string_view("net.ipv4.tcp_no_metrics_save"),
    std::string_view("net.ipv4.tcp_notsent_lowat"),
    std::string_view("net.ipv4.tcp_orphan_retries"),
    std::string_view("net.ipv4.tcp_rmem"),
    std::string_view("net.ipv4.tcp_wmem"),
    std::string_view("net.ipv6.conf.all.disable_ipv6"),
    std::string_view("net.ipv6.conf.all.forwarding"),
    std::string_view("net.ipv6.conf.default.accept_dad"),
    std::string_view("net.ipv6.conf.default.accept_ra"),
    std::string_view("net.ipv6.conf.default.addr_gen_mode"),
    std::string_view("net.ipv6.conf.default.disable_ipv6"),
    std::string_view("net.ipv6.conf.default.forwarding"),
};

constexpr std::array kRecorded = {
    std::string_view("net.ipv4.ip_forward"),
    std::string_view("net.ipv6.conf.all.forwarding"),
    std::string_view("net.ipv4.tcp_available_congestion_control"),
    std::string_view("net.ipv4.tcp_congestion_control"),
    std::string_view("net.ipv4.tcp_adv_win_scale"),
    std::string_view("net.ipv4.tcp_autocorking"),
    std::string_view("net.ipv4.tcp_early_retrans"),
    std::string_view("net.ipv4.tcp_ecn"),
    std::string_view("net.ipv4.tcp_fastopen"),
    std::string_view("net.ipv4.tcp_limit_output_bytes"),
    std::string_view("net.ipv4.tcp_mem"),
    std::string_view("net.ipv4.tcp_min_tso_segs"),
    std::string_view("net.ipv4.tcp_moderate_rcvbuf"),
    std::string_view("net.ipv4.tcp_no_metrics_save"),
    std::string_view("net.ipv4.tcp_notsent_lowat"),
    std::string_view("net.ipv4.tcp_pacing_ca_ratio"),
    std::string_view("net.ipv4.tcp_pacing_ss_ratio"),
    std::string_view("net.ipv4.tcp_recovery"),
    std::string_view("net.ipv4.tcp_rmem"),
    std::string_view("net.ipv4.tcp_sack"),
    std::string_view("net.ipv4.tcp_slow_start_after_idle"),
    std::string_view("net.ipv4.tcp_timestamps"),
    std::string_view("net.ipv4.tcp_tso_rtt_log"),
    std::string_view("net.ipv4.tcp_window_scaling"),
    std::string_view("net.ipv4.tcp_wmem"),
};

std::string proc_path(std::string_view name) {
  std::string path = "/proc/sys/";
  path += name;
  std::replace(path.begin(), path.end(), '.', '/');
  return path;
}

// The kernel separates with tabs and ends with a newline.
std::string normalised(std::string_view text) {
  const std::vector<std::string> words = absl::StrSplit(absl::string_view(text.data(), text.size()),
                                                        absl::ByAnyChar(" \t\n"), absl::SkipEmpty());
  return absl::StrJoin(words, " ");
}

}  // namespace

absl::StatusOr<std::string> read_sysctl(std::string_view name) {
  HOPYARD_ASSIGN_OR_RETURN(const std::string text, base::read_file(proc_path(name), 64u << 10));
  return normalised(text);
}

absl::Status write_sysctl(std::string_view name, std::string_view value) {
  if (std::find(kWritable.begin(), kWritable.end(), name) == kWritable.end()) {
    return absl::InvalidArgumentError(fmt::format("set: {}: not a setting the lab may change", name));
  }
  HOPYARD_ASSIGN_OR_RETURN(const std::string before, read_sysctl(name));
  // Some writes take the kernel's network lock: spared where there is nothing to change.
  if (before == normalised(value)) return absl::OkStatus();
  const absl::Status written = base::write_existing(proc_path(name), value);
  if (!written.ok()) {
    return absl::FailedPreconditionError(
        fmt::format("set: {} to '{}': {}", name, value, std::string(written.message())));
  }
  HOPYARD_ASSIGN_OR_RETURN(const std::string seen, read_sysctl(name));
  if (seen == normalised(value)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("set: {}: wrote '{}', the kernel reads back '{}'", name, value, seen));
}

std::span<const std::string_view> recorded_sysctls() { return kRecorded; }

}  // namespace hopyard::lab

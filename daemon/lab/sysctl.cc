// SPDX-License-Identifier: Apache-2.0
// Reads and writes /proc/sys/net of the calling thread's namespace, by allow-list.
#include "lab/sysctl.h"

#include <fcntl.h>
#include <unistd.h>

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

// The kernel gives a value whole to one read that has room for it; a guest pays dearly for each call.
absl::StatusOr<std::string> read_value(const base::Fd& file, std::string_view name) {
  std::array<char, 4096> buffer;
  const ssize_t n = ::pread(file.get(), buffer.data(), buffer.size(), 0);
  if (n < 0) return base::errno_status("read", proc_path(name));
  if (n == static_cast<ssize_t>(buffer.size())) {
    return absl::ResourceExhaustedError(fmt::format("read: {}: {} bytes or more", proc_path(name), n));
  }
  return normalised(std::string_view(buffer.data(), static_cast<size_t>(n)));
}

}  // namespace

absl::StatusOr<std::string> read_sysctl(std::string_view name) {
  HOPYARD_ASSIGN_OR_RETURN(const base::Fd file, base::open_file(proc_path(name), O_RDONLY));
  return read_value(file, name);
}

absl::Status write_sysctl(std::string_view name, std::string_view value) {
  if (std::find(kWritable.begin(), kWritable.end(), name) == kWritable.end()) {
    return absl::InvalidArgumentError(fmt::format("set: {}: not a setting the lab may change", name));
  }
  HOPYARD_ASSIGN_OR_RETURN(const base::Fd file, base::open_file(proc_path(name), O_RDWR));
  HOPYARD_ASSIGN_OR_RETURN(const std::string before, read_value(file, name));
  // Some writes take the kernel's network lock: spared where there is nothing to change.
  if (before == normalised(value)) return absl::OkStatus();
  if (::pwrite(file.get(), value.data(), value.size(), 0) != static_cast<ssize_t>(value.size())) {
    const absl::Status refused = base::errno_status("write", proc_path(name));
    return absl::FailedPreconditionError(
        fmt::format("set: {} to '{}': {}", name, value, std::string(refused.message())));
  }
  HOPYARD_ASSIGN_OR_RETURN(const std::string seen, read_value(file, name));
  if (seen == normalised(value)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("set: {}: wrote '{}', the kernel reads back '{}'", name, value, seen));
}

std::span<const std::string_view> recorded_sysctls() { return kRecorded; }

}  // namespace hopyard::lab

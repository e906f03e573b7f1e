// SPDX-License-Identifier: Apache-2.0
// The settings of each side. Knows no links.
#include "lab/settings.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "fmt/format.h"

namespace hopyard::lab {
namespace {

constexpr std::string_view kCongestionControl = "net.ipv4.tcp_congestion_control";

// A new namespace inherits IPv4's device settings from the machine's first one.
void add_ipv4(Side side, std::vector<Sysctl>& out) {
  out.push_back({"net.ipv4.ip_forward", side == Side::kRouter ? "1" : "0"});
  out.push_back({"net.ipv4.conf.all.rp_filter", "0"});
  out.push_back({"net.ipv4.conf.default.rp_filter", "0"});
}

// The defaults are taken over by the links made later. Nothing may be sent but what a trial sends: no
// link-local addresses, no detection, no solicitations; and the router's links are no IPv6 "routers" by
// themselves, or they would join and report the all-routers group (packets are forwarded by conf.all alone).
void add_ipv6(Side side, std::vector<Sysctl>& out) {
  out.push_back({"net.ipv6.conf.all.disable_ipv6", "0"});
  out.push_back({"net.ipv6.conf.default.disable_ipv6", "0"});
  out.push_back({"net.ipv6.conf.all.forwarding", side == Side::kRouter ? "1" : "0"});
  out.push_back({"net.ipv6.conf.default.forwarding", "0"});
  out.push_back({"net.ipv6.conf.default.accept_ra", "0"});
  out.push_back({"net.ipv6.conf.default.accept_dad", "0"});
  out.push_back({"net.ipv6.conf.default.addr_gen_mode", "1"});
}

// The buffers are those of a common host; the kernel would derive their maxima from the machine's memory.
void add_tcp(std::vector<Sysctl>& out) {
  out.push_back({"net.ipv4.tcp_no_metrics_save", "1"});
  out.push_back({"net.ipv4.tcp_ecn", "2"});
  out.push_back({"net.ipv4.tcp_rmem", "4096 131072 6291456"});
  out.push_back({"net.ipv4.tcp_wmem", "4096 16384 4194304"});
}

// What a refused setting's reader wants to know besides the refusal.
absl::Status explain(const absl::Status& refused, Side side, const Sysctl& setting) {
  absl::Status status = base::annotate(refused, "set up path", side_name(side));
  if (setting.name != kCongestionControl) return status;
  const auto offered = read_sysctl("net.ipv4.tcp_available_congestion_control");
  const auto allowed = read_sysctl("net.ipv4.tcp_allowed_congestion_control");
  if (!offered.ok() || !allowed.ok()) return status;
  return absl::Status(status.code(),
                      fmt::format("{}; this kernel has '{}' and lets namespaces choose from '{}'",
                                  std::string(status.message()), *offered, *allowed));
}

}  // namespace

absl::Status set_client_congestion_control(int fd) {
  constexpr std::string_view kWanted = kClientCongestionControl;
  if (::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, kWanted.data(), kWanted.size()) == 0)
    return absl::OkStatus();
  if (errno == ENOENT) return absl::OkStatus();
  return base::errno_status("set congestion control of the client's socket", kWanted);
}

absl::Status check_settings(const RoutedSpec& spec) {
  if (!spec.notsent_lowat_bytes || *spec.notsent_lowat_bytes <= UINT32_MAX) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("set up path: notsent_lowat: {} bytes do not fit 32 bits", *spec.notsent_lowat_bytes));
}

std::vector<Sysctl> settings_for(Side side, const RoutedSpec& spec, bool ipv6) {
  std::vector<Sysctl> out;
  add_ipv4(side, out);
  if (ipv6) add_ipv6(side, out);
  if (side != Side::kRouter) add_tcp(out);
  // A namespace inherits the machine's congestion control; the client's shall not follow it.
  if (side == Side::kClient) out.push_back({kCongestionControl, kClientCongestionControl});
  if (side == Side::kServer && spec.congestion_control)
    out.push_back({kCongestionControl, *spec.congestion_control});
  if (side == Side::kServer && spec.notsent_lowat_bytes) {
    out.push_back({"net.ipv4.tcp_notsent_lowat", fmt::format("{}", *spec.notsent_lowat_bytes)});
  }
  return out;
}

absl::Status apply_settings(Side side, const RoutedSpec& spec, bool ipv6,
                            std::vector<std::string>& unsupported) {
  for (const Sysctl& setting : settings_for(side, spec, ipv6)) {
    absl::Status status = write_sysctl(setting.name, setting.value);
    if (status.ok()) continue;
    status = explain(status, side, setting);
    const bool can_go_without = side == Side::kClient && setting.name == kCongestionControl;
    if (!can_go_without) return status;
    unsupported.emplace_back(status.message());
  }
  return absl::OkStatus();
}

}  // namespace hopyard::lab

// SPDX-License-Identifier: Apache-2.0
// Makes, impairs, watches and ends loopback paths.
#include "lab/loopback_path.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

#include "fmt/format.h"
#include "lab/end.h"
#include "lab/impairment.h"
#include "lab/link_up.h"
#include "lab/readback.h"
#include "lab/settings.h"
#include "lab/sysctl.h"
#include "netlink/route.h"

namespace hopyard::lab {
namespace {

constexpr uint32_t kRootParent = 0xffffffff;

LinkPlan lo() { return {.side = Side::kLoopback, .index = 1, .name = "lo", .mac = "", .addresses = {}}; }

absl::Status set_up(const RoutedSpec& spec, std::vector<std::string>& unsupported) {
  // Client and server share them; what the client shall not have is set on its socket.
  HOPYARD_RETURN_IF_ERROR(apply_settings(Side::kServer, spec, /*ipv6=*/false, unsupported));
  return bring_up_silently(lo().name);
}

}  // namespace

struct LoopbackPath::Parts {
  RoutedSpec spec;
  End end;
  netlink::NamespaceWatch watch;
  std::vector<std::string> unsupported;
};

LoopbackPath::LoopbackPath(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
LoopbackPath::LoopbackPath(LoopbackPath&&) noexcept = default;
LoopbackPath& LoopbackPath::operator=(LoopbackPath&&) noexcept = default;
LoopbackPath::~LoopbackPath() = default;

absl::StatusOr<LoopbackPath> LoopbackPath::make(const RoutedSpec& spec) {
  HOPYARD_RETURN_IF_ERROR(check_impairment(spec));
  HOPYARD_RETURN_IF_ERROR(check_settings(spec));
  HOPYARD_ASSIGN_OR_RETURN(auto watch, netlink::NamespaceWatch::open());
  HOPYARD_ASSIGN_OR_RETURN(NetNamespace netns, NetNamespace::make());
  HOPYARD_RETURN_IF_ERROR(base::annotate(watch.add(netns.fd()).status(), "watch namespace", "loopback"));
  HOPYARD_ASSIGN_OR_RETURN(End end, End::make(std::move(netns)));
  std::vector<std::string> unsupported = {kNoTcpMem};
  HOPYARD_RETURN_IF_ERROR(end.netns.run([&] { return set_up(spec, unsupported); }));
  LoopbackPath path(
      std::make_unique<Parts>(Parts{spec, std::move(end), std::move(watch), std::move(unsupported)}));
  HOPYARD_ASSIGN_OR_RETURN(const Observed observed, path.observe());
  const LinkState& link = observed.links.front();
  if (link.running && link.mtu == kLoopbackMtu && observed.filters == 0) return path;
  return absl::FailedPreconditionError(
      fmt::format("read back path: lo: {}, MTU {} (expected {}), {} traffic-control filters",
                  link.running ? "running" : "not running", link.mtu, kLoopbackMtu, observed.filters));
}

const NetNamespace& LoopbackPath::in() const { return parts_->end.netns; }

absl::StatusOr<std::vector<std::string>> LoopbackPath::impair() {
  const absl::Status added = parts_->end.qdisc.add_root(lo().index, loopback_options(parts_->spec));
  if (absl::IsNotFound(added)) {
    return absl::FailedPreconditionError(
        fmt::format("set qdisc: lo: this kernel has no netem ({})", std::string(added.message())));
  }
  HOPYARD_RETURN_IF_ERROR(base::annotate(added, "set qdisc", "lo"));
  HOPYARD_ASSIGN_OR_RETURN(const QdiscSnapshot seen, snapshot_qdisc());
  std::vector<std::string> unsupported;
  HOPYARD_RETURN_IF_ERROR(compare_loopback_qdisc(parts_->spec, seen, unsupported));
  return unsupported;
}

absl::StatusOr<base::Fd> LoopbackPath::tcp_socket() const {
  return in().run([]() -> absl::StatusOr<base::Fd> {
    base::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!fd.valid()) return base::errno_status("open TCP socket", "loopback");
    HOPYARD_RETURN_IF_ERROR(set_client_congestion_control(fd.get()));
    return fd;
  });
}

absl::StatusOr<Observed> LoopbackPath::observe() const {
  Observed observed;
  End& end = parts_->end;
  HOPYARD_ASSIGN_OR_RETURN(const auto links, end.route.links());
  HOPYARD_ASSIGN_OR_RETURN(const auto addresses, end.route.addresses());
  HOPYARD_ASSIGN_OR_RETURN(LinkState link, read_link(lo(), end, links, addresses));
  observed.links.push_back(std::move(link));
  HOPYARD_ASSIGN_OR_RETURN(const size_t filters, end.qdisc.count_filters(lo().index));
  observed.filters = static_cast<uint32_t>(filters);
  HOPYARD_RETURN_IF_ERROR(end.netns.run([&] { return read_settings_of(Side::kLoopback, observed); }));
  observed.unsupported = parts_->unsupported;
  return observed;
}

absl::StatusOr<QdiscSnapshot> LoopbackPath::snapshot_qdisc() const {
  const int64_t taken_ns = base::monotonic_ns();
  HOPYARD_ASSIGN_OR_RETURN(auto qdiscs, parts_->end.qdisc.dump());
  const auto root = std::find_if(qdiscs.begin(), qdiscs.end(), [](const netlink::QdiscInfo& qdisc) {
    return qdisc.link == lo().index && qdisc.parent == kRootParent;
  });
  if (root == qdiscs.end()) return absl::NotFoundError("read qdisc: lo: none");
  return QdiscSnapshot{Side::kLoopback, lo().name, taken_ns, std::move(*root)};
}

absl::StatusOr<SocketSnapshot> LoopbackPath::snapshot_connection(Side side, uint16_t client_port,
                                                                 uint16_t server_port) const {
  const std::string client = fmt::format("{}:{}", kLoopbackAddress, client_port);
  const std::string server = fmt::format("{}:{}", kLoopbackAddress, server_port);
  const bool at_server = side == Side::kServer;
  const int64_t taken_ns = base::monotonic_ns();
  HOPYARD_ASSIGN_OR_RETURN(
      auto found, parts_->end.sockets.find(at_server ? server : client, at_server ? client : server));
  return SocketSnapshot{side, taken_ns, std::move(found)};
}

// What closed sockets still have to say goes over the lo of the namespace that they keep alive.
absl::StatusOr<bool> LoopbackPath::tear_down(const base::Deadline& deadline) && {
  const std::unique_ptr<Parts> parts = std::move(parts_);
  // As on a routed path: no minutes of retransmissions to nobody.
  HOPYARD_RETURN_IF_ERROR(
      parts->end.netns.run([] { return write_sysctl("net.ipv4.tcp_orphan_retries", "1"); }));
  { const End dropped = std::move(parts->end); }
  const absl::Status gone = parts->watch.wait_all_gone(deadline);
  if (absl::IsDeadlineExceeded(gone)) return false;
  HOPYARD_RETURN_IF_ERROR(gone);
  return true;
}

}  // namespace hopyard::lab

// SPDX-License-Identifier: Apache-2.0
// Sends qdisc requests and dumps qdiscs and filters.
#include "netlink/qdisc.h"

#include <libmnl/libmnl.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "fmt/format.h"
#include "netlink/qdisc_codec.h"

namespace hopyard::netlink {
namespace {

wire::Request link_request(uint16_t type, uint16_t flags, int link, uint32_t parent) {
  wire::Request request(type, flags);
  auto* message = request.extra<tcmsg>();
  message->tcm_family = AF_UNSPEC;
  message->tcm_ifindex = link;
  message->tcm_parent = parent;
  return request;
}

void ignore(uint16_t, wire::Bytes) {}

}  // namespace

QdiscSocket::QdiscSocket(base::Fd fd) : fd_(std::move(fd)) {}

absl::StatusOr<QdiscSocket> QdiscSocket::open() {
  HOPYARD_ASSIGN_OR_RETURN(base::Fd fd, wire::open_socket(NETLINK_ROUTE));
  return QdiscSocket(std::move(fd));
}

template <typename Options>
absl::Status QdiscSocket::add(const char* kind, int link, const Options& options) {
  HOPYARD_RETURN_IF_ERROR(check(options));
  wire::Request request = link_request(RTM_NEWQDISC, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, link, TC_H_ROOT);
  mnl_attr_put_strz(request.header(), TCA_KIND, kind);
  put_options(request.header(), options);
  request.header()->nlmsg_seq = ++sequence_;
  return base::annotate(wire::exchange(fd_.get(), request.bytes(), buffer_, ignore),
                        fmt::format("add {}", kind), fmt::format("root of link {}", link));
}

absl::Status QdiscSocket::add_root(int link, const FqOptions& options) { return add("fq", link, options); }

absl::Status QdiscSocket::add_root(int link, const NetemOptions& options) {
  return add("netem", link, options);
}

absl::Status QdiscSocket::delete_root(int link) {
  wire::Request request = link_request(RTM_DELQDISC, NLM_F_ACK, link, TC_H_ROOT);
  request.header()->nlmsg_seq = ++sequence_;
  return base::annotate(wire::exchange(fd_.get(), request.bytes(), buffer_, ignore), "delete qdisc",
                        fmt::format("root of link {}", link));
}

absl::StatusOr<std::vector<QdiscInfo>> QdiscSocket::dump() {
  wire::Request request = link_request(RTM_GETQDISC, NLM_F_DUMP, 0, 0);
  std::vector<QdiscInfo> qdiscs;
  absl::Status status;
  for (int attempts = 0; attempts < 4; ++attempts) {
    qdiscs.clear();
    request.header()->nlmsg_seq = ++sequence_;
    status = wire::exchange(fd_.get(), request.bytes(), buffer_, [&](uint16_t type, wire::Bytes payload) {
      if (type != RTM_NEWQDISC) return;
      if (auto info = decode_qdisc(payload)) qdiscs.push_back(*std::move(info));
    });
    if (!absl::IsAborted(status)) break;
  }
  HOPYARD_RETURN_IF_ERROR(base::annotate(status, "list", "qdiscs"));
  return qdiscs;
}

absl::StatusOr<size_t> QdiscSocket::count_filters(int link) {
  // Parent 0 is the root qdisc, whatever its handle; TC_H_ROOT would be looked up as one and not be found.
  wire::Request request = link_request(RTM_GETTFILTER, NLM_F_DUMP, link, 0);
  request.header()->nlmsg_seq = ++sequence_;
  size_t filters = 0;
  HOPYARD_RETURN_IF_ERROR(base::annotate(
      wire::exchange(fd_.get(), request.bytes(), buffer_,
                     [&filters](uint16_t type, wire::Bytes) { filters += type == RTM_NEWTFILTER; }),
      "list filters", fmt::format("root of link {}", link)));
  return filters;
}

}  // namespace hopyard::netlink

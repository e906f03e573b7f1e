// SPDX-License-Identifier: Apache-2.0
// Links, addresses, neighbours, routes and namespace ids over rtnetlink (libnl). Knows no topology: names,
// numbers and order are the caller's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/status.h"

struct nl_msg;
struct nl_sock;

namespace hopyard::netlink {

// One end of a veth pair, complete at birth: what is given here needs no second request.
struct VethEnd {
  std::string name;   // at most 15 characters; must not exist in its namespace
  int netns_fd = -1;  // the namespace it is born in; -1: the socket's own
  int index = 0;      // the link index it shall have there (lo is 1); 0: the kernel chooses
  std::string mac;    // "02:00:00:00:00:01"; empty: the kernel chooses
  uint32_t mtu = 0;   // bytes; 0: the kernel's default (1500)
};

// Text forms everywhere: addresses "192.0.2.1", "2001:db8::1"; with prefix "192.0.2.1/24"; MACs as above.
struct Route {
  std::string destination;  // "198.51.100.0/24", "2001:db8:1::/64"; "default" takes the gateway's family
  std::string gateway;      // empty: on link
  int link = 0;             // index of the outgoing link
};

struct LinkInfo {
  int index = 0;
  std::string name;
  std::string mac;
  uint32_t mtu = 0;
  bool up = false;       // IFF_UP: set so by an administrator
  bool running = false;  // IFF_RUNNING: carrier is there
};

struct AddressInfo {
  int link = 0;
  std::string address;     // "192.0.2.1/24"
  bool tentative = false;  // IPv6 duplicate address detection has not ended
  bool no_dad = false;     // IFA_F_NODAD
};

struct RouteInfo {
  std::string destination;  // "198.51.100.0/24"; "default"
  std::string gateway;      // empty: on link
  int link = 0;
  bool ipv6 = false;
  uint8_t protocol = 0;  // RTPROT_*: RTPROT_BOOT for those made here, RTPROT_KERNEL for the kernel's own
};

struct NeighbourInfo {
  int link = 0;
  std::string address;
  std::string mac;
  bool permanent = false;
};

// Requests in the order they shall happen, sent together in few system calls. Building never fails: a
// malformed text is reported by RouteSocket::run, before anything is sent.
class RouteBatch {
 public:
  RouteBatch& add_veth(const VethEnd& a, const VethEnd& b);
  RouteBatch& delete_link(int link);  // a veth takes its peer with it
  RouteBatch& set_up(int link);
  // "192.0.2.1/24". IPv6 addresses are usable at once (IFA_F_NODAD).
  RouteBatch& add_address(int link, const std::string& address);
  // Permanent: never probed, never forgotten.
  RouteBatch& add_neighbour(int link, const std::string& address, const std::string& mac);
  RouteBatch& add_route(const Route& route);
  // Gives the namespace behind `netns_fd` the id `id` in the socket's namespace, or a free one for -1;
  // ALREADY_EXISTS if it has one or the id is taken.
  RouteBatch& assign_netns_id(int netns_fd, int id);

  bool empty() const { return requests_.empty() && error_.ok(); }

 private:
  friend class RouteSocket;
  struct Request {
    std::string attempt;
    std::string object;
    std::vector<uint8_t> message;
  };
  // Takes `message`; `error` is libnl's result of building it.
  RouteBatch& push(std::string attempt, std::string object, int error, nl_msg* message);
  std::vector<Request> requests_;
  absl::Status error_;
};

// A NETLINK_ROUTE socket of the network namespace its opener was in; usable from anywhere later, by one
// thread at a time.
class RouteSocket {
 public:
  static absl::StatusOr<RouteSocket> open();
  // Every request is carried out, also behind one that failed; the first failure is returned with the
  // kernel's own words where it has some. Codes: ALREADY_EXISTS, NOT_FOUND, PERMISSION_DENIED, … by errno.
  absl::Status run(const RouteBatch& batch);

  // NOT_FOUND if there is none.
  absl::StatusOr<int> link_index(const std::string& name);
  absl::StatusOr<std::vector<LinkInfo>> links();
  absl::StatusOr<std::vector<AddressInfo>> addresses();
  // The main table, without the kernel's own multicast and local entries.
  absl::StatusOr<std::vector<RouteInfo>> routes();
  // Without the kernel's own NOARP entries (loopback, multicast).
  absl::StatusOr<std::vector<NeighbourInfo>> neighbours();
  // The id the namespace behind `netns_fd` has in the socket's namespace; NOT_FOUND if it has none.
  absl::StatusOr<int> netns_id(int netns_fd);
  // All ids the socket's namespace has given.
  absl::StatusOr<std::vector<int>> netns_ids();

 private:
  struct Free {
    void operator()(nl_sock* socket) const noexcept;
  };
  RouteSocket(nl_sock* reads, base::Fd requests) : reads_(reads), requests_(std::move(requests)) {}
  // Sends the requests [first, last) in one call and awaits their acks; notes the earliest failure.
  absl::Status run_part(const RouteBatch& batch, size_t first, size_t last, absl::Status& failure);
  std::unique_ptr<nl_sock, Free> reads_;  // libnl's dumps
  base::Fd requests_;                     // batches; apart, since libnl insists on its own numbering
  uint32_t sequence_ = 0;
  std::vector<char> buffer_;
};

// Tells when network namespaces have ended. RTM_DELNSID comes once nothing holds the namespace any more: no
// process, descriptor, mount or socket. The kernel then takes its links apart on its own time.
class NamespaceWatch {
 public:
  // Watches from the calling thread's current namespace, which must outlive those watched.
  static absl::StatusOr<NamespaceWatch> open();
  // Begins to watch the namespace behind `netns_fd` and gives its id here. The caller may close the fd then.
  absl::StatusOr<int> add(int netns_fd);
  // Returns when all namespaces added have ended, and forgets them. DEADLINE_EXCEEDED names the ids still
  // alive; they stay watched.
  absl::Status wait_all_gone(const base::Deadline& deadline);

 private:
  NamespaceWatch(RouteSocket requests, base::Fd events)
      : requests_(std::move(requests)), events_(std::move(events)) {}
  // Takes what has come; `watched_` follows.
  absl::Status read_events();
  // After lost events: asks which ids there still are.
  absl::Status recount();
  RouteSocket requests_;
  base::Fd events_;              // member of RTNLGRP_NSID, non-blocking
  std::map<int, bool> watched_;  // id -> ended
  std::vector<char> buffer_;
};

}  // namespace hopyard::netlink

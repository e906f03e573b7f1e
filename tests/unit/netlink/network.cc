// SPDX-License-Identifier: Apache-2.0
// Namespaces by unshare and setns, connections by plain sockets.
#include "unit/netlink/network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <stdexcept>

#include "base/child.h"
#include "fmt/format.h"

namespace hopyard::netlink_test {
namespace {

// Set-up that cannot fail unless the test is wrong: an exception ends the test with its text.
void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(fmt::format("{}: {}", what, ::strerror(errno)));
}

void bring_loopback_up() {
  const base::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  require(::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0, "loopback up");
}

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  uint16_t port() const {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    return ntohs(storage.ss_family == AF_INET6 ? v6->sin6_port : v4->sin_port);
  }
};

SocketAddress parse(const std::string& address) {
  SocketAddress parsed;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&parsed.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&parsed.storage);
  if (::inet_pton(AF_INET, address.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    parsed.size = sizeof *v4;
  } else {
    require(::inet_pton(AF_INET6, address.c_str(), &v6->sin6_addr) == 1, "address");
    v6->sin6_family = AF_INET6;
    parsed.size = sizeof *v6;
  }
  return parsed;
}

SocketAddress local_name(const base::Fd& fd) {
  SocketAddress name;
  name.size = sizeof name.storage;
  require(::getsockname(fd.get(), name.get(), &name.size) == 0, "getsockname");
  return name;
}

base::Fd tcp_socket(int family, const std::string& congestion_control) {
  base::Fd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  require(fd.valid(), "socket");
  if (!congestion_control.empty()) {
    require(::setsockopt(fd.get(), IPPROTO_TCP, TCP_CONGESTION, congestion_control.data(),
                         static_cast<socklen_t>(congestion_control.size())) == 0,
            "congestion control");
  }
  return fd;
}

}  // namespace

absl::Status enter_user_namespace() {
  const auto uid = ::geteuid();
  const auto gid = ::getegid();
  if (::unshare(CLONE_NEWUSER) != 0) return base::errno_status("unshare", "user namespace");
  HOPYARD_RETURN_IF_ERROR(base::write_existing("/proc/self/setgroups", "deny"));
  HOPYARD_RETURN_IF_ERROR(base::write_existing("/proc/self/uid_map", fmt::format("0 {} 1", uid)));
  return base::write_existing("/proc/self/gid_map", fmt::format("0 {} 1", gid));
}

void NetworkTest::SetUp() {
  ASSERT_EQ(::unshare(CLONE_NEWNET), 0) << ::strerror(errno);
  bring_loopback_up();
}

base::Fd current_netns() {
  auto fd = base::open_file("/proc/thread-self/ns/net", O_RDONLY);
  require(fd.ok(), "open namespace");
  return *std::move(fd);
}

base::Fd new_netns() {
  const base::Fd here = current_netns();
  require(::unshare(CLONE_NEWNET) == 0, "unshare");
  base::Fd made = current_netns();
  require(::setns(here.get(), CLONE_NEWNET) == 0, "setns back");
  return made;
}

void inside(const base::Fd& netns, const std::function<void()>& what) {
  const base::Fd here = current_netns();
  require(::setns(netns.get(), CLONE_NEWNET) == 0, "setns");
  what();
  require(::setns(here.get(), CLONE_NEWNET) == 0, "setns back");
}

std::string output_of(const std::vector<std::string>& argv) {
  base::ChildOptions options;
  options.argv = argv;
  const auto result = base::run_command(options, std::chrono::seconds(20));
  if (!result.ok()) {
    ADD_FAILURE() << result.status();
    return "";
  }
  EXPECT_TRUE(result->exit.clean()) << argv[0] << ": " << result->exit.describe() << ": " << result->output;
  return result->output;
}

TcpPair connect_tcp(const std::string& address, const std::string& congestion_control) {
  return connect_to(listen_tcp(address, congestion_control), congestion_control);
}

base::Fd listen_tcp(const std::string& address, const std::string& congestion_control) {
  SocketAddress at = parse(address);
  base::Fd listener = tcp_socket(at.storage.ss_family, congestion_control);
  require(::bind(listener.get(), at.get(), at.size) == 0, "bind");
  require(::listen(listener.get(), 1) == 0, "listen");
  return listener;
}

TcpPair connect_to(const base::Fd& listener, const std::string& congestion_control) {
  SocketAddress to = local_name(listener);
  TcpPair pair;
  pair.client = tcp_socket(to.storage.ss_family, congestion_control);
  require(::connect(pair.client.get(), to.get(), to.size) == 0, "connect");
  pair.server = base::Fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  require(pair.server.valid(), "accept");
  pair.client_port = local_name(pair.client).port();
  pair.server_port = to.port();
  return pair;
}

base::Fd udp_to(const std::string& address) {
  SocketAddress to = parse(address);
  reinterpret_cast<sockaddr_in*>(&to.storage)->sin_port = htons(9);
  base::Fd fd(::socket(to.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  require(::connect(fd.get(), to.get(), to.size) == 0, "connect");
  return fd;
}

void transfer(const base::Fd& from, const base::Fd& to, size_t bytes) {
  std::string chunk(16384, 'x');
  for (size_t done = 0; done < bytes;) {
    const size_t size = std::min(chunk.size(), bytes - done);
    require(base::write_all(from.get(), std::string_view(chunk).substr(0, size)).ok(), "write");
    for (size_t got = 0; got < size;) {
      const ssize_t n = ::read(to.get(), chunk.data(), size - got);
      require(n > 0, "read");
      got += static_cast<size_t>(n);
    }
    done += size;
  }
}

}  // namespace hopyard::netlink_test

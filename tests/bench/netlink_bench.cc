// SPDX-License-Identifier: Apache-2.0
// What a snapshot costs in a namespace as an endpoint has it: loopback, one veth end, one connection. The
// figure to reach: Snapshot at most 100 us on the machine's kernel.
#include <benchmark/benchmark.h>
#include <sched.h>

#include <cstdio>

#include "netlink/qdisc.h"
#include "netlink/route.h"
#include "netlink/sock_diag.h"
#include "unit/netlink/network.h"

namespace {

using namespace hopyard;

// Everything opened beforehand, as in a trial.
struct Endpoint {
  netlink_test::TcpPair pair = netlink_test::connect_tcp("127.0.0.1");
  netlink::SockDiag sockets = netlink::SockDiag::open().value();
  netlink::QdiscSocket qdiscs = netlink::QdiscSocket::open().value();
  netlink::SocketFilter filter{.local_port = pair.server_port, .remote_port = pair.client_port};
  netlink::SocketInfo server = sockets.dump(filter).value().at(0);
};

Endpoint& endpoint() {
  static Endpoint made;
  return made;
}

void QdiscDump(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(endpoint().qdiscs.dump().value().size());
}
BENCHMARK(QdiscDump);

// By its endpoints: what a measured window uses.
void SocketFind(benchmark::State& state) {
  for (auto _ : state) {
    const auto found = endpoint().sockets.find(endpoint().server.local, endpoint().server.remote);
    benchmark::DoNotOptimize(found.value().values.size());
  }
}
BENCHMARK(SocketFind);

// By ports: the kernel walks its table of all connections.
void SocketDump(benchmark::State& state) {
  netlink::SocketFilter filter = endpoint().filter;
  filter.ipv6 = state.range(0) == 2;
  for (auto _ : state) benchmark::DoNotOptimize(endpoint().sockets.dump(filter).value().size());
}
BENCHMARK(SocketDump)->ArgName("families")->Arg(1)->Arg(2);

void Snapshot(benchmark::State& state) {
  for (auto _ : state) {
    const auto found = endpoint().sockets.find(endpoint().server.local, endpoint().server.remote);
    benchmark::DoNotOptimize(found.value().values.size());
    benchmark::DoNotOptimize(endpoint().qdiscs.dump().value().size());
  }
}
BENCHMARK(Snapshot);

bool enter_namespace() {
  const absl::Status entered = netlink_test::enter_user_namespace();
  if (!entered.ok() || ::unshare(CLONE_NEWNET) != 0) return false;
  auto route = netlink::RouteSocket::open();
  return route.ok() && route
                           ->run(netlink::RouteBatch()
                                     .add_veth({.name = "va", .index = 2}, {.name = "vb", .index = 3})
                                     .set_up(1)
                                     .set_up(2)
                                     .set_up(3))
                           .ok();
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (!enter_namespace()) {
    std::fputs("netlink_bench: no user and network namespace on this machine\n", stderr);
    return 77;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// What the filter refuses and what it leaves, each tried in a child under it.
#include "lab/call_filter.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <functional>

#include "base/fd.h"
#include "fmt/format.h"
#include "unit/base/in_child.h"

namespace hopyard::lab {
namespace {

using base::in_child;
using testing::HasSubstr;

struct Call {
  const char* name;
  long result = 0;  // of whatever the kernel, or the filter, says to it
  int error = 0;
};
template <typename... Arguments>
Call call(const char* name, long number, Arguments... arguments) {
  errno = 0;
  const long result = ::syscall(number, arguments...);
  return {name, result, errno};
}

// "name: error" for each call that did not fail with `error`.
std::string others_than(int error, const std::vector<Call>& calls) {
  std::string text;
  for (const Call& one : calls) {
    if (one.result == -1 && one.error == error) continue;
    text += fmt::format("{}: {} ({})\n", one.name, one.result, ::strerror(one.error));
  }
  return text;
}

// Under the filter, as whoever runs this test: root is refused too.
std::string refused(const std::function<std::string()>& body) {
  return in_child([&] {
    const absl::Status filtered = filter_system_calls();
    return filtered.ok() ? body() : std::string(filtered.message());
  });
}

// Arguments that do nothing, were the call let through.
TEST(CallFilter, OptionalPartsOfTheKernelAreNotThere) {
  EXPECT_EQ(
      refused([] {
        return others_than(
            ENOSYS,
            {call("bpf", SYS_bpf, -1, 0, 0), call("perf_event_open", SYS_perf_event_open, 0, 0, -1, -1, 0),
             call("userfaultfd", SYS_userfaultfd, -1), call("io_uring_setup", SYS_io_uring_setup, 0, 0),
             call("io_uring_enter", SYS_io_uring_enter, -1, 0, 0, 0, 0, 0),
             call("io_uring_register", SYS_io_uring_register, -1, 0, 0, 0),
             call("add_key", SYS_add_key, 0, 0, 0, 0, 0), call("request_key", SYS_request_key, 0, 0, 0, 0),
             call("keyctl", SYS_keyctl, -1, 0, 0, 0, 0), call("fanotify_init", SYS_fanotify_init, -1, 0),
             call("lookup_dcookie", SYS_lookup_dcookie, 0, 0, 0), call("shmget", SYS_shmget, 1, 0, 0),
             call("semget", SYS_semget, 1, 0, 0), call("msgget", SYS_msgget, 1, 0),
             call("mq_open", SYS_mq_open, "hopyard-no-such", 0, 0, 0)});
      }),
      "");
}

TEST(CallFilter, TheMachinesOwnAffairsAreNotAllowed) {
  EXPECT_EQ(
      refused([] {
        return others_than(
            EPERM,
            {call("kexec_load", SYS_kexec_load, 0, 1u << 20, 0, 0),
             call("kexec_file_load", SYS_kexec_file_load, -1, -1, 0, 0, -1),
             call("init_module", SYS_init_module, 0, 0, 0), call("finit_module", SYS_finit_module, -1, "", 0),
             call("delete_module", SYS_delete_module, "hopyard-no-such", O_NONBLOCK),
             call("reboot", SYS_reboot, 0, 0, 0, 0), call("swapon", SYS_swapon, "/no/such", 0),
             call("swapoff", SYS_swapoff, "/no/such"), call("acct", SYS_acct, "/no/such"),
             call("settimeofday", SYS_settimeofday, 0, 0), call("clock_settime", SYS_clock_settime, -1, 0),
             call("clock_adjtime", SYS_clock_adjtime, -1, 0), call("adjtimex", SYS_adjtimex, 0),
             call("iopl", SYS_iopl, 0), call("ioperm", SYS_ioperm, 0, 1, 0),
             call("open_by_handle_at", SYS_open_by_handle_at, -1, 0, 0),
             call("quotactl", SYS_quotactl, 0, 0, 0, 0), call("vhangup", SYS_vhangup),
             call("syslog", SYS_syslog, 10, 0, 0)});
      }),
      "");
}

TEST(CallFilter, ForeignCallNumbersAreNoWayAround) {
  EXPECT_EQ(refused([] {
              constexpr long kX32 = 0x40000000;
              return others_than(
                  ENOSYS, {call("x32 getpid", kX32 | SYS_getpid), call("x32 bpf", kX32 | SYS_bpf, -1, 0, 0)});
            }),
            "");
}

// A machine that was started without them answers with a signal.
TEST(CallFilter, ThirtyTwoBitCallsAreNotThere) {
  EXPECT_THAT(refused([] {
                long result = 20;  // getpid of 32 bits
                asm volatile("int $0x80" : "+a"(result) : : "memory");
                return fmt::format("{}", result);
              }),
              testing::AnyOf(fmt::format("{}", -ENOSYS), fmt::format("signal {}", SIGSEGV)));
}

TEST(CallFilter, OfSocketsOnlyTheKindsOfTrialsAreLeft) {
  EXPECT_EQ(refused([] {
              constexpr long kHigh = 1l << 32;  // which the kernel does not look at
              std::vector<Call> calls = {
                  call("vsock, high bits", SYS_socket, kHigh | AF_VSOCK, SOCK_STREAM, 0),
                  call("key, high bits", SYS_socket, kHigh | AF_KEY, SOCK_RAW, 2),
                  call("tipc pair", SYS_socketpair, AF_TIPC, SOCK_STREAM, 0, 0)};
              for (int family = 1; family <= AF_MAX; ++family) {
                if (family != AF_UNIX && family != AF_INET && family != AF_INET6 && family != AF_NETLINK &&
                    family != AF_PACKET)
                  calls.push_back(call("socket", SYS_socket, family, SOCK_STREAM, 0));
              }
              return others_than(EAFNOSUPPORT, calls);
            }),
            "");
}

TEST(CallFilter, OfNetlinkOnlyRoutesAndSocketsAreLeft) {
  EXPECT_EQ(refused([] {
              constexpr long kHigh = 1l << 32;
              std::vector<Call> calls = {
                  call("netfilter", SYS_socket, AF_NETLINK, SOCK_RAW, kHigh | NETLINK_NETFILTER)};
              for (int protocol = 1; protocol < MAX_LINKS; ++protocol) {
                if (protocol != NETLINK_SOCK_DIAG)
                  calls.push_back(call("netlink", SYS_socket, AF_NETLINK, SOCK_RAW, protocol));
              }
              return others_than(EPROTONOSUPPORT, calls);
            }),
            "");
}

TEST(CallFilter, PacketTablesAndTheTerminalAreOutOfReach) {
  EXPECT_EQ(refused([] {
              const int v4 = ::socket(AF_INET, SOCK_DGRAM, 0);
              return others_than(ENOPROTOOPT,
                                 {call("iptables", SYS_setsockopt, v4, IPPROTO_IP, 64, 0, 0),
                                  call("arptables", SYS_setsockopt, v4, IPPROTO_IP, 96, 0, 0),
                                  call("ebtables", SYS_setsockopt, v4, IPPROTO_IP, 128, 0, 0),
                                  call("ip6tables", SYS_setsockopt, v4, IPPROTO_IPV6, 64, 0, 0)}) +
                     others_than(EPERM, {call("TIOCSTI", SYS_ioctl, -1, TIOCSTI, 0),
                                         call("TIOCSTI", SYS_ioctl, -1, (1l << 32) | TIOCSTI, 0),
                                         call("TIOCLINUX", SYS_ioctl, -1, TIOCLINUX, 0)});
            }),
            "");
}

// What failed of what a worker, a server or a guest's kernel does.
std::string what_fails() {
  std::string failed;
  const auto want = [&failed](const char* name, bool done) {
    if (!done) failed += fmt::format("{}: {}\n", name, ::strerror(errno));
  };
  want("unix", ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
  want("inet", ::socket(AF_INET, SOCK_STREAM, 0) >= 0);
  want("netlink routes", ::socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE) >= 0);
  want("netlink sockets", ::socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG) >= 0);
  int pair[2];
  want("socketpair", ::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  const int on = 1;
  want("setsockopt", ::setsockopt(::socket(AF_INET, SOCK_STREAM, 0), IPPROTO_IP, 10, &on, sizeof on) == 0);
  int waiting = 0;
  want("ioctl", ::ioctl(pair[0], FIONREAD, &waiting) == 0);
  want("personality", ::personality(ADDR_NO_RANDOMIZE) >= 0);
  want("pidfd_open", ::syscall(SYS_pidfd_open, ::getpid(), 0) >= 0);
  want("memfd_create", ::syscall(SYS_memfd_create, "x", 0) >= 0);
  const pid_t traced = ::fork();
  if (traced == 0) ::_exit(::ptrace(PTRACE_TRACEME, 0, 0, 0) == 0 ? 0 : 1);
  int status = 0;
  want("ptrace", ::waitpid(traced, &status, 0) == traced && status == 0);
  const scmp_filter_ctx again = ::seccomp_init(SCMP_ACT_ALLOW);
  want("a further filter", ::seccomp_load(again) == 0);
  return failed;
}

TEST(CallFilter, WhatWorkersServersAndGuestsNeedIsLeft) { EXPECT_EQ(refused(what_fails), ""); }

// A guest's kernel may keep its processes by a filter of its own that traps every call: it must get those,
// too, that are refused here.
TEST(CallFilter, AGuestsKernelStillGetsTheCallsOfItsProcesses) {
  EXPECT_EQ(refused([] {
              static volatile int trapped = 0;
              std::signal(SIGSYS, [](int) { trapped = trapped + 1; });
              const scmp_filter_ctx own = ::seccomp_init(SCMP_ACT_ALLOW);
              for (const int number : {SCMP_SYS(bpf), SCMP_SYS(finit_module), SCMP_SYS(socket)})
                ::seccomp_rule_add(own, SCMP_ACT_TRAP, number, 0);
              if (::seccomp_load(own) != 0) return std::string("not loaded");
              ::syscall(SYS_bpf, -1, 0, 0);
              ::syscall(SYS_finit_module, -1, "", 0);
              ::syscall(SYS_socket, AF_VSOCK, SOCK_STREAM, 0);
              return fmt::format("{}", trapped);
            }),
            "3");
}

// The same with and without the filter: a machine may forbid it of itself.
std::string own_network_and_mounts() {
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS) != 0) return "forbidden";
  const base::Fd home(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  return fmt::format("unshare {} setns {} packet {} mount {}", ::unshare(CLONE_NEWNET),
                     ::setns(home.get(), CLONE_NEWNET), ::socket(AF_PACKET, SOCK_DGRAM, 0) >= 0,
                     ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
}

TEST(CallFilter, NamespacesAndMountsAreMadeAsWithoutIt) {
  EXPECT_EQ(refused(own_network_and_mounts), in_child(own_network_and_mounts));
}

// The mode of the filter as /proc tells it, and of a program started under it.
TEST(CallFilter, IsInheritedAndTold) {
  EXPECT_THAT(refused([] { return base::read_file("/proc/self/status").value_or(""); }),
              HasSubstr("Seccomp:\t2"));
  EXPECT_EQ(refused([] {
              const pid_t child = ::fork();
              if (child == 0) ::execl("/bin/grep", "grep", "-q", "Seccomp:.*2", "/proc/self/status", nullptr);
              int status = -1;
              ::waitpid(child, &status, 0);
              return fmt::format("{}", status);
            }),
            "0");
}

}  // namespace
}  // namespace hopyard::lab

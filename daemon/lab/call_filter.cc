// SPDX-License-Identifier: Apache-2.0
// The list, and libseccomp, which makes a filter of it. A list of what is refused, not of what is allowed:
// three guest kernels, the C library and servers of any making run under it, and each of them may begin to
// use a harmless call that no list of ours has.
#include "lab/call_filter.h"

#include <linux/netlink.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <initializer_list>
#include <memory>

#include "fmt/format.h"

namespace hopyard::lab {
namespace {

// Parts of the kernel that may be left out of it: programs that can use them look whether they are there.
constexpr int kOptional[] = {
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(keyctl),
    SCMP_SYS(fanotify_init),
    SCMP_SYS(fanotify_mark),
    SCMP_SYS(lookup_dcookie),
    SCMP_SYS(uselib),
    SCMP_SYS(sysfs),
    SCMP_SYS(ustat),
    SCMP_SYS(nfsservctl),
    // What they make outlives its maker.
    SCMP_SYS(shmget),
    SCMP_SYS(semget),
    SCMP_SYS(msgget),
    SCMP_SYS(mq_open),
};

// The machine's own affairs, which real root outside might be let do.
constexpr int kPrivileged[] = {
    SCMP_SYS(kexec_load),    SCMP_SYS(kexec_file_load),
    SCMP_SYS(init_module),   SCMP_SYS(finit_module),
    SCMP_SYS(delete_module), SCMP_SYS(reboot),
    SCMP_SYS(swapon),        SCMP_SYS(swapoff),
    SCMP_SYS(acct),          SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime), SCMP_SYS(clock_adjtime),
    SCMP_SYS(adjtimex),      SCMP_SYS(iopl),
    SCMP_SYS(ioperm),        SCMP_SYS(open_by_handle_at),
    SCMP_SYS(quotactl),      SCMP_SYS(quotactl_fd),
    SCMP_SYS(vhangup),       SCMP_SYS(syslog),
};

class Filter {
 public:
  Filter() : context_(::seccomp_init(SCMP_ACT_ALLOW), &::seccomp_release) {
    if (context_ == nullptr) error_ = ENOMEM;
    // 32-bit calls and the x32 ABI would be a way around the numbers.
    set(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
    // Kernels before 5.16 slow a filtered process down against a leak through speculation that no filter is
    // about.
    set(SCMP_FLTATR_CTL_SSB, 1);
    set(SCMP_FLTATR_API_SYSRAWRC, 1);
  }
  void refuse(int call, int error, std::initializer_list<scmp_arg_cmp> when = {}) {
    note(error_ != 0 ? 0
                     : ::seccomp_rule_add_array(context_.get(), SCMP_ACT_ERRNO(static_cast<uint32_t>(error)),
                                                call, static_cast<unsigned>(when.size()), when.begin()));
  }
  absl::Status load() {
    if (error_ == 0) note(::seccomp_load(context_.get()));
    return error_ == 0 ? absl::OkStatus() : base::errno_status("install", "filter of system calls", error_);
  }

 private:
  void set(scmp_filter_attr attribute, uint32_t value) {
    if (error_ == 0) note(::seccomp_attr_set(context_.get(), attribute, value));
  }
  void note(int result) {
    if (error_ == 0) error_ = -result;
  }
  std::unique_ptr<void, decltype(&::seccomp_release)> context_;
  int error_ = 0;
};

// An argument of a system call, of which the kernel looks at the lower 32 bits alone.
scmp_arg_cmp is(unsigned argument, uint64_t value) {
  return SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, 0xffffffffu, value);
}
// This also holds where the upper 32 bits are anything.
scmp_arg_cmp above(unsigned argument, uint64_t value) { return SCMP_CMP(argument, SCMP_CMP_GT, value); }

// Only what trials use is left: Unix, IPv4, IPv6, netlink and packet sockets. Among the rest is AF_VSOCK,
// which no network namespace keeps inside.
void refuse_socket_families(Filter& filter, int call) {
  for (uint64_t family = 0; family < AF_PACKET; ++family) {
    if (family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK) continue;
    filter.refuse(call, EAFNOSUPPORT, {is(0, family)});
  }
  filter.refuse(call, EAFNOSUPPORT, {above(0, AF_PACKET)});
}

// Of netlink routes and sockets; not nf_tables nor IPsec, which only root of a network namespace can reach,
// as a server here is.
void refuse_netlink_families(Filter& filter) {
  for (uint64_t protocol = NETLINK_ROUTE + 1; protocol < NETLINK_SOCK_DIAG; ++protocol) {
    filter.refuse(SCMP_SYS(socket), EPROTONOSUPPORT, {is(0, AF_NETLINK), is(2, protocol)});
  }
  filter.refuse(SCMP_SYS(socket), EPROTONOSUPPORT, {is(0, AF_NETLINK), above(2, NETLINK_SOCK_DIAG)});
}

// The other door to the packet filter: tables by socket option. Values of linux/netfilter_*/.
void refuse_packet_tables(Filter& filter) {
  constexpr uint64_t kReplaceIp = 64, kReplaceArp = 96, kReplaceBridge = 128;
  for (const uint64_t option : {kReplaceIp, kReplaceArp, kReplaceBridge}) {
    filter.refuse(SCMP_SYS(setsockopt), ENOPROTOOPT, {is(1, IPPROTO_IP), is(2, option)});
  }
  filter.refuse(SCMP_SYS(setsockopt), ENOPROTOOPT, {is(1, IPPROTO_IPV6), is(2, kReplaceIp)});
}

// Typing into the terminal that the daemon was started from.
void refuse_typing(Filter& filter) {
  for (const uint64_t request : {TIOCSTI, TIOCLINUX}) filter.refuse(SCMP_SYS(ioctl), EPERM, {is(1, request)});
}

}  // namespace

absl::Status filter_system_calls() {
  Filter filter;
  for (const int call : kOptional) filter.refuse(call, ENOSYS);
  for (const int call : kPrivileged) filter.refuse(call, EPERM);
  for (const int call : {SCMP_SYS(socket), SCMP_SYS(socketpair)}) refuse_socket_families(filter, call);
  refuse_netlink_families(filter);
  refuse_packet_tables(filter);
  refuse_typing(filter);
  return filter.load();
}

}  // namespace hopyard::lab

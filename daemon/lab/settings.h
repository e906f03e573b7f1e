// SPDX-License-Identifier: Apache-2.0
// Which kernel settings each side of a routed path gets, and why. Knows no links.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "lab/path.h"
#include "lab/side.h"
#include "lab/sysctl.h"

namespace hopyard::lab {

// Whatever the machine or the server uses. A kernel may forbid it to namespaces as their default; then
// `unsupported` says so, and only the client's own sockets have it.
inline constexpr char kClientCongestionControl[] = "cubic";

// The same for one socket: the namespace's default may be another, and the kernel lets root of the namespace
// choose for a socket what it may forbid as a default. A kernel without it leaves the socket as it is.
absl::Status set_client_congestion_control(int fd);

// The kernel has no per-namespace value, so that a guest's memory could show only here.
inline constexpr char kNoTcpMem[] =
    "net.ipv4.tcp_mem: one for the whole machine; neither set nor shown inside a namespace";

// INVALID_ARGUMENT for values no kernel could hold.
absl::Status check_settings(const RoutedSpec& spec);

// In the order they must be written.
std::vector<Sysctl> settings_for(Side side, const RoutedSpec& spec, bool ipv6);

// Sets and reads back all of them in the calling thread's namespace, before it has links. What this kernel
// cannot do and a path can go without is added to `unsupported`; anything else is an error that names side,
// setting and values.
absl::Status apply_settings(Side side, const RoutedSpec& spec, bool ipv6,
                            std::vector<std::string>& unsupported);

}  // namespace hopyard::lab

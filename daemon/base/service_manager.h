// SPDX-License-Identifier: Apache-2.0
// The words a service manager waits for (sd_notify(3)), without its library. Does nothing where nobody waits.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace hopyard::base {

// "READY=1", "STOPPING=1", "WATCHDOG=1", "STATUS=…": one datagram to $NOTIFY_SOCKET.
void tell_service_manager(std::string_view words);

// How often it wants to hear WATCHDOG=1 at the latest ($WATCHDOG_USEC); nothing if it does not, or not from
// us.
std::optional<std::chrono::microseconds> watchdog_patience();

}  // namespace hopyard::base

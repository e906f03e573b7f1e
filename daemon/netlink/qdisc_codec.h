// SPDX-License-Identifier: Apache-2.0
// fq's and netem's options as bytes, and a qdisc's message as a struct. Pure: no socket. Private to the room.
#pragma once

#include "netlink/qdisc.h"
#include "netlink/wire.h"

namespace hopyard::netlink {

// Attributes the C headers of Debian 12 do not name yet; numbers are the kernel's ABI.
inline constexpr uint16_t kTcaNetemPrngSeed = 14;     // Linux 6.6
inline constexpr uint16_t kTcaFqWeights = 17;         // Linux 6.7
inline constexpr uint16_t kTcaFqOffloadHorizon = 18;  // Linux 6.13

// INVALID_ARGUMENT ("netem: loss: …") for what the kernel could not hold as given.
absl::Status check(const FqOptions& options);
absl::Status check(const NetemOptions& options);

// Appends TCA_OPTIONS to a RTM_NEWQDISC request.
void put_options(nlmsghdr* request, const FqOptions& options);
void put_options(nlmsghdr* request, const NetemOptions& options);

// The payload of a RTM_NEWQDISC message; nothing if it is too short to be one. Attributes that are cut, too
// short or unknown are left out.
std::optional<QdiscInfo> decode_qdisc(wire::Bytes payload);

}  // namespace hopyard::netlink

// SPDX-License-Identifier: Apache-2.0
// netem's options, from bytes. Private to the room.
#pragma once

#include "netlink/qdisc_codec.h"

namespace hopyard::netlink {

// `payload` of TCA_OPTIONS: fills info.netem and info.options.
void decode_netem(wire::Bytes payload, QdiscInfo& info);

}  // namespace hopyard::netlink

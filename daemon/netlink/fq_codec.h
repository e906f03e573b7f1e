// SPDX-License-Identifier: Apache-2.0
// fq's options and counters, to and from bytes. Private to the room.
#pragma once

#include "netlink/qdisc_codec.h"

namespace hopyard::netlink {

// `payload` of TCA_OPTIONS: fills info.fq and info.options.
void decode_fq(wire::Bytes payload, QdiscInfo& info);
// `payload` of the qdisc's own statistics: fills info.xstats.
void decode_fq_stats(wire::Bytes payload, QdiscInfo& info);

}  // namespace hopyard::netlink

// SPDX-License-Identifier: Apache-2.0
// Writes what the client kept down as messages, after the measured window. Knows no socket.
#pragma once

#include <span>

#include "probe/channel.h"
#include "probe/http_session.h"
#include "probe/meter.h"

namespace hopyard::v1 {
class ClientEvidence;
}

namespace hopyard::probe {

void fill_connection(const Channel& channel, v1::ClientEvidence& out);
void fill_frames(std::span<const FrameEntry> frames, v1::ClientEvidence& out);
void fill_responses(std::span<const ResponseMeter> meters, v1::ClientEvidence& out);

}  // namespace hopyard::probe

// SPDX-License-Identifier: Apache-2.0
// One trial as the compact JSON that the report's script draws. Knows its evidence, no database.
#pragma once

#include <string>
#include <string_view>

#include "hopyard/v1/result.pb.h"

namespace hopyard::report {

// Instants are whole microseconds from the first request's write; without a request, from the connection's
// start.
//   id, about, verdict, reason
//   connection  [connect start, TCP established, handshake done, settled]; null: did not happen
//   responses   {role, stream, start, bytes, at: [first decrypted, first body, 1 KiB, 4 KiB, 8 KiB, first
//   DATA frame,
//               complete], each from the response's own start}
//   records     {at: differences from one to the next, bytes: plaintext, kind: RecordContent}
//   frames      [stream, first byte, complete, length] of received DATA frames
//   sockets     the server's snapshots; queues: what each netem passed and dropped
//   drops       {what, at} of packets that did not leave the router
std::string trial_json(const v1::TrialResult& result, std::string_view id, std::string_view about);

}  // namespace hopyard::report

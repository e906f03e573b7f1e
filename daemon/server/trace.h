// SPDX-License-Identifier: Apache-2.0
// What nginx's debug log says of its TLS writes. Pure text in, evidence out; knows no process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hopyard/v1/result.pb.h"

namespace hopyard::server {

// The writes of one connection, in the log's order.
struct ConnectionTrace {
  uint64_t connection = 0;  // nginx's number, the N of "*N"
  std::vector<v1::SslWrite> writes;
  std::vector<v1::FragmentEvent> fragments;
  uint32_t requests = 0;  // request lines parsed
};

struct Trace {
  std::vector<ConnectionTrace> connections;  // only those that parsed a request line, in order of appearance
  std::string nginx_version;                 // "nginx/1.26.3"; empty if the log does not say
  std::string errors;                        // lines of level warn and above, at most kErrorBytes
};

inline constexpr size_t kErrorBytes = 8192;

// Understands nginx's own lines ("SSL to write: N", "SSL_write: N", request lines) and the lines by which a
// patch reports its record sizing: "SSL <word> fragment: N … rc:R" when a limit is set, "SSL fragment
// restored: N" when the early budget is spent. Lines it does not know are skipped; a damaged log gives fewer
// rows, never an error.
Trace parse_log(std::string_view log);

}  // namespace hopyard::server

// SPDX-License-Identifier: Apache-2.0
// The nginx configuration as text, from typed settings only: no free text ever reaches it. Pure.
#pragma once

#include <string>

#include "hopyard/v1/campaign.pb.h"

namespace hopyard::server {

// Names of the files the configuration refers to, below the server's directory.
inline constexpr char kConfigFile[] = "nginx.conf";
inline constexpr char kLogFile[] = "error.log";
inline constexpr char kCertificateFile[] = "certificate.pem";
inline constexpr char kKeyFile[] = "key.pem";
inline constexpr char kBodiesFolder[] = "bodies";

struct ConfigSpec {
  std::string listen;              // "192.0.2.1:443" or "unix:/path"
  uint32_t send_buffer_bytes = 0;  // the listening socket's SO_SNDBUF; 0: the kernel's
  size_t log_bytes = 0;            // room for the debug log, in the server's memory
};
std::string render_config(const v1::Server& settings, const ConfigSpec& spec);

}  // namespace hopyard::server

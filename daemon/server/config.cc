// SPDX-License-Identifier: Apache-2.0
// One template; every setting is a line of a table.
#include "server/config.h"

#include "fmt/format.h"

namespace hopyard::server {
namespace {

// nginx's own defaults stay where a campaign sets nothing.
std::string settings_lines(const v1::Server& settings) {
  std::string lines;
  if (settings.has_ssl_buffer_size_bytes()) {
    lines += fmt::format("    ssl_buffer_size {};\n", settings.ssl_buffer_size_bytes());
  }
  if (settings.has_http2_chunk_size_bytes()) {
    lines += fmt::format("    http2_chunk_size {};\n", settings.http2_chunk_size_bytes());
  }
  return lines;
}

}  // namespace

// One process (master_process off): its exit status, CPU and memory are the server's, with no second process
// between. `user root` is the namespace's root, which is the invoking user outside.
std::string render_config(const v1::Server& settings, const std::string& listen, uint32_t send_buffer_bytes) {
  const std::string buffer = send_buffer_bytes > 0 ? fmt::format(" sndbuf={}", send_buffer_bytes) : "";
  return fmt::format(
      R"(daemon off;
master_process off;
user root root;
pid nginx.pid;
error_log {log} debug;
events {{
  worker_connections 1024;
}}
http {{
  access_log off;
  sendfile off;
  default_type application/octet-stream;
  client_body_temp_path temp;
  proxy_temp_path temp;
  fastcgi_temp_path temp;
  uwsgi_temp_path temp;
  scgi_temp_path temp;
  server {{
    listen {listen} ssl{buffer};
    http2 on;
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    ssl_protocols TLSv1.3;
    ssl_session_tickets off;
    ssl_session_cache off;
{settings}    location / {{
      root {bodies};
    }}
  }}
}}
)",
      fmt::arg("log", kLogFile), fmt::arg("listen", listen), fmt::arg("buffer", buffer),
      fmt::arg("certificate", kCertificateFile), fmt::arg("key", kKeyFile), fmt::arg("bodies", kBodiesFolder),
      fmt::arg("settings", settings_lines(settings)));
}

}  // namespace hopyard::server

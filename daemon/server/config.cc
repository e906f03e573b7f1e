// SPDX-License-Identifier: Apache-2.0
// One template; every setting is a line of a table.
#include "server/config.h"

#include "fmt/format.h"

namespace hopyard::server {
namespace {

// nginx's own defaults stay where a campaign sets nothing.
std::string settings_lines(const v1::Server& settings) {
  std::string lines;
  const auto add = [&lines](bool set, const char* directive, const auto& value) {
    if (set) lines += fmt::format("    {} {};\n", directive, value);
  };
  const v1::Server& s = settings;
  constexpr int64_t kMillisecondNs = 1'000'000;
  add(s.has_ssl_buffer_size_bytes(), "ssl_buffer_size", s.ssl_buffer_size_bytes());
  add(s.has_http2_chunk_size_bytes(), "http2_chunk_size", s.http2_chunk_size_bytes());
  add(s.has_ssl_dyn_rec_enable(), "ssl_dyn_rec_enable", s.ssl_dyn_rec_enable() ? "on" : "off");
  add(s.has_ssl_dyn_rec_size_lo_bytes(), "ssl_dyn_rec_size_lo", s.ssl_dyn_rec_size_lo_bytes());
  add(s.has_ssl_dyn_rec_size_hi_bytes(), "ssl_dyn_rec_size_hi", s.ssl_dyn_rec_size_hi_bytes());
  add(s.has_ssl_dyn_rec_threshold(), "ssl_dyn_rec_threshold", s.ssl_dyn_rec_threshold());
  add(s.has_ssl_dyn_rec_timeout_ns(), "ssl_dyn_rec_timeout",
      fmt::format("{}ms", s.ssl_dyn_rec_timeout_ns() / kMillisecondNs));
  return lines;
}

}  // namespace

// One process (master_process off): its exit status, CPU and memory are the server's, with no second process
// between. Every connection it makes room for and every line of its log cost a guest time: there is room for
// few more connections than a trial makes, only what the trace is read from is logged (SSL writes at
// debug_event, requests at debug_http), and that into memory; the file has notices and errors. `user root` is
// the namespace's root, which is the invoking user outside.
std::string render_config(const v1::Server& settings, const ConfigSpec& spec) {
  const std::string buffer =
      spec.send_buffer_bytes > 0 ? fmt::format(" sndbuf={}", spec.send_buffer_bytes) : "";
  return fmt::format(
      R"(daemon off;
master_process off;
user root root;
pid nginx.pid;
error_log {log} notice;
error_log memory:{log_bytes} debug_event debug_http;
events {{
  worker_connections 64;
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
      fmt::arg("log", kLogFile), fmt::arg("log_bytes", spec.log_bytes), fmt::arg("listen", spec.listen),
      fmt::arg("buffer", buffer), fmt::arg("certificate", kCertificateFile), fmt::arg("key", kKeyFile),
      fmt::arg("bodies", kBodiesFolder), fmt::arg("settings", settings_lines(settings)));
}

}  // namespace hopyard::server

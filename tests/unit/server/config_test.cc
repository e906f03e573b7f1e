// SPDX-License-Identifier: Apache-2.0
// The rendered configuration says what the design fixes, and nothing a campaign did not set.
#include "server/config.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hopyard::server {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RenderConfig, TurnsOffEverythingThatWouldHideWrites) {
  const std::string config = render_config({}, {.listen = "192.0.2.1:443", .log_bytes = 262144});
  for (const char* line :
       {"sendfile off;", "ssl_session_tickets off;", "ssl_session_cache off;", "ssl_protocols TLSv1.3;",
        "access_log off;", "error_log error.log notice;", "error_log memory:262144 debug_event debug_http;"}) {
    EXPECT_THAT(config, HasSubstr(line));
  }
}

TEST(RenderConfig, LeavesNginxDefaultsWhereNothingIsSet) {
  const std::string config = render_config({}, {.listen = "192.0.2.1:443", .log_bytes = 262144});
  EXPECT_THAT(config, Not(HasSubstr("ssl_buffer_size")));
  EXPECT_THAT(config, Not(HasSubstr("http2_chunk_size")));
  EXPECT_THAT(config, Not(HasSubstr("sndbuf")));
}

TEST(RenderConfig, WritesSettingsInBytes) {
  v1::Server settings;
  settings.set_ssl_buffer_size_bytes(4096);
  settings.set_http2_chunk_size_bytes(8192);
  const std::string config = render_config(settings, {.listen = "unix:../s", .send_buffer_bytes = 4608});
  EXPECT_THAT(config, HasSubstr("ssl_buffer_size 4096;"));
  EXPECT_THAT(config, HasSubstr("http2_chunk_size 8192;"));
  EXPECT_THAT(config, HasSubstr("listen unix:../s ssl sndbuf=4608;"));
}

TEST(RenderConfig, WritesDynamicRecordsIntoTheServerBlock) {
  v1::Server settings;
  settings.set_ssl_dyn_rec_enable(true);
  settings.set_ssl_dyn_rec_size_lo_bytes(1369);
  settings.set_ssl_dyn_rec_size_hi_bytes(16384);
  settings.set_ssl_dyn_rec_threshold(10);
  settings.set_ssl_dyn_rec_timeout_ns(5'000'000'000);
  const std::string config = render_config(settings, {.listen = "192.0.2.1:443"});
  const std::string server =
      config.substr(config.find("server {"), config.find("location") - config.find("server {"));
  for (const char* line :
       {"ssl_dyn_rec_enable on;", "ssl_dyn_rec_size_lo 1369;", "ssl_dyn_rec_size_hi 16384;",
        "ssl_dyn_rec_threshold 10;", "ssl_dyn_rec_timeout 5000ms;"}) {
    EXPECT_THAT(server, HasSubstr(line));
  }
  settings.set_ssl_dyn_rec_enable(false);
  EXPECT_THAT(render_config(settings, {.listen = "192.0.2.1:443"}), HasSubstr("ssl_dyn_rec_enable off;"));
}

}  // namespace
}  // namespace hopyard::server

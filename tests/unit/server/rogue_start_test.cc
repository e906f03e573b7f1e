// SPDX-License-Identifier: Apache-2.0
// Servers that do not get as far as serving: each is named, in bounded time, and nothing of it is left.
#include <gmock/gmock.h>

#include "base/clock.h"
#include "server/nginx.h"
#include "unit/server/rogue.h"

namespace hopyard::server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

absl::Status start(const std::string& misbehaviour) {
  const Rogue rogue(misbehaviour);
  const auto certificate = make_certificate();
  ServerSpec spec;
  spec.nginx_path = rogue.program();
  spec.listen = *listen_unix(rogue.folder() / "socket");
  spec.directory = rogue.folder() / "server";
  spec.certificate = &*certificate;
  spec.start_timeout = 200ms;
  const base::Deadline bound(10s);
  const absl::Status status = NginxServer::start(std::move(spec)).status();
  EXPECT_FALSE(bound.passed());
  EXPECT_EQ(base::end_orphans(), 0) << "something was left behind";
  return status;
}

// What differs from trial to trial would be another configuration in each.
TEST(Listen, IsWrittenTheSameInEachTrialsFolder) {
  EXPECT_EQ(listen_unix("/tmp/hopyard-a/server.sock")->text, "unix:../server.sock");
  EXPECT_EQ(listen_unix("/tmp/hopyard-b/server.sock")->text, "unix:../server.sock");
}

TEST(RogueStart, AServerThatNeverListensIsGivenUp) {
  const absl::Status status = start("never-listens");
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("does not accept connections"));
}

TEST(RogueStart, AServerThatDiesIsNamedWithItsSignal) {
  const absl::Status status = start("dies-at-start");
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("ended with signal 9"));
}

}  // namespace
}  // namespace hopyard::server

// SPDX-License-Identifier: Apache-2.0
// What makes two trials differ, what does not, and where the first difference is.
#include "run/trial_digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hopyard::run {
namespace {

using testing::HasSubstr;

// A trial that began at `start_ns`: one record, one write, one socket figure.
v1::TrialResult trial(int64_t start_ns) {
  v1::TrialResult result;
  result.set_trial_id("a.00001");
  result.mutable_client()->set_connect_start_ns(start_ns);
  result.mutable_client()->set_connected_ns(start_ns + 20);
  v1::TlsRecord& record = *result.mutable_client()->add_records();
  record.set_content(v1::DATA);
  record.set_plaintext_bytes(1024);
  record.set_received_ns(start_ns + 40);
  v1::SslWrite& write = *result.mutable_server()->add_writes();
  write.set_requested(1024);
  write.set_returned(1024);
  v1::SocketSnapshot& socket = *result.add_sockets();
  socket.set_taken_ns(start_ns + 60);
  (*socket.mutable_values())["tcpi_rtt"] = 20'000;
  (*socket.mutable_values())["tcpi_snd_cwnd"] = 10;
  return result;
}

TEST(TrialDigest, IsTheSameWhereverTheTrialBeganAndWhateverItCostTheMachine) {
  v1::TrialResult other = trial(9'000);
  other.set_trial_id("b.00007");
  other.set_started_ns(8'000);
  other.mutable_server()->set_user_cpu_ns(77);
  other.mutable_environment()->set_load_1m(3.5);
  EXPECT_EQ(first_difference(trial(1'000), other), "");
  EXPECT_EQ(trial_digest(trial(1'000)), trial_digest(other));
  EXPECT_EQ(trial_digest(other).size(), 64u);
}

TEST(TrialDigest, NoticesATimeAByteAWriteAndASocketFigure) {
  const std::string digest = trial_digest(trial(1'000));
  v1::TrialResult time = trial(1'000), byte = trial(1'000), write = trial(1'000), figure = trial(1'000);
  time.mutable_client()->set_connected_ns(1'021);
  byte.mutable_client()->mutable_records(0)->set_plaintext_bytes(1023);
  write.mutable_server()->mutable_writes(0)->set_returned(-1);
  (*figure.mutable_sockets(0)->mutable_values())["tcpi_rtt"] = 20'001;
  for (const auto& changed : {time, byte, write, figure}) EXPECT_NE(trial_digest(changed), digest);
}

TEST(FirstDifference, IsTheEarliestNotTheFirstInTheMessage) {
  v1::TrialResult other = trial(1'000);
  (*other.mutable_sockets(0)->mutable_values())["tcpi_rtt"] = 1;
  other.mutable_client()->mutable_records(0)->set_received_ns(1'045);
  const std::string difference = first_difference(trial(1'000), other);
  EXPECT_THAT(difference, HasSubstr("40 client.records[0].received_ns | "));
}

TEST(FirstDifference, NamesWhatOneOfThemLacks) {
  v1::TrialResult other = trial(1'000);
  other.mutable_client()->mutable_records(0)->clear_received_ns();
  EXPECT_THAT(first_difference(trial(1'000), other), HasSubstr("received_ns | "));
  EXPECT_NE(first_difference(v1::TrialResult(), other), "");
}

}  // namespace
}  // namespace hopyard::run

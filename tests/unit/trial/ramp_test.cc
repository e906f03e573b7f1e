// SPDX-License-Identifier: Apache-2.0
// The ramp from a case's settings, the record list it means, and each check of it on good evidence and on one
// wrong value.
#include "trial/ramp.h"

#include <functional>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trial/record_list.h"

namespace hopyard::trial {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

v1::TrialSpec spec_of(uint32_t threshold = 0) {
  v1::TrialSpec spec;
  spec.mutable_build()->mutable_records()->set_fragment_bytes(16384);
  spec.mutable_build()->mutable_records()->set_dynamic(true);
  v1::Server& server = *spec.mutable_case_()->mutable_server();
  server.set_ssl_dyn_rec_enable(true);
  if (threshold > 0) server.set_ssl_dyn_rec_threshold(threshold);
  spec.mutable_workload()->set_protocol("h1");
  return spec;
}

TEST(Ramp, IsThereOnlyWhereItIsSwitchedOn) {
  v1::TrialSpec spec = spec_of();
  EXPECT_TRUE(ramp_of(spec));
  spec.mutable_case_()->mutable_server()->set_ssl_dyn_rec_enable(false);
  EXPECT_FALSE(ramp_of(spec));
  spec = spec_of();
  spec.mutable_build()->mutable_records()->set_dynamic(false);
  EXPECT_FALSE(ramp_of(spec));
}

TEST(Ramp, MeansFortySmallFortyMiddleThenFullRecords) {
  EXPECT_EQ(describe_records(expected_h1_records(spec_of(), 246 + 1048576)),
            "40 x 1369, 40 x 4229, 50 x 16384, 5702");
}

TEST(Ramp, FollowsTheCase) {
  v1::TrialSpec spec = spec_of(10);
  spec.mutable_case_()->mutable_server()->set_ssl_dyn_rec_size_hi_bytes(16384);
  EXPECT_EQ(describe_records(expected_h1_records(spec, 246 + 1048576)), "10 x 1369, 63 x 16384, 2940");
  spec = spec_of();
  spec.mutable_case_()->mutable_server()->set_ssl_buffer_size_bytes(4096);
  EXPECT_EQ(describe_records(expected_h1_records(spec, 100000)), "40 x 1369, 11 x 4096, 184");
}

struct Evidence {
  v1::TrialSpec spec = spec_of(2);
  v1::ClientEvidence client;
  v1::ServerEvidence server;
};

void add_record(Evidence& evidence, uint32_t size) {
  v1::SslWrite* write = evidence.server.add_writes();
  write->set_seq(static_cast<uint32_t>(evidence.server.writes_size() - 1));
  write->set_requested(size);
  write->set_returned(static_cast<int32_t>(size));
  v1::TlsRecord* record = evidence.client.add_records();
  record->set_content(v1::DATA);
  record->set_plaintext_bytes(size);
  evidence.client.set_decrypted_bytes(evidence.client.decrypted_bytes() + size);
}

void add_step(Evidence& evidence, uint32_t size, bool restored = false) {
  v1::FragmentEvent* event = evidence.server.add_fragments();
  event->set_before_write(static_cast<uint32_t>(evidence.server.writes_size()));
  event->set_fragment_bytes(size);
  event->set_restored(restored);
}

// Two responses with a pause of the timeout between them; one of the first one's writes blocked once.
Evidence good() {
  Evidence evidence;
  for (const char* name : {"first", "second"})
    evidence.spec.mutable_workload()->add_requests()->set_name(name);
  evidence.spec.mutable_workload()->mutable_requests(1)->mutable_after()->set_pause_ns(1'000'000'000);
  evidence.client.add_responses();
  evidence.client.add_responses();
  add_step(evidence, 1369);
  add_record(evidence, 1369);
  add_record(evidence, 1369);
  add_step(evidence, 4229);
  v1::SslWrite* blocked = evidence.server.add_writes();
  blocked->set_seq(2);
  blocked->set_requested(4229);
  blocked->set_returned(-1);
  add_record(evidence, 4229);
  add_record(evidence, 4229);
  add_step(evidence, 16384, /*restored=*/true);
  add_record(evidence, 16384);
  add_record(evidence, 16384);
  add_record(evidence, 77);
  add_step(evidence, 1369);
  add_record(evidence, 1369);
  add_record(evidence, 1000);
  return evidence;
}

std::set<std::string> broken_after(const std::function<void(Evidence&)>& change) {
  Evidence evidence = good();
  change(evidence);
  CheckList checks(Blame::kServer);
  check_ramp(evidence.spec, *ramp_of(evidence.spec), evidence.client, evidence.server, checks);
  std::set<std::string> names;
  for (const v1::Check& check : checks.checks()) {
    if (check.outcome() != v1::HOLDS) names.insert(check.name());
  }
  return names;
}

void resize(Evidence& evidence, int record, int write, uint32_t size) {
  evidence.client.mutable_records(record)->set_plaintext_bytes(size);
  evidence.server.mutable_writes(write)->set_returned(static_cast<int32_t>(size));
}

TEST(RampChecks, HoldOnGoodEvidence) {
  EXPECT_THAT(broken_after([](Evidence&) {}), IsEmpty());
}

TEST(RampChecks, NameARecordThatIsNotTheWrite) {
  EXPECT_THAT(broken_after([](Evidence& e) { e.client.mutable_records(4)->set_plaintext_bytes(16383); }),
              ElementsAre("records as written"));
  EXPECT_THAT(broken_after([](Evidence& e) { e.client.mutable_records()->RemoveLast(); }),
              ElementsAre("records as written"));
}

TEST(RampChecks, NameARecordOverTheRamp) {
  EXPECT_THAT(broken_after([](Evidence& e) { resize(e, 1, 1, 1370); }), ElementsAre("records over the ramp"));
  EXPECT_THAT(broken_after([](Evidence& e) { resize(e, 3, 4, 4230); }), ElementsAre("records over the ramp"));
  // After the pause it is small again.
  EXPECT_THAT(broken_after([](Evidence& e) { resize(e, 7, 8, 4229); }), ElementsAre("records over the ramp"));
}

TEST(RampChecks, NameRecordsShortOfTheRamp) {
  // The two ends of responses and one blocked write explain three.
  EXPECT_THAT(broken_after([](Evidence& e) { resize(e, 0, 0, 1368); }), IsEmpty());
  EXPECT_THAT(broken_after([](Evidence& e) {
                resize(e, 0, 0, 1368);
                resize(e, 4, 5, 16000);
              }),
              ElementsAre("records short of the ramp"));
}

TEST(RampChecks, NameAStepThatIsMissingOrElsewhere) {
  EXPECT_THAT(broken_after([](Evidence& e) { e.server.mutable_fragments()->DeleteSubrange(1, 1); }),
              ElementsAre("ramp steps"));
  EXPECT_THAT(broken_after([](Evidence& e) { e.server.mutable_fragments(2)->set_before_write(6); }),
              ElementsAre("ramp steps"));
  EXPECT_THAT(broken_after([](Evidence& e) { e.server.mutable_fragments(1)->set_fragment_bytes(4096); }),
              ElementsAre("ramp steps"));
}

TEST(RampChecks, NameARampThatDidNotBeginAnew) {
  EXPECT_THAT(broken_after([](Evidence& e) {
                e.server.mutable_fragments()->RemoveLast();
                resize(e, 7, 8, 16384);
                resize(e, 8, 9, 16384);
              }),
              ElementsAre("ramp begun anew"));
}

TEST(RampChecks, KnowLargeBuffersAndSmallOnes) {
  Evidence large;
  large.spec = spec_of(1);
  large.spec.mutable_case_()->mutable_server()->set_ssl_buffer_size_bytes(65536);
  add_step(large, 1369);
  add_record(large, 1369);
  add_step(large, 4229);
  add_record(large, 4229);
  add_step(large, 65536, /*restored=*/true);
  // One write of the whole buffer is four records.
  add_record(large, 16384);
  large.server.mutable_writes(2)->set_returned(65536);
  for (int i = 0; i < 3; ++i) *large.client.add_records() = large.client.records(2);
  // A buffer below the small size makes all steps the same, none of which begins anew.
  Evidence small;
  small.spec = spec_of(1);
  small.spec.mutable_case_()->mutable_server()->set_ssl_buffer_size_bytes(1024);
  for (int i = 0; i < 3; ++i) {
    add_step(small, 1024, /*restored=*/i == 2);
    add_record(small, 1024);
  }
  for (const Evidence& evidence : {large, small}) {
    CheckList checks(Blame::kServer);
    check_ramp(evidence.spec, *ramp_of(evidence.spec), evidence.client, evidence.server, checks);
    for (const v1::Check& check : checks.checks()) {
      EXPECT_EQ(check.outcome(), v1::HOLDS)
          << check.name() << ": expected " << check.expected() << ", saw " << check.seen();
    }
  }
}

}  // namespace
}  // namespace hopyard::trial

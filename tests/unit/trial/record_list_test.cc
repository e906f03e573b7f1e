// SPDX-License-Identifier: Apache-2.0
// Record lists against those of the source experiments: tickets off, 128 KiB and 1 MiB over HTTP/1.1.
#include "trial/record_list.h"

#include "gtest/gtest.h"

namespace hopyard::trial {
namespace {

constexpr uint64_t kHead = 239;  // response head of the source's runs, bytes

v1::TrialSpec spec_of(uint32_t fragment, uint64_t buffer, uint32_t early = 0, uint32_t budget = 0) {
  v1::TrialSpec spec;
  spec.mutable_build()->mutable_records()->set_fragment_bytes(fragment);
  spec.mutable_build()->mutable_records()->set_early_fragment_bytes(early);
  spec.mutable_build()->mutable_records()->set_early_budget_bytes(budget);
  spec.mutable_case_()->mutable_server()->set_ssl_buffer_size_bytes(buffer);
  return spec;
}

size_t count(const v1::TrialSpec& spec, uint64_t body) {
  return expected_h1_records(spec, kHead + body).size();
}

TEST(ExpectedH1Records, AgreesWithTheSourcesCounts) {
  const auto c = spec_of(16384, 16384), d = spec_of(16384, 4096), f = spec_of(4096, 16384);
  const auto e = spec_of(16384, 16384, 1024, 8192);
  EXPECT_EQ(count(c, 131072), 9u);
  EXPECT_EQ(count(d, 131072), 33u);
  EXPECT_EQ(count(f, 131072), 33u);
  EXPECT_EQ(count(c, 1048576), 65u);
  EXPECT_EQ(count(d, 1048576), 257u);
  EXPECT_EQ(count(e, 1048576), 73u);
}

TEST(ExpectedH1Records, EndsTheEarlyRegimeInsideABuffer) {
  const auto records = expected_h1_records(spec_of(16384, 16384, 1024, 8192), kHead + 131072);
  EXPECT_EQ(describe_records(records), "8 x 1024, 8192, 7 x 16384, 239");
}

TEST(ExpectedH1Records, DefaultsToNginxsBufferAndTlssLimit) {
  EXPECT_EQ(describe_records(expected_h1_records({}, 40000)), "2 x 16384, 7232");
  EXPECT_EQ(record_bound_bytes({}), 16384u);
}

TEST(RecordBound, IsTheSmallerOfFragmentAndBuffer) {
  EXPECT_EQ(record_bound_bytes(spec_of(4096, 16384)), 4096u);
  EXPECT_EQ(record_bound_bytes(spec_of(16384, 4096)), 4096u);
}

TEST(DescribeRecords, SaysNoneForNone) { EXPECT_EQ(describe_records({}), "none"); }

}  // namespace
}  // namespace hopyard::trial

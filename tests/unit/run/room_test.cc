// SPDX-License-Identifier: Apache-2.0
// Guests are limited by processors and by memory, and one is always tried.
#include "run/room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/resources.h"

namespace hopyard::run {
namespace {

constexpr uint64_t kGiB = 1u << 30;

TEST(Room, OneGuestForEachProcessor) {
  EXPECT_EQ(most_guests({.processors = 6, .memory_bytes = 64 * kGiB}), 6u);
}

TEST(Room, MemoryLimitsThemFurther) {
  EXPECT_EQ(most_guests({.processors = 16, .memory_bytes = 2 * kGiB}), 3u);
}

TEST(Room, OneIsAlwaysTried) { EXPECT_EQ(most_guests({.processors = 4, .memory_bytes = 0}), 1u); }

TEST(Room, ThisMachineHasSome) {
  const Room room = room_here();
  EXPECT_GE(room.processors, 1u);
  EXPECT_GT(room.memory_bytes, 64u << 20);
}

TEST(Resources, AreFoundInPlainWordsAlsoWhereNothingIsYet) {
  std::vector<std::string> subjects;
  for (const auto& finding : resource_findings("/nonexistent/folder/of/hopyard.db")) {
    subjects.push_back(finding.subject());
    EXPECT_NE(finding.message(), "");
  }
  EXPECT_THAT(subjects, testing::ElementsAre("disk for the database", "disk for builds", "memory", "limits"));
}

TEST(Resources, ADiskThatCannotBeWrittenIsSaid) {
  const auto findings = resource_findings("/proc/hopyard.db");  // holds nothing at all
  EXPECT_FALSE(findings[0].ok()) << findings[0].message();
}

}  // namespace
}  // namespace hopyard::run

// SPDX-License-Identifier: Apache-2.0
// A replay says what it ran with that the trial did not.
#include "run/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "run/tool_version.h"

namespace hopyard::run {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::MatchesRegex;

store::Provenance provenance() {
  store::Provenance made;
  made.kernel_release = "6.12.90-hopyard-0011";
  made.tool_version = "hopyard 0.1.0, worker aa";
  made.build.set_sha256("feed");
  made.binary_sha256 = "beef";
  return made;
}

std::vector<std::string> differences_after(const std::function<void(store::Provenance&)>& change) {
  store::Provenance today = provenance();
  change(today);
  v1::ReplayResponse response;
  add_differences(provenance(), today, response);
  return {response.differences().begin(), response.differences().end()};
}

TEST(ReplayDifferences, AreNoneWhereTheTrialRunsWithTheSame) {
  EXPECT_THAT(differences_after([](store::Provenance&) {}), IsEmpty());
}

TEST(ReplayDifferences, NameEachPartThatIsAnother) {
  EXPECT_THAT(differences_after([](store::Provenance& p) { p.build.set_sha256("f00d"); }),
              ElementsAre("the server variant's definition differs: stored feed, today f00d"));
  EXPECT_THAT(differences_after([](store::Provenance& p) { p.binary_sha256 = "bead"; }),
              ElementsAre("the server build differs: stored beef, today bead"));
  EXPECT_THAT(differences_after([](store::Provenance& p) { p.kernel_release = "6.12.90-hopyard-22"; }),
              ElementsAre("the guest kernel differs: stored 6.12.90-hopyard-0011, today 6.12.90-hopyard-22"));
  EXPECT_THAT(
      differences_after([](store::Provenance& p) { p.tool_version = "hopyard 0.1.0, worker bb"; }),
      ElementsAre("Hopyard differs: stored hopyard 0.1.0, worker aa, today hopyard 0.1.0, worker bb"));
}

TEST(ToolVersion, NamesTheReleaseAndTheWorkerBesideTheProgram) {
  EXPECT_THAT(tool_version("1.2"), MatchesRegex("hopyard 1\\.2, worker [0-9a-f]{16}"));
}

}  // namespace
}  // namespace hopyard::run

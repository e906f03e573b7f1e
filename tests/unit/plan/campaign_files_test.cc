// SPDX-License-Identifier: Apache-2.0
// Every file of tests/data/campaigns has exactly one mistake; its first line says where it is and what must
// be said about it: "# expect LINE:COLUMN fragment | fragment".
#include <algorithm>
#include <filesystem>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/fd.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "places.h"
#include "plan/reader.h"
#include "unit/plan/known.h"

namespace hopyard::plan {
namespace {

const std::filesystem::path kFolder = HOPYARD_SOURCE_DIR "/tests/data/campaigns";

std::vector<std::string> names() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    found.push_back(entry.path().filename().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

struct Expectation {
  std::string place;
  std::vector<std::string> fragments;
};

Expectation expectation(const std::string& yaml) {
  const std::string line = yaml.substr(0, yaml.find('\n'));
  const std::vector<std::string> words = absl::StrSplit(line, absl::MaxSplits(' ', 3));
  if (words.size() != 4 || words[0] != "#" || words[1] != "expect") return {};
  return {words[2], absl::StrSplit(words[3], " | ")};
}

class OneMistake : public testing::TestWithParam<std::string> {};

TEST_P(OneMistake, IsRefusedWhereItStandsAndSaysWhatWouldBeRight) {
  const auto yaml = base::read_file(kFolder / GetParam());
  ASSERT_TRUE(yaml.ok()) << yaml.status();
  const Expectation expected = expectation(*yaml);
  ASSERT_FALSE(expected.fragments.empty()) << "the first line is no expectation";
  v1::CampaignText text;
  text.set_file(GetParam());
  text.set_yaml(*yaml);
  const ReadResult result = read_campaign(text, known());
  const std::string said = describe(result.problems);
  ASSERT_EQ(result.problems.size(), 1u) << said;
  EXPECT_THAT(said, testing::StartsWith(GetParam() + ":" + expected.place + ": "));
  for (const std::string& fragment : expected.fragments) EXPECT_THAT(said, testing::HasSubstr(fragment));
  EXPECT_FALSE(result.problems[0].expected().empty());
}

INSTANTIATE_TEST_SUITE_P(Files, OneMistake, testing::ValuesIn(names()), [](const auto& file) {
  std::string name = file.param.substr(0, file.param.find('.'));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(MistakeFiles, AreAtLeastSixty) { EXPECT_GE(names().size(), 60u); }

}  // namespace
}  // namespace hopyard::plan

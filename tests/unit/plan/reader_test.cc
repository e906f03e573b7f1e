// SPDX-License-Identifier: Apache-2.0
// Good campaigns come out whole, wrong ones with every problem, and changes by options count as if written.
#include "plan/reader.h"

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "stats/percentile.h"
#include "unit/plan/known.h"

namespace hopyard::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string said(const v1::CampaignText& text) { return describe(read_campaign(text, known()).problems); }

std::string said_of_yaml(std::string yaml) {
  v1::CampaignText text;
  text.set_file("f");
  text.set_yaml(std::move(yaml));
  return said(text);
}

v1::CampaignText with_set(std::string assignment) {
  v1::CampaignText text = small();
  text.add_set(std::move(assignment));
  return text;
}

TEST(Reader, TurnsUnitsIntoBaseUnits) {
  const ReadResult result = read_campaign(small(), known());
  ASSERT_EQ(describe(result.problems), "");
  const v1::Path& clean = result.campaign.paths(0);
  EXPECT_EQ(clean.rtt_ns(), 20'000'000);
  EXPECT_EQ(clean.rate_bps(), 20'000'000u);
  EXPECT_EQ(clean.loss(), 0.001);
  EXPECT_EQ(clean.limit_packets(), 10000u);
  const v1::Request& later = result.campaign.workloads(1).requests(1);
  EXPECT_EQ(later.body_bytes(), 4096u);
  EXPECT_EQ(later.after().body_bytes(), 32768u);
  EXPECT_EQ(later.after().pause_ns(), 1'500'000'000);
}

TEST(Reader, ReadsDirectivesOfTheirVariant) {
  const ReadResult result = read_campaign(
      with_set(
          "cases.F={name: F, variant: dyn_rec, server: {ssl_dyn_rec_enable: on, ssl_dyn_rec_size_lo: 1369B, "
          "ssl_dyn_rec_threshold: 10, ssl_dyn_rec_timeout: 5s}}"),
      known());
  ASSERT_EQ(describe(result.problems), "");
  const v1::Server& server = result.campaign.cases(1).server();
  EXPECT_TRUE(server.ssl_dyn_rec_enable());
  EXPECT_EQ(server.ssl_dyn_rec_size_lo_bytes(), 1369u);
  EXPECT_FALSE(server.has_ssl_dyn_rec_size_hi_bytes());
  EXPECT_EQ(server.ssl_dyn_rec_threshold(), 10u);
  EXPECT_EQ(server.ssl_dyn_rec_timeout_ns(), 5'000'000'000);
  EXPECT_EQ(said(with_set("cases.F={name: F, variant: dyn_rec, server: {ssl_dyn_rec_enable: off}}")), "");
}

TEST(Reader, RefusesADirectiveOfAnotherVariant) {
  EXPECT_EQ(said(with_set("cases.F={name: F, variant: stock, server: {ssl_dyn_rec_enable: on}}")),
            "--set cases.F={name: F, variant: stock, server: {ssl_dyn_rec_enable: on}}:1:44: variant `stock` "
            "has no "
            "directive `ssl_dyn_rec_enable`; expected `variant: dyn_rec`, or no such key\n");
}

TEST(Reader, RefusesADirectiveInABlockWhereNginxWould) {
  const std::string wrong =
      "F:1:1: `ssl_dyn_rec_enable` in a `location` block, where nginx refuses it "
      "(\"ssl_dyn_rec_enable\" directive is not allowed here); expected `ssl_dyn_rec_enable` as a "
      "key of `server`, which is nginx's server block\n";
  const std::string what = wrong.substr(wrong.find(": `") + 2);
  for (const char* the_case : {"{name: F, variant: dyn_rec, server: {location: {ssl_dyn_rec_enable: on}}}",
                               "{name: F, variant: dyn_rec, location: {ssl_dyn_rec_enable: on}}"}) {
    const std::string list = said(with_set(std::string("cases.F=") + the_case));
    EXPECT_THAT(list, testing::EndsWith(":" + std::to_string(9 + std::string(the_case).find("ssl_dyn")) +
                                        ": " + what));
    EXPECT_EQ(std::count(list.begin(), list.end(), '\n'), 1) << list;
  }
  // nginx would take this one; a campaign still has one place for it.
  EXPECT_THAT(said(with_set("cases.F.server.http.ssl_dyn_rec_enable=on")),
              HasSubstr("`ssl_dyn_rec_enable` in a `http` block; expected"));
  EXPECT_THAT(said(with_set("cases.F.server.location.nonsense=on")), HasSubstr("`location` is no key here"));
}

TEST(Reader, TakesAFlagInNginxsWordsOnly) {
  for (const char* value : {"true", "yes", "1", "On", "on; location / {}"}) {
    EXPECT_THAT(
        said(with_set(std::string("cases.F={name: F, variant: dyn_rec, server: {ssl_dyn_rec_enable: '") +
                      value + "'}}")),
        HasSubstr("`ssl_dyn_rec_enable`: `" + std::string(value) + "`; expected on or off, such as `on`"));
  }
}

TEST(Reader, RefusesARampThatDoesNotRise) {
  const auto of = [](const std::string& settings) {
    return said(with_set("cases.F={name: F, variant: dyn_rec, server: {" + settings + "}}"));
  };
  EXPECT_THAT(of("ssl_dyn_rec_size_lo: 4229B"),
              HasSubstr("records of 4229 bytes are followed by records of 4229"));
  EXPECT_THAT(of("ssl_dyn_rec_size_hi: 1k"),
              HasSubstr("records of 1369 bytes are followed by records of 1024"));
  EXPECT_EQ(of("ssl_dyn_rec_size_lo: 4229B, ssl_dyn_rec_size_hi: 4230B"), "");
  EXPECT_THAT(of("ssl_dyn_rec_timeout: 1500us"), HasSubstr("no whole number of milliseconds"));
  EXPECT_THAT(of("ssl_dyn_rec_size_hi: 17k"), HasSubstr("is too large"));
}

TEST(Reader, TakesALoopbackPathWithItsImpairment) {
  EXPECT_EQ(said(with_set("paths.bare={name: bare, kind: loopback, rtt: 100ms, loss: 1%, limit: 1000}")), "");
  EXPECT_THAT(said(with_set("paths.bare={name: bare, kind: loopback, rtt: 100ms}")),
              HasSubstr("`rtt` without a packet `limit`"));
}

TEST(Reader, LeavesWhatIsNotWrittenUnset) {
  const v1::Campaign campaign = read_campaign(small(), known()).campaign;
  EXPECT_FALSE(campaign.paths(1).has_rtt_ns());
  EXPECT_FALSE(campaign.paths(1).has_loss());
  EXPECT_FALSE(campaign.cases(0).has_tcp());
  EXPECT_FALSE(campaign.workloads(0).requests(0).has_after());
}

TEST(Reader, FillsInTheDefaults) {
  const v1::Campaign campaign = read_campaign(small(), known()).campaign;
  EXPECT_EQ(campaign.seed(), 1u);
  EXPECT_EQ(campaign.clock(), "real");
  EXPECT_THAT(campaign.kernel(), ElementsAre("auto"));
}

TEST(Reader, KeepsASeedOfZero) {
  v1::CampaignText text = small();
  text.set_seed(0);
  const ReadResult result = read_campaign(text, known());
  EXPECT_EQ(describe(result.problems), "");
  EXPECT_EQ(result.campaign.seed(), 0u);
}

TEST(Reader, ListsEveryProblemInTheOrderOfTheFile) {
  const std::string list = said_of_yaml(
      "name: A\nquestion: q\nrepetitions: 0\nkernal: auto\n"
      "cases: [{name: C, variant: nope}]\n"
      "paths: [{name: clean, kind: routed, rtt: 20, limit: 9}]\n"
      "workloads: [{name: h1-a, protocol: h2, requests: [{name: a, body: 1k}]}]\n");
  const std::vector<std::string> lines = [&] {
    std::vector<std::string> split;
    std::istringstream input(list);
    for (std::string line; std::getline(input, line);) split.push_back(line);
    return split;
  }();
  EXPECT_THAT(
      lines,
      ElementsAre(
          StartsWith("f:1:7: `name`: `A`; expected a text"),
          StartsWith("f:3:14: `repetitions`: `0` is too small"),
          StartsWith(
              "f:4:1: `kernal` is no key here (did you mean `kernel`?); expected one of name, question"),
          StartsWith("f:5:28: no variant is called `nope`"), StartsWith("f:6:42: `rtt`: `20` has no unit"),
          StartsWith("f:7:20: `h1-a` does not begin with its protocol")));
}

TEST(Reader, StopsListingAfterAHundred) {
  std::string yaml = kSmall;
  for (int i = 0; i < 150; ++i) yaml += "zzzz" + std::to_string(i) + ": 1\n";
  v1::CampaignText text = small();
  text.set_yaml(yaml);
  const auto problems = read_campaign(text, known()).problems;
  ASSERT_EQ(problems.size(), 101u);
  EXPECT_EQ(problems.back().message(), "50 more problems from here on");
}

TEST(Reader, RefusesAnEmptyDocument) {
  EXPECT_THAT(said_of_yaml(""), StartsWith("f:1:1: the campaign is empty"));
  EXPECT_THAT(said_of_yaml("# nothing\n"), StartsWith("f:1:1: the campaign is empty"));
}

TEST(Reader, RefusesALargeDocumentUnread) {
  EXPECT_THAT(said_of_yaml(std::string((1u << 20) + 1, 'x')),
              StartsWith("f:1:1: the document has 1048577 bytes; expected at most 1048576"));
}

TEST(Reader, RefusesMoreValuesThanAnyCampaignHas) {
  std::string yaml = "kernel: [a";
  for (int i = 0; i < 100001; ++i) yaml += ",a";
  EXPECT_THAT(said_of_yaml(yaml + "]\n"), HasSubstr("too many values"));
}

TEST(Reader, SaysWhatYamlDidNotUnderstand) {
  EXPECT_THAT(said_of_yaml("name: [a\nquestion: b\n"), HasSubstr("not YAML: "));
}

// The second value is read to its end, however deep, and dropped.
TEST(Reader, ReadsOverTheValueOfARepeatedKey) {
  v1::CampaignText text = small();
  text.set_yaml(std::string(kSmall) + "name: {a: {b: [{c: [[[{d: e}]]]}, f]}, g: h}\n");
  EXPECT_THAT(said(text), StartsWith("small.yaml:17:1: `name` is written twice"));
  EXPECT_EQ(read_campaign(text, known()).problems.size(), 1u);
}

TEST(Reader, RefusesAnAlias) {
  EXPECT_THAT(said_of_yaml("name: *a\n"),
              StartsWith("f:1:7: not YAML: the referenced anchor is not defined"));
}

TEST(Reader, ReadsWindowsLineEndsAndAByteOrderMark) {
  std::string yaml = "\xef\xbb\xbf";
  for (const char byte : std::string(kSmall))
    yaml += byte == '\n' ? std::string("\r\n") : std::string(1, byte);
  EXPECT_EQ(said_of_yaml(yaml), "");
}

TEST(Reader, NamesTheCampaignWhereNoFileIsNamed) {
  EXPECT_THAT(describe(read_campaign(v1::CampaignText(), known()).problems), StartsWith("campaign:1:1: "));
}

TEST(Reader, KnowsNoVariantWhereNoneExists) {
  const auto problems = read_campaign(small(), Known{}).problems;
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0].expected(), "a name that exists; there is none");
}

// The reader refuses what stats/ would not quote, and nothing else.
TEST(Reader, AsksForAsManyRepetitionsAsAPercentileNeeds) {
  for (unsigned percentile = 50; percentile <= 99; ++percentile) {
    uint32_t needed = 1;
    while (!stats::estimable(needed, percentile)) ++needed;
    for (const uint32_t repetitions : {needed - 1, needed}) {
      if (repetitions == 0) continue;
      v1::CampaignText text = with_set("percentiles=" + std::to_string(percentile));
      text.set_repetitions(repetitions);
      EXPECT_EQ(read_campaign(text, known()).problems.empty(), repetitions == needed) << percentile;
    }
  }
}

// A matrix whose parts overlap a million times must be refused before it is worked out.
TEST(Reader, RefusesCellsThatNameTooMany) {
  std::string yaml = "name: big\nquestion: q\nrepetitions: 1\ncases:\n";
  for (int i = 0; i < 1000; ++i) yaml += "- {name: c" + std::to_string(i) + ", variant: stock}\n";
  yaml += "paths:\n";
  for (int i = 0; i < 1000; ++i) yaml += "- {name: p" + std::to_string(i) + ", kind: routed}\n";
  yaml += "workloads:\n- {name: h1-a, protocol: h1, requests: [{name: a, body: 1k}]}\n";
  yaml += "cells: [{}, {}]\n";
  EXPECT_THAT(said_of_yaml(yaml),
              HasSubstr("2000000 cells to run or look at; expected at most 100000 trials"));
}

TEST(Reader, RefusesAListOfMoreThanAThousand) {
  std::string yaml = kSmall;
  yaml += "percentiles: [50";
  for (int i = 0; i < 1000; ++i) yaml += ",50";
  EXPECT_THAT(said_of_yaml(yaml + "]\n"), HasSubstr("`percentiles`: 1001 items, of at most 1000"));
}

TEST(Set, ChangesAKeyAndAnItemReachedByName) {
  v1::CampaignText text = with_set("repetitions=5");
  text.add_set("paths.clean.rtt=40ms");
  text.add_set("workloads.h2-two.requests.later.after.pause=0ms");
  const ReadResult result = read_campaign(text, known());
  ASSERT_EQ(describe(result.problems), "");
  EXPECT_EQ(result.campaign.repetitions(), 5u);
  EXPECT_EQ(result.campaign.paths(0).rtt_ns(), 40'000'000);
  EXPECT_EQ(result.campaign.workloads(1).requests(1).after().pause_ns(), 0);
}

TEST(Set, AddsKeysThatWereNotThere) {
  const ReadResult result = read_campaign(with_set("cases.C.tcp.congestion_control=cubic"), known());
  ASSERT_EQ(describe(result.problems), "");
  EXPECT_EQ(result.campaign.cases(0).tcp().congestion_control(), "cubic");
}

TEST(Set, TakesALaterOneForTheSameKeyAndAWholeList) {
  v1::CampaignText text = with_set("seed=5");
  text.add_set("seed=6");
  text.add_set("kernel=[host, debian-uml]");
  const ReadResult result = read_campaign(text, known());
  ASSERT_EQ(describe(result.problems), "");
  EXPECT_EQ(result.campaign.seed(), 6u);
  EXPECT_THAT(result.campaign.kernel(), ElementsAre("host", "debian-uml"));
}

TEST(Set, PrefersTheLongestNameWhereNamesHoldDots) {
  v1::CampaignText text = small();
  text.set_yaml(absl::StrReplaceAll(kSmall, {{"name: F", "name: C.tcp"}}));
  text.add_set("cases.C.tcp.note=x");
  const ReadResult result = read_campaign(text, known());
  ASSERT_EQ(describe(result.problems), "");
  EXPECT_EQ(result.campaign.cases(1).note(), "x");
}

TEST(Set, IsNamedWithTheColumnInsideIt) {
  EXPECT_THAT(said(with_set("paths.clean.rtt=40")),
              StartsWith("--set paths.clean.rtt=40:1:17: `rtt`: `40` has no unit"));
  EXPECT_THAT(said(with_set("paths.clean.rt=40ms")),
              StartsWith("--set paths.clean.rt=40ms:1:13: `rt` is no key"));
}

TEST(Set, RefusesWhatLeadsNowhere) {
  EXPECT_THAT(said(with_set("reptitions=3")),
              HasSubstr(":1:1: `reptitions` is no key here (did you mean `repetitions`?)"));
  EXPECT_THAT(said(with_set("paths.clan.rtt=3ms")),
              HasSubstr(":1:7: `clan` is the name of no item of that list"));
  EXPECT_THAT(said(with_set("repetitions.x=3")), HasSubstr(":1:13: `x` would stand inside a single value"));
  EXPECT_THAT(said(with_set("repetitions")), HasSubstr(":1:1: `repetitions` sets nothing"));
  EXPECT_THAT(said(with_set("=3")), HasSubstr(":1:1: `=3` sets nothing"));
  EXPECT_THAT(said(with_set("repetitions=")), HasSubstr("`repetitions` has no value"));
  EXPECT_THAT(said(with_set("a.b.c.d.e.f.g.h.i=1")), HasSubstr("too many keys inside keys"));
  EXPECT_THAT(said(with_set("..=1")), HasSubstr(":1:1: an empty key"));
  EXPECT_THAT(said(with_set("name=\xff")), StartsWith("--set:1:1: not UTF-8"));
}

TEST(Options, ReplaceWhatTheFileSays) {
  v1::CampaignText text = with_set("repetitions=5");
  text.set_repetitions(7);
  text.set_seed(99);
  text.set_kernel("host");
  text.set_clock("real");
  const ReadResult result = read_campaign(text, known());
  ASSERT_EQ(describe(result.problems), "");
  EXPECT_EQ(result.campaign.repetitions(), 7u);
  EXPECT_EQ(result.campaign.seed(), 99u);
  EXPECT_THAT(result.campaign.kernel(), ElementsAre("host"));
}

TEST(Options, AreNamedWhenTheyAreWrong) {
  v1::CampaignText text = small();
  text.set_repetitions(0);
  text.set_kernel("hots");
  EXPECT_THAT(said(text), StartsWith("--repetitions 0:1:1: `repetitions`: `0` is too small"));
  EXPECT_THAT(said(text), HasSubstr("\n--kernel hots:1:1: no kernel is called `hots` (did you mean `host`?); "
                                    "expected auto, host, debian-uml or uml-6.12"));
}

TEST(Clock, IsRefusedWhereTheKernelHasNoVirtualOne) {
  v1::CampaignText text = with_set("clock=virtual");
  text.add_set("kernel=[uml-6.12, host, auto]");
  EXPECT_EQ(
      said(text),
      "--set kernel=[uml-6.12, host, auto]:1:19: `host` has no virtual clock, which `clock: virtual` asks "
      "for; expected auto or uml-6.12\n");
  text.add_set("kernel=[uml-6.12, auto]");
  EXPECT_EQ(said(text), "");
  text.set_kernel("debian-uml");
  EXPECT_THAT(said(text), StartsWith("--kernel debian-uml:1:1: `debian-uml` has no virtual clock"));
  text.set_clock("real");
  EXPECT_EQ(said(text), "");
}

TEST(Clock, IsRefusedAtTheKernelsPlaceInTheFile) {
  v1::CampaignText text = small();
  text.set_yaml(text.yaml() + "clock: virtual\nkernel: host\n");
  EXPECT_THAT(said(text), HasSubstr(":9: `host` has no virtual clock"));
}

// The path's kind or the case's name being wrong must not bring other complaints along.
TEST(Reader, DoesNotComplainTwiceAboutOneMistake) {
  v1::CampaignText text = small();
  text.set_yaml(std::string(kSmall) + "cells: [{cases: [c ase], paths: [clean]}]\n");
  text.add_set("cases.C.name=c ase");
  EXPECT_EQ(read_campaign(text, known()).problems.size(), 1u) << said(text);
}

}  // namespace
}  // namespace hopyard::plan

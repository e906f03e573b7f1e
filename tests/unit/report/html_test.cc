// SPDX-License-Identifier: Apache-2.0
// Escaping, numbers and tables.
#include "report/html.h"

#include "gtest/gtest.h"

namespace hopyard::report {
namespace {

TEST(Escaping, LeavesNothingThatMarkupOrAnAttributeCouldEndOn) {
  EXPECT_EQ(escaped("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
  EXPECT_EQ(escaped(std::string("nul\0 \x1b \xff\tü\n", 12)), "nul? ? ?\tü\n");
}

TEST(Escaping, GivesJsonThatCannotEndItsScriptElement) {
  EXPECT_EQ(json_text("</script><!--&\"\\\n"), "\"\\u003c/script\\u003e\\u003c!--\\u0026\\\"\\\\\\u000a\"");
}

TEST(Numbers, AreMillisecondsWithTheExactValueBeside) {
  EXPECT_EQ(milliseconds(501912600), "501.913");
  EXPECT_EQ(milliseconds(-1500000), "−1.500");
  EXPECT_EQ(milliseconds(-100), "0.000");
  EXPECT_EQ(exact_ms("median", 45336999.5), "<data class=\"median\" value=\"45336999.5\">45.337</data>");
  EXPECT_EQ(exact_ms("p90", std::nullopt), "–");
  EXPECT_EQ(utc(1700000000123456789), "2023-11-14 22:13:20 UTC");
}

TEST(OutputTo, ASinkThatFailsGivesItsErrorAndIsNotAskedAgain) {
  int asked = 0;
  const store::Sink full = [&](std::string_view) {
    ++asked;
    return absl::CancelledError("gone");
  };
  Output out(full);
  out.put(std::string(1 << 20, 'x'));
  out.put("more");
  EXPECT_EQ(out.finish(), absl::CancelledError("gone"));
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(out.bytes(), (1u << 20) + 4);
}

}  // namespace
}  // namespace hopyard::report

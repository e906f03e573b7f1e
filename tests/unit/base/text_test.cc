// SPDX-License-Identifier: Apache-2.0
// Whatever comes from outside is UTF-8 without control characters afterwards.
#include "base/text.h"

#include "gtest/gtest.h"

namespace hopyard::base {
namespace {

TEST(Printable, KeepsWhatIsPrintable) {
  const std::string text = "a line\n\tand × – ünï 🙂";
  EXPECT_EQ(printable(text), text);
}

TEST(Printable, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("a\xff\xfe\x80z"), "a???z");
  EXPECT_EQ(printable("cut \xe2\x80"), "cut ??");
  EXPECT_EQ(printable("surrogate \xed\xa0\x80"), "surrogate ???");
}

TEST(Printable, LeavesNothingThatSteersATerminal) {
  EXPECT_EQ(printable(std::string_view("\x1b[31mred\r\0\x7f", 11)), "?[31mred???");
}

TEST(CutUtf8, EndsBeforeTheCharacterThatDoesNotFit) {
  EXPECT_EQ(cut_utf8("a×b", 2), "a");
  EXPECT_EQ(cut_utf8("a×b", 3), "a×");
  EXPECT_EQ(cut_utf8("a×b", 9), "a×b");
  EXPECT_EQ(cut_utf8("×", 0), "");
}

}  // namespace
}  // namespace hopyard::base

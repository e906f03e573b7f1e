// SPDX-License-Identifier: Apache-2.0
// Quantities are exact, or refused with the reason.
#include "plan/quantity.h"

#include "gtest/gtest.h"

namespace hopyard::plan {
namespace {

uint64_t whole(std::string_view text, v1::Unit unit) {
  const Quantity quantity = parse_quantity(text, unit);
  EXPECT_EQ(quantity.error, "") << text;
  return quantity.whole;
}

std::string error(std::string_view text, v1::Unit unit) { return parse_quantity(text, unit).error; }

TEST(Quantity, ReadsEveryUnit) {
  EXPECT_EQ(whole("7ns", v1::UNIT_DURATION), 7u);
  EXPECT_EQ(whole("250us", v1::UNIT_DURATION), 250'000u);
  EXPECT_EQ(whole("20ms", v1::UNIT_DURATION), 20'000'000u);
  EXPECT_EQ(whole("1.5s", v1::UNIT_DURATION), 1'500'000'000u);
  EXPECT_EQ(whole("9bit", v1::UNIT_RATE), 9u);
  EXPECT_EQ(whole("500kbit", v1::UNIT_RATE), 500'000u);
  EXPECT_EQ(whole("20mbit", v1::UNIT_RATE), 20'000'000u);
  EXPECT_EQ(whole("1gbit", v1::UNIT_RATE), 1'000'000'000u);
  EXPECT_EQ(whole("4096B", v1::UNIT_SIZE), 4096u);
  EXPECT_EQ(whole("16k", v1::UNIT_SIZE), 16384u);
  EXPECT_EQ(whole("128KiB", v1::UNIT_SIZE), 131072u);
  EXPECT_EQ(whole("1m", v1::UNIT_SIZE), 1048576u);
  EXPECT_EQ(whole("0.5MiB", v1::UNIT_SIZE), 524288u);
  EXPECT_EQ(whole("12", v1::UNIT_NONE), 12u);
}

TEST(Quantity, GivesTheNearestFractionOfAPercentage) {
  EXPECT_EQ(parse_quantity("0.1%", v1::UNIT_PERCENT).fraction, 0.001);
  EXPECT_EQ(parse_quantity("100%", v1::UNIT_PERCENT).fraction, 1.0);
  EXPECT_EQ(parse_quantity("0.07%", v1::UNIT_PERCENT).fraction, 0.0007);
  EXPECT_EQ(parse_quantity("33.3333%", v1::UNIT_PERCENT).fraction, 0.333333);
}

TEST(Quantity, IsExactUpToTheLastNanosecond) {
  EXPECT_EQ(whole("9223372036.85477580s", v1::UNIT_DURATION), 9223372036854775800u);
  EXPECT_EQ(error("9223372036.85477581s", v1::UNIT_DURATION), "is too large");
  EXPECT_EQ(whole("0.000000001s", v1::UNIT_DURATION), 1u);
  EXPECT_EQ(error("0.0000000001s", v1::UNIT_DURATION), "is not a whole number of the smallest unit");
}

TEST(Quantity, RefusesWhatIsNoNumber) {
  for (const char* text : {"", ".5", "5.", "+5", "0x10", "1_000", ".nan", ".inf", "five", "05", " 5"}) {
    EXPECT_NE(error(text, v1::UNIT_NONE), "") << text;
    EXPECT_NE(error(std::string(text) + "ms", v1::UNIT_DURATION), "") << text;
  }
  EXPECT_EQ(error("-0", v1::UNIT_NONE), "is negative");
  EXPECT_EQ(error("1.2.3ms", v1::UNIT_DURATION), "has the unit `.3ms`");
}

TEST(Quantity, IsWrittenAsAPersonWould) {
  EXPECT_EQ(format_quantity(1e10, v1::UNIT_DURATION), "10s");
  EXPECT_EQ(format_quantity(1500, v1::UNIT_DURATION), "1500ns");
  EXPECT_EQ(format_quantity(0, v1::UNIT_DURATION), "0ns");
  EXPECT_EQ(format_quantity(1e4, v1::UNIT_RATE), "10kbit");
  EXPECT_EQ(format_quantity(65536, v1::UNIT_SIZE), "64KiB");
  EXPECT_EQ(format_quantity(4294967295.0, v1::UNIT_SIZE), "4294967295B");
  EXPECT_EQ(format_quantity(0.005, v1::UNIT_PERCENT), "0.5%");
  EXPECT_EQ(format_quantity(9007199254740991.0, v1::UNIT_NONE), "9007199254740991");
}

}  // namespace
}  // namespace hopyard::plan

// SPDX-License-Identifier: Apache-2.0
// Units are a table; numbers are exact decimals until they are scaled.
#include "plan/quantity.h"

#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>

#include "absl/numeric/int128.h"
#include "fmt/format.h"
#include "plan/problems.h"

namespace hopyard::plan {
namespace {

struct Spelling {
  v1::Unit unit;
  std::string_view name;
  uint64_t factor;
  bool preferred;  // for writing
};

// Ascending inside a unit. Rates are tc's (powers of 1000), sizes nginx's (k is KiB).
constexpr Spelling kSpellings[] = {
    {v1::UNIT_DURATION, "ns", 1, true},
    {v1::UNIT_DURATION, "us", 1'000, true},
    {v1::UNIT_DURATION, "ms", 1'000'000, true},
    {v1::UNIT_DURATION, "s", 1'000'000'000, true},
    {v1::UNIT_RATE, "bit", 1, true},
    {v1::UNIT_RATE, "kbit", 1'000, true},
    {v1::UNIT_RATE, "mbit", 1'000'000, true},
    {v1::UNIT_RATE, "gbit", 1'000'000'000, true},
    {v1::UNIT_SIZE, "B", 1, true},
    {v1::UNIT_SIZE, "k", 1u << 10, false},
    {v1::UNIT_SIZE, "KiB", 1u << 10, true},
    {v1::UNIT_SIZE, "m", 1u << 20, false},
    {v1::UNIT_SIZE, "MiB", 1u << 20, true},
    {v1::UNIT_PERCENT, "%", 1, true},
};

// A decimal number: digits / 10^decimals.
struct Decimal {
  std::string error;
  uint64_t digits = 0;
  unsigned decimals = 0;
  size_t length = 0;  // characters it took
};

// So many digits scale by any factor of the table within 128 bits, and a fraction is rounded only once.
constexpr int kMaxDigits = 18;
constexpr int kMaxPercentDigits = 15;

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

Decimal parse_decimal(std::string_view text, int max_digits) {
  Decimal result;
  if (!text.empty() && text[0] == '-') return {.error = "is negative"};
  int digits = 0;
  bool point = false;
  size_t at = 0;
  for (; at < text.size(); ++at) {
    const bool point_here =
        text[at] == '.' && !point && at > 0 && at + 1 < text.size() && is_digit(text[at + 1]);
    if (!is_digit(text[at]) && !point_here) break;
    point = point || point_here;
    if (point_here) continue;
    if (++digits > max_digits) return {.error = "has too many digits"};
    result.digits = result.digits * 10 + static_cast<uint64_t>(text[at] - '0');
    result.decimals += point;
  }
  const bool leading_zero = text.size() > 1 && text[0] == '0' && is_digit(text[1]);
  if (digits == 0 || leading_zero) return {.error = "is not a number"};
  result.length = at;
  return result;
}

const Spelling* find_spelling(std::string_view name, v1::Unit unit) {
  for (const Spelling& spelling : kSpellings) {
    if (spelling.unit == unit && spelling.name == name) return &spelling;
  }
  return nullptr;
}

// The number ends here and something else follows.
std::string unit_error(std::string_view rest, v1::Unit unit) {
  if (unit == v1::UNIT_NONE) {
    return rest[0] == '.' ? "is not a whole number"
                          : fmt::format("ends in {}, which is no number", quoted(rest));
  }
  if (std::isspace(static_cast<unsigned char>(rest[0]))) return "has a space before its unit";
  return fmt::format("has the unit {}", quoted(rest));
}

Quantity scale(const Decimal& number, uint64_t factor) {
  absl::uint128 value = absl::uint128(number.digits) * factor;
  for (unsigned i = 0; i < number.decimals; ++i) {
    if (value % 10 != 0) return {.error = "is not a whole number of the smallest unit"};
    value /= 10;
  }
  if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return {.error = "is too large"};
  return {.whole = static_cast<uint64_t>(value)};
}

}  // namespace

Quantity parse_quantity(std::string_view text, v1::Unit unit) {
  const bool percent = unit == v1::UNIT_PERCENT;
  const Decimal number = parse_decimal(text, percent ? kMaxPercentDigits : kMaxDigits);
  if (!number.error.empty()) return {.error = number.error};
  const std::string_view rest = text.substr(number.length);
  if (unit == v1::UNIT_NONE) {
    if (!rest.empty()) return {.error = unit_error(rest, unit)};
    if (number.decimals > 0) return {.error = "is not a whole number"};
    return scale(number, 1);
  }
  if (rest.empty()) return {.error = "has no unit"};
  const Spelling* spelling = find_spelling(rest, unit);
  if (spelling == nullptr) return {.error = unit_error(rest, unit)};
  // Both are exact in a double, so the quotient is the double nearest to what was written.
  if (percent) return {.fraction = static_cast<double>(number.digits) / std::pow(10.0, number.decimals + 2)};
  return scale(number, spelling->factor);
}

std::string format_quantity(double value, v1::Unit unit) {
  if (unit == v1::UNIT_NONE) return fmt::format("{:.0f}", value);
  if (unit == v1::UNIT_PERCENT) return fmt::format("{:g}%", value * 100);
  const Spelling* best = nullptr;
  for (const Spelling& spelling : kSpellings) {
    if (spelling.unit != unit || !spelling.preferred) continue;
    const bool fits = std::fmod(value, static_cast<double>(spelling.factor)) == 0 && value != 0;
    if (best == nullptr || fits) best = &spelling;
  }
  return fmt::format("{:.0f}{}", value / static_cast<double>(best->factor), best->name);
}

std::vector<std::string> unit_names(v1::Unit unit) {
  std::vector<std::string> names;
  for (const Spelling& spelling : kSpellings) {
    if (spelling.unit == unit) names.emplace_back(spelling.name);
  }
  return names;
}

}  // namespace hopyard::plan

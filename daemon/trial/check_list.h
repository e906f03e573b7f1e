// SPDX-License-Identifier: Apache-2.0
// Collects evidence checks by name and turns them into a verdict. Knows no evidence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "hopyard/v1/result.pb.h"

namespace hopyard::trial {

// Whose fault a broken check is: the server's (or what it sent) makes a trial `failed`; the bed's, that it
// was not as asked, makes it `invalid`.
enum class Blame { kServer, kBed };

class CheckList {
 public:
  explicit CheckList(Blame blame) : blame_(blame) {}

  void holds(std::string name, std::string expected, std::string seen, bool held);
  template <typename Value>
  void equal(std::string name, const Value& expected, const Value& seen) {
    holds(std::move(name), fmt::format("{}", expected), fmt::format("{}", seen), expected == seen);
  }
  // The kernel cannot do or show it: recorded, not judged.
  void unsupported(std::string name, std::string expected, std::string why);

  Blame blame() const { return blame_; }
  const std::vector<v1::Check>& checks() const { return checks_; }

 private:
  Blame blame_;
  std::vector<v1::Check> checks_;
};

// Appends the checks to `result` and, unless it has a verdict already, gives it one: `invalid` for the first
// broken check of a bed's list, else `failed` for the first broken check of a server's, else `passed`.
void judge(const std::vector<CheckList>& lists, v1::TrialResult& result);

}  // namespace hopyard::trial

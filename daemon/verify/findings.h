// SPDX-License-Identifier: Apache-2.0
// Collects findings. Knows no rule.
#pragma once

#include <string>

#include "fmt/format.h"
#include "verify/verify.h"

namespace hopyard::verify {

class Findings {
 public:
  Findings(Report& report, const Options& options) : report_(report), options_(options) {}

  void set_trial(std::string trial_id) { trial_id_ = std::move(trial_id); }
  const std::string& trial() const { return trial_id_; }

  void add(std::string table, std::string row, std::string column, std::string expected, std::string seen,
           std::string why);
  // A finding unless they are the same.
  template <typename Expected, typename Seen>
  void same(const char* table, const std::string& row, const char* column, const Expected& expected,
            const Seen& seen, const char* why) {
    if (expected == seen) return;
    add(table, row, column, fmt::format("{}", expected), fmt::format("{}", seen), why);
  }
  // A finding unless `holds`.
  template <typename Seen>
  void hold(const char* table, const std::string& row, const char* column, bool holds,
            const std::string& expected, const Seen& seen, const char* why) {
    if (!holds) add(table, row, column, expected, fmt::format("{}", seen), why);
  }

 private:
  Report& report_;
  const Options& options_;
  std::string trial_id_;
};

inline std::string seq(int64_t number) { return fmt::format("seq {}", number); }

}  // namespace hopyard::verify

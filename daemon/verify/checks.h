// SPDX-License-Identifier: Apache-2.0
// What every check of a trial must say, and the verdict that follows, from the trial's rows alone.
#pragma once

#include <string>
#include <vector>

#include "verify/findings.h"
#include "verify/rows.h"

namespace hopyard::verify {

constexpr int64_t kMtu = 1500;  // of the routed path

// A trial with what was asked of it.
struct Subject {
  const StoredTrial& trial;
  const AskedPath& path;
  const AskedCase& one_case;
  const AskedWorkload& workload;
  const std::string& clock;
};

struct Derived {
  std::string name;
  std::string expected;
  std::string seen;
  int64_t outcome;  // as StoredCheck's
  bool of_bed;      // broken: the trial is invalid; else it is failed
};

class DerivedChecks {
 public:
  // What follows is of the bed, or of the server.
  void of_bed(bool bed) { bed_ = bed; }
  void holds(std::string name, std::string expected, std::string seen, bool held) {
    list_.push_back({std::move(name), std::move(expected), std::move(seen), held ? 1 : 2, bed_});
  }
  void equal(std::string name, const std::string& expected, const std::string& seen) {
    holds(std::move(name), expected, seen, expected == seen);
  }
  void equal(std::string name, uint64_t expected, uint64_t seen) {
    equal(std::move(name), std::to_string(expected), std::to_string(seen));
  }
  void unsupported(std::string name, std::string expected, std::string why) {
    list_.push_back({std::move(name), std::move(expected), std::move(why), 3, bed_});
  }
  // In the order in which they are stored: the bed's first.
  std::vector<Derived> take();

 private:
  std::vector<Derived> list_;
  bool bed_ = true;
};

void derive_bed_checks(const Subject& subject, DerivedChecks& checks);     // bed_checks.cc
void derive_server_checks(const Subject& subject, DerivedChecks& checks);  // server_checks.cc

// A campaign's largest body. A number changed by hand beyond it is not hashed or counted for ever.
inline constexpr uint64_t kMostBodyBytes = 64u << 20;
// The bytes of one of the bodies that are served: 0, 1, … 255, repeated; SHA-256 in hex, or what says
// that a body cannot be so large.
std::string fixture_sha256(uint64_t bytes);
// The largest plaintext of a record once an early budget is spent.
uint64_t record_bound_bytes(const Subject& subject);
// Bits of netem's 32-bit fractions.
uint32_t fraction_bits(double fraction);

// Compares stored checks and verdict with the derived ones. Returns how many stored checks were derived;
// names of those that no rule here knows go to `unknown`.
uint64_t judge(const Subject& subject, Findings& findings, std::vector<std::string>& unknown);

}  // namespace hopyard::verify

// SPDX-License-Identifier: Apache-2.0
// A trial's rows against each other and against what was asked: what is told twice must be told the same.
#pragma once

#include <string>
#include <vector>

#include "verify/checks.h"
#include "verify/findings.h"
#include "verify/rows.h"

namespace hopyard::verify {

// records.cc: TLS records, the server's writes and fragments.
void check_records(const Subject& subject, Findings& findings);
// frames.cc: HTTP/2 frames against the records that carried them.
void check_frames(const Subject& subject, Findings& findings);
// responses.cc: responses against records and frames.
void check_responses(const Subject& subject, Findings& findings);
// instants.cc: nothing happens before what it needs, or outside its trial.
void check_instants(const Subject& subject, Findings& findings);
// kernel.cc: sockets and qdiscs.
void check_kernel(const Subject& subject, Findings& findings);
// environment.cc: links, addresses, routes, neighbours, settings.
void check_environment(const Subject& subject, Findings& findings);

// planned.cc: the campaign's hash, and every trial's seed and place, by the rule of campaign-reference.md.
void check_plan(const Asked& asked, const std::vector<StoredTrial>& trials, Findings& findings);

// Application data as it was decrypted: where each byte's record ends, and when.
class Stream {
 public:
  explicit Stream(const std::vector<StoredRecord>& records);

  uint64_t bytes() const { return ends_.empty() ? 0 : ends_.back().offset; }
  // When the byte at `offset` (from 0) was decrypted; 0: it did not come.
  int64_t decrypted_ns(uint64_t offset) const;
  bool ends_at(uint64_t offset) const;  // a record ends after `offset` bytes
  // Bytes that were decrypted by `ns`.
  uint64_t bytes_by(int64_t ns) const;

 private:
  struct End {
    uint64_t offset;
    int64_t decrypted_ns;
  };
  std::vector<End> ends_;
};

}  // namespace hopyard::verify

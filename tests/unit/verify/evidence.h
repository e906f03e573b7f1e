// SPDX-License-Identifier: Apache-2.0
// Real evidence for the tests of verify/: trials that ran in a guest, as a database of schema version 1 holds
// them, and the same recorded anew.
#pragma once

#include <string>
#include <vector>

#include "unit/store/fixture.h"
#include "verify/verify.h"

namespace hopyard::verify {

// Makes the database of tests/data/verify/version-1.sql at `path`: one campaign, done, without seals.
void write_version_1(const std::string& path);

// What a recorded trial ran with.
store::Provenance provenance_of(const std::string& database, const std::string& trial);

// The trials of `from` recorded through the store into a new database at `to`, with figures, a margin for A
// and D and a factorial; returns the id of the campaign, which is done.
std::string record_anew(const std::string& from, const std::string& to);

// Runs SQL as a person would who wants to change what was stored: no trigger, check or key stands in the way.
void change(const std::string& database, const std::string& sql);

Report verified(const std::string& database, const std::string& campaign);

// One line a finding.
std::string in_words(const Report& report);

}  // namespace hopyard::verify

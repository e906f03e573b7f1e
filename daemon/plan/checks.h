// SPDX-License-Identifier: Apache-2.0
// What no single key can tell: references, protocols, sizes, what exists outside the file. Knows no YAML.
#pragma once

#include "plan/fill.h"
#include "plan/problems.h"
#include "plan/reader.h"

namespace hopyard::plan {

// Planning stays quick and the database sane below this; the largest published matrix asked for has 4920.
inline constexpr double kMaxTrials = 100000;
// Of all phases together, as of one.
inline constexpr uint32_t kMaxBlocks = 10000;
// A cell named by many entries of `cells` costs once for each.
inline constexpr double kMaxCellsNamed = 1e6;
// Below the server's own limits of concurrent HTTP/2 streams and of requests on one connection.
inline constexpr int kMaxRequests = 100;

// `campaign` as filled from a file whose problems so far are in `problems`; defaults are in.
void check_campaign(const v1::Campaign& campaign, const Known& known, const Places& places,
                    Problems& problems);

// The last of the campaign's extensions, filled by itself with places "extensions[n]…"; the rest was checked
// before.
void check_last_extension(const v1::Campaign& campaign, const Places& places, Problems& problems);

}  // namespace hopyard::plan

// SPDX-License-Identifier: Apache-2.0
// A campaign as one HTML file: tables written here, charts drawn in the reader's browser from the same rows,
// nothing fetched from anywhere. Computes no figure of its own.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "store/store.h"

namespace hopyard::report {

// What is computed beside the store's own figures; each may be empty.
struct Figures {
  std::vector<v1::PairFigure> pairs;                // of all pairs of cases
  std::vector<v1::InteractionFigure> interactions;  // of the campaign's factorials
  std::vector<v1::CellDiagnostic> diagnostics;      // of every cell's responses
  std::vector<v1::CellFigure> without_drops;        // of the trials without drops alone
  std::vector<v1::Phase> phases;                    // of the campaign's schedule
};

// The page goes to `sink` in pieces; its error ends the writing and is returned as it is. Otherwise errors
// are the store's.
absl::Status write(const store::Store& store, std::string_view ref, const Figures& figures,
                   const store::Sink& sink);

}  // namespace hopyard::report

// SPDX-License-Identifier: Apache-2.0
// YAML text as a plain tree in which every value knows where it was written. The only part that knows the
// YAML library; knows no campaign.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/problems.h"

namespace hopyard::plan {

struct Node {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  Place place;       // where the value begins
  std::string text;  // a scalar's
  std::string key;   // of a map's child
  Place key_place;   // of a map's child
  std::vector<Node> children;

  Node* find(std::string_view wanted);  // the child of that key, or nullptr
};

// The limits of a document; far above any campaign that could be planned.
inline constexpr size_t kMaxDocumentBytes = 1u << 20;
inline constexpr size_t kMaxDepth = 12;
inline constexpr size_t kMaxNodes = 100000;

// The one document in `text`, whose first character stands at `origin` (a single line where its column is not
// 1). Nothing if it could not be read; what is wrong, equal keys included, goes to `problems`.
std::optional<Node> read_tree(std::string_view text, Place origin, Problems& problems);

}  // namespace hopyard::plan

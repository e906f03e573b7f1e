// SPDX-License-Identifier: Apache-2.0
// Where a value was written, and the list of what is wrong. Knows nothing of what is checked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hopyard::v1 {
class Problem;
}  // namespace hopyard::v1

namespace hopyard::plan {

// A point in one of the campaign's sources: the file (source 0) or an option of the command.
struct Place {
  uint32_t source = 0;
  uint32_t line = 1;    // from 1
  uint32_t column = 1;  // from 1, in bytes
};

class Problems {
 public:
  explicit Problems(std::string_view file);
  // A further source; problems placed in it carry `name` where a file's stands.
  uint32_t add_source(std::string_view name);
  // Control characters become "?", and texts beyond 800 bytes are cut.
  void add(Place place, std::string_view message, std::string_view expected);
  // More than will be listed.
  bool full() const { return found_.size() > kLimit; }
  // In the order of sources, then of lines and columns; at most kLimit, and one that counts the rest.
  std::vector<v1::Problem> list() const;

  static constexpr size_t kLimit = 100;

 private:
  struct Found {
    Place place;
    std::string message;
    std::string expected;
  };
  v1::Problem problem(const Found& found) const;
  std::vector<std::string> sources_;
  std::vector<Found> found_;
};

// `text` in backquotes, control characters escaped, cut at 60 bytes: for messages.
std::string quoted(std::string_view text);
// "a, b or c" (or with another last word); cut after twenty.
std::string enumerated(const std::vector<std::string>& words, std::string_view last = "or");
// " (did you mean `x`?)" if one of `words` is near `text`, else empty.
std::string suggestion(std::string_view text, const std::vector<std::string>& words);

}  // namespace hopyard::plan

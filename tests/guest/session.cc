// SPDX-License-Identifier: Apache-2.0
// Lists of texts in one frame.
#include "guest/session.h"

namespace hopyard::guest_test {

std::string join_texts(const std::vector<std::string>& texts) {
  std::string joined;
  for (const auto& text : texts) joined.append(text).push_back('\0');
  return joined;
}

std::vector<std::string> split_texts(std::string_view joined) {
  std::vector<std::string> texts;
  for (size_t end; (end = joined.find('\0')) != std::string_view::npos; joined.remove_prefix(end + 1)) {
    texts.emplace_back(joined.substr(0, end));
  }
  return texts;
}

}  // namespace hopyard::guest_test

// SPDX-License-Identifier: Apache-2.0
// Decodes UTF-8 far enough to know where it stops being UTF-8.
#include "plan/utf8.h"

#include <cstdint>

namespace hopyard::plan {
namespace {

// Length of the character at the front of `text`; 0 if it is not one.
size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  uint32_t code = lead & (0xff >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte & 0x3f);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < kSmallest[length] || code > 0x10ffff || surrogate ? 0 : length;
}

}  // namespace

size_t valid_utf8_prefix(std::string_view text) {
  size_t offset = 0;
  while (offset < text.size()) {
    const size_t length = character_length(text.substr(offset));
    if (length == 0) break;
    offset += length;
  }
  return offset;
}

}  // namespace hopyard::plan

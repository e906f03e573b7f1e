// SPDX-License-Identifier: Apache-2.0
// Decodes UTF-8 far enough to know where it stops being UTF-8.
#include "base/text.h"

#include <cstdint>

namespace hopyard::base {
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

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

bool is_control(char byte) {
  return (static_cast<unsigned char>(byte) < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
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

std::string_view cut_utf8(std::string_view text, size_t limit_bytes) {
  if (text.size() <= limit_bytes) return text;
  while (limit_bytes > 0 && continues_character(text[limit_bytes])) --limit_bytes;
  return text.substr(0, limit_bytes);
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t length = character_length(text);
    if (length == 0 || is_control(text[0]))
      result += '?';
    else
      result.append(text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

}  // namespace hopyard::base

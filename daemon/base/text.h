// SPDX-License-Identifier: Apache-2.0
// Texts from outside, made fit for protobuf, which demands UTF-8, and for terminals. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hopyard::base {

// Length of the longest prefix made of whole UTF-8 characters (no surrogates, no overlong forms).
size_t valid_utf8_prefix(std::string_view text);

// At most `limit_bytes` of `text`, not ending inside a UTF-8 character.
std::string_view cut_utf8(std::string_view text, size_t limit_bytes);

// `text` with '?' for every byte that is not UTF-8 and for every control character but line feed and tab.
std::string printable(std::string_view text);

}  // namespace hopyard::base

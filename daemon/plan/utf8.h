// SPDX-License-Identifier: Apache-2.0
// Whether bytes are UTF-8, as protobuf demands of its texts. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace hopyard::plan {

// Length of the longest prefix made of whole UTF-8 characters (no surrogates, no overlong forms).
size_t valid_utf8_prefix(std::string_view text);

}  // namespace hopyard::plan

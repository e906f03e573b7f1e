// SPDX-License-Identifier: Apache-2.0
// The three places of a routed path, and the one of a loopback path.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace hopyard::lab {

enum class Side { kClient, kRouter, kServer, kLoopback };
// Of a routed path.
inline constexpr std::array kSides = {Side::kClient, Side::kRouter, Side::kServer};

constexpr size_t side_index(Side side) { return static_cast<size_t>(side); }

constexpr std::string_view side_name(Side side) {
  constexpr std::array<std::string_view, 4> kNames = {"client", "router", "server", "loopback"};
  return kNames[side_index(side)];
}

}  // namespace hopyard::lab

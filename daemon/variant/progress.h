// SPDX-License-Identifier: Apache-2.0
// How a build tells what it does and how far it is. Knows no terminal and no wire.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace hopyard::variant {

struct Progress {
  std::string variant;  // a variant's name, or the pin's while a shared library is built
  std::string step;     // "fetch", "unpack", "patch", "configure", "compile", "check", "ready"
  std::string message;  // plain words, one line
  uint32_t done = 0;    // of total
  uint32_t total = 0;   // 0: not known
};

// Called on the building thread, about once a second; may be empty.
using ProgressSink = std::function<void(const Progress&)>;

}  // namespace hopyard::variant

// SPDX-License-Identifier: Apache-2.0
// Standard error as a terminal or a log, and Ctrl-C as a call. Knows nothing of campaigns.
#pragma once

#include <functional>
#include <string_view>

namespace hopyard::cli {

bool stderr_is_terminal();
// Columns of the terminal on standard error; 80 where it does not say.
unsigned terminal_width();

// From here on SIGINT and SIGTERM are taken by a thread of their own; without an InterruptWatch they end the
// program as ever. Before any other thread is started.
void take_interrupts();

// Calls `on_interrupt`, on another thread, whenever the user interrupts while it lives. One at a time.
class InterruptWatch {
 public:
  explicit InterruptWatch(std::function<void()> on_interrupt);
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
};

// Onto standard error, whether or not anybody can read it.
void say(std::string_view text);

}  // namespace hopyard::cli

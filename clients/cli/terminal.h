// SPDX-License-Identifier: Apache-2.0
// Standard error as a terminal or a log, and Ctrl-C as a call. Knows nothing of campaigns.
#pragma once

#include <functional>
#include <thread>

#include "base/fd.h"

namespace hopyard::cli {

bool stderr_is_terminal();
// Columns of the terminal on standard error; 80 where it does not say.
unsigned terminal_width();

// Blocks SIGINT and SIGTERM in the whole program. Before any thread is started.
void block_interrupts();

// Calls `on_interrupt` once, on its own thread, if the user interrupts while it lives.
class InterruptWatch {
 public:
  explicit InterruptWatch(std::function<void()> on_interrupt);
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

 private:
  base::Fd signals_;
  base::Pipe stop_;
  std::thread thread_;
};

}  // namespace hopyard::cli

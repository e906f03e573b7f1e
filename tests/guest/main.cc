// SPDX-License-Identifier: Apache-2.0
// The main of every guest test: one program that boots a guest, is its first process, and runs the tests in
// it.
#include <string_view>
#include <vector>

#include "guest/session.h"
#include "lab/guest_init.h"
#include "worker/keeper.h"

int main(int argc, char** argv) {
  if (hopyard::lab::is_guest_init()) hopyard::guest_test::run_in_guest();
  if (argc > 1 && std::string_view(argv[1]) == "--keep-guest") {
    return hopyard::worker::keep_guest({argv + 2, argv + argc});
  }
  return hopyard::guest_test::run_on_host(argc, argv);
}

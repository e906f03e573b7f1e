// SPDX-License-Identifier: Apache-2.0
// hopyard-worker: chooses the mode, nothing else.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string_view>

#include "fmt/format.h"
#include "lab/sandbox.h"
#include "worker/keeper.h"
#include "worker/modes.h"

namespace {

constexpr char kUsage[] =
    "usage: hopyard-worker --host        run one job, standard input to standard output, in fresh "
    "namespaces\n"
    "       hopyard-worker --guest-init [ORDER]\n"
    "                                    run one job over /dev/ttyS0, as the first process of a guest\n"
    "       hopyard-worker --keep-guest COMMAND [ARGUMENT...]\n"
    "                                    run a guest's kernel and leave nothing of it\n"
    "       hopyard-worker --probe       say what this machine's kernel can do\n"
    "It is started by hopyardd.\n";

// By hand, most likely in the machine's first network namespace.
int refuse() {
  if (const absl::Status status = hopyard::lab::refuse_initial_namespace(); !status.ok()) {
    fmt::print(stderr, "{}\n", std::string(status.message()));
  }
  fmt::print(stderr, "{}", kUsage);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  // A daemon that has gone is an error to handle, not a signal.
  std::signal(SIGPIPE, SIG_IGN);
  if (mode == "--keep-guest") return hopyard::worker::keep_guest({argv + 2, argv + argc});
  if (mode == "--guest-init" && argc <= 3)
    return hopyard::worker::run_as_guest_init(argc == 3 ? argv[2] : "");
  if (argc != 2) return refuse();
  if (mode == "--host") return hopyard::worker::run_on_host();
  if (mode == "--probe") return hopyard::worker::run_probe();
  return refuse();
}

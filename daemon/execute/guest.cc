// SPDX-License-Identifier: Apache-2.0
// The command line of a UML guest.
#include "execute/guest.h"

#include <unistd.h>

#include "fmt/format.h"

namespace hopyard::execute {

absl::StatusOr<std::vector<std::string>> uml_command(const GuestSpec& spec) {
  if (!spec.init_path.starts_with('/') || spec.init_path.find_first_of("\"\n") != std::string::npos) {
    return absl::InvalidArgumentError(fmt::format(
        "boot guest: {}: a guest's first process needs an absolute path without quotes", spec.init_path));
  }
  std::vector<std::string> command = {
      spec.kernel,
      fmt::format("mem={}M", spec.memory_mib),
      // UML appends these two where they are missing, behind "--" and so to the first process.
      "root=98:0",
      "console=tty0",
      "rootfstype=hostfs",
      "rootflags=/",
      "ro",
      fmt::format("init=\"{}\"", spec.init_path),
      "con=null",
      "con0=null,fd:1",
      "ssl=null",
      "ssl0=fd:3,fd:4",
      // Half of a Debian guest's boot is a benchmark of RAID 6 code.
      "initcall_blacklist=raid6_select_algo",
      "quiet",
      "loglevel=1",
      // No control socket and no pid file: UML cannot make them in /proc, says so and goes on. Nothing is
      // left of a killed guest that way.
      "uml_dir=/proc",
  };
  command.insert(command.end(), spec.kernel_options.begin(), spec.kernel_options.end());
  if (!spec.init_args.empty()) command.push_back("--");
  command.insert(command.end(), spec.init_args.begin(), spec.init_args.end());
  return command;
}

absl::StatusOr<base::Child> start_guest(const GuestSpec& spec) {
  if (::access(spec.kernel.c_str(), X_OK) != 0) return base::errno_status("boot guest", spec.kernel);
  HOPYARD_ASSIGN_OR_RETURN(const std::vector<std::string> command, uml_command(spec));
  base::ChildOptions options;
  options.argv = spec.keeper;
  options.argv.insert(options.argv.end(), command.begin(), command.end());
  options.stdin_fd = spec.serial_in;
  options.stdout_fd = spec.serial_out;
  options.stderr_fd = spec.console_fd;
  // The keeper watches its standard input instead: a death signal would come with the end of this thread.
  options.parent_death_signal = 0;
  options.new_process_group = true;  // a terminal's Ctrl-C is not for the guest
  return base::Child::start(options);
}

}  // namespace hopyard::execute

// SPDX-License-Identifier: Apache-2.0
// The `unix` path: a Unix-domain socket in the scratch folder.
#include <sys/socket.h>

#include "trial/bare_bed.h"
#include "trial/beds.h"

namespace hopyard::trial {
namespace {

class UnixBed final : public BareBed {
 public:
  using BareBed::BareBed;
  absl::StatusOr<base::Fd> client_socket() const override {
    base::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid()) return base::errno_status("make socket", listen().text);
    return fd;
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Bed>> make_unix_bed(const std::string& scratch) {
  HOPYARD_ASSIGN_OR_RETURN(server::Listen listen, server::listen_unix(scratch + "/server.sock"));
  return std::make_unique<UnixBed>(std::move(listen));
}

}  // namespace hopyard::trial

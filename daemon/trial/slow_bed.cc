// SPDX-License-Identifier: Apache-2.0
// The gate's slow reader: a pause before each read, small buffers at both ends of a loopback of its own.
#include <sys/socket.h>

#include "lab/loopback.h"
#include "trial/bare_bed.h"
#include "trial/beds.h"
#include "trial/tcp_bed.h"

namespace hopyard::trial {
namespace {

// Below the kernel's minima (socket(7)), which it then takes: about 4.5 KiB to send, 2.25 KiB to receive.
constexpr uint32_t kSendBufferBytes = 2048;
constexpr int kReceiveBufferBytes = 1024;

class SlowBed final : public BareBed {
 public:
  SlowBed(server::Listen listen, lab::NetNamespace ns, std::chrono::nanoseconds read_pause)
      : BareBed(std::move(listen)), ns_(std::move(ns)), read_pause_(read_pause) {}

  const lab::NetNamespace* server_namespace() const override { return &ns_; }
  std::chrono::nanoseconds read_pause() const override { return read_pause_; }
  uint32_t send_buffer_bytes() const override { return kSendBufferBytes; }
  absl::StatusOr<base::Fd> client_socket() const override {
    return ns_.run([this]() -> absl::StatusOr<base::Fd> {
      base::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (!fd.valid()) return base::errno_status("make socket", listen().text);
      if (::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBufferBytes, sizeof kReceiveBufferBytes) !=
          0) {
        return base::errno_status("set SO_RCVBUF", listen().text);
      }
      return fd;
    });
  }

 private:
  lab::NetNamespace ns_;
  // Small buffers alone do not block a server whose every write wakes a client on the same processor.
  std::chrono::nanoseconds read_pause_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Bed>> make_slow_bed(std::chrono::nanoseconds read_pause) {
  HOPYARD_ASSIGN_OR_RETURN(server::Listen listen, server::listen_ipv4("127.0.0.1", kPort));
  HOPYARD_ASSIGN_OR_RETURN(lab::NetNamespace ns, lab::make_loopback_namespace());
  return std::make_unique<SlowBed>(std::move(listen), std::move(ns), read_pause);
}

}  // namespace hopyard::trial

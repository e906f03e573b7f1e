// SPDX-License-Identifier: Apache-2.0
// Moves bytes between the kernel and TLS, one complete record at a time.
#include "probe/channel.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"

namespace hopyard::probe {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr int64_t kFarNs = kNsPerSecond;

}  // namespace

Channel::Channel(base::Fd socket, TlsEngine engine, size_t expected_records,
                 std::chrono::nanoseconds read_pause)
    : socket_(std::move(socket)), read_pause_(read_pause), engine_(std::move(engine)) {
  records_.reserve(std::min(expected_records, kMaxRecords));
}

absl::Status Channel::prepare_socket(int family) {
  const int flags = ::fcntl(socket_.get(), F_GETFL);
  if (flags < 0 || ::fcntl(socket_.get(), F_SETFL, flags | O_NONBLOCK) != 0) {
    return base::errno_status("make non-blocking", "client socket");
  }
  const int on = 1;
  if (family != AF_UNIX && ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
    return base::errno_status("set TCP_NODELAY", "client socket");
  }
  return absl::OkStatus();
}

absl::Status Channel::connect(const base::Endpoint& endpoint, int64_t until_ns) {
  HOPYARD_RETURN_IF_ERROR(prepare_socket(endpoint.address.ss_family));
  now_ns_ = connect_start_ns_ = base::monotonic_ns();
  if (::connect(socket_.get(), endpoint.get(), endpoint.length) != 0) {
    if (errno != EINPROGRESS) return base::errno_status("connect", "server");
    HOPYARD_RETURN_IF_ERROR(await_connection(until_ns));
  }
  now_ns_ = connected_ns_ = base::monotonic_ns();
  return absl::OkStatus();
}

absl::Status Channel::await_connection(int64_t until_ns) {
  HOPYARD_ASSIGN_OR_RETURN(const bool ready, wait(POLLOUT, until_ns));
  if (!ready) return absl::DeadlineExceededError("connect: server: no answer in time");
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  return error == 0 ? absl::OkStatus() : base::errno_status("connect", "server", error);
}

absl::StatusOr<bool> Channel::wait(short events, int64_t until_ns) {
  pollfd entry{.fd = socket_.get(), .events = events, .revents = 0};
  for (;;) {
    // For an end that is far off the last reading of the clock is near enough.
    if (until_ns - now_ns_ < kFarNs) now_ns_ = base::monotonic_ns();
    const int64_t left = std::max<int64_t>(until_ns - now_ns_, 0);
    const timespec timeout{.tv_sec = left / kNsPerSecond, .tv_nsec = left % kNsPerSecond};
    const int ready = ::ppoll(&entry, 1, &timeout, nullptr);
    if (ready >= 0) return ready > 0;
    if (errno != EINTR) return base::errno_status("wait", "client socket");
  }
}

absl::StatusOr<Channel::Step> Channel::step(int64_t until_ns, const Sink& sink) {
  if (!closed_how_.empty()) return Step::closed;
  for (;;) {
    HOPYARD_RETURN_IF_ERROR(flush());
    if (read_pause_.count() > 0) {
      HOPYARD_RETURN_IF_ERROR(wait(0, std::min(until_ns, base::Deadline(read_pause_).at_ns())).status());
    }
    if (!std::exchange(drained_, false)) {
      HOPYARD_ASSIGN_OR_RETURN(const std::optional<Step> read, read_once(sink));
      if (read) return *read;
    }
    const bool sending = !engine_.output().empty();
    HOPYARD_ASSIGN_OR_RETURN(const bool ready,
                             wait(static_cast<short>(sending ? POLLIN | POLLOUT : POLLIN), until_ns));
    if (!ready) {
      now_ns_ = base::monotonic_ns();
      return Step::timed_out;
    }
    if (sending) {
      HOPYARD_RETURN_IF_ERROR(flush());
      return Step::moved;
    }
  }
}

absl::StatusOr<std::optional<Channel::Step>> Channel::read_once(const Sink& sink) {
  const std::span<uint8_t> room = reader_.room();
  const ssize_t size = ::recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (size >= 0) now_ns_ = base::monotonic_ns();
  if (size < 0) {
    if (errno == EAGAIN || errno == EINTR) return std::nullopt;
    if (errno == ECONNRESET) return closed("reset the connection");
    return base::errno_status("read", "server");
  }
  if (size == 0) return closed("closed without close_notify");
  drained_ = static_cast<size_t>(size) < room.size();
  reader_.commit(static_cast<size_t>(size));
  HOPYARD_RETURN_IF_ERROR(open_records(now_ns_, sink));
  return closed_how_.empty() ? Step::moved : Step::closed;
}

Channel::Step Channel::closed(std::string how) {
  if (const size_t pending = reader_.pending_bytes(); pending > 0) {
    absl::StrAppend(&how, " in the middle of a record, ", pending, " bytes into it");
  }
  closed_how_ = std::move(how);
  return Step::closed;
}

absl::Status Channel::open_records(int64_t received_ns, const Sink& sink) {
  while (closed_how_.empty()) {
    HOPYARD_ASSIGN_OR_RETURN(const auto record, reader_.next());
    if (!record) break;
    HOPYARD_RETURN_IF_ERROR(open_record(*record, received_ns, sink));
  }
  return absl::OkStatus();
}

absl::Status Channel::open_record(std::span<const uint8_t> record, int64_t received_ns, const Sink& sink) {
  if (records_.size() == kMaxRecords) {
    return absl::ResourceExhaustedError(absl::StrCat("read record: server: sent more than ", kMaxRecords));
  }
  const OpenedRecord opened = engine_.open(record);
  now_ns_ = std::max(now_ns_, opened.decrypted_ns);
  records_.push_back({.content = opened.content,
                      .outer_type = record[0],
                      .wire_bytes = static_cast<uint32_t>(record.size()),
                      .plaintext_bytes = opened.plaintext_bytes,
                      .received_ns = received_ns,
                      .decrypted_ns = opened.decrypted_ns});
  decrypted_bytes_ += opened.plaintext.size();
  HOPYARD_RETURN_IF_ERROR(opened.status);
  if (handshake_done_ns_ == 0) HOPYARD_RETURN_IF_ERROR(flush());
  if (opened.close_notify) closed_how_ = "closed with close_notify";
  return opened.plaintext.empty() ? absl::OkStatus() : sink(opened.plaintext, opened.decrypted_ns);
}

absl::Status Channel::flush() {
  for (auto output = engine_.output(); !output.empty(); output = engine_.output()) {
    const ssize_t size = ::send(socket_.get(), output.data(), output.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size >= 0) {
      last_taken_ns_ = base::monotonic_ns();
      taken_bytes_ += static_cast<uint64_t>(size);
      engine_.consume(static_cast<size_t>(size));
    } else if (errno == EAGAIN) {
      return absl::OkStatus();
    } else if (errno == EPIPE || errno == ECONNRESET) {
      engine_.consume(output.size());
    } else if (errno != EINTR) {
      return base::errno_status("write", "server");
    }
  }
  if (engine_.handshake_done() && handshake_done_ns_ == 0) handshake_done_ns_ = base::monotonic_ns();
  return absl::OkStatus();
}

absl::Status Channel::close() {
  engine_.close();
  return flush();
}

}  // namespace hopyard::probe

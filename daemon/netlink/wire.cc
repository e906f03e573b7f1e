// SPDX-License-Identifier: Apache-2.0
// Netlink sockets and their exchanges.
#include "netlink/wire.h"

#include <libmnl/libmnl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/string_view.h"
#include "fmt/format.h"

namespace hopyard::netlink::wire {
namespace {

// Where the extended-ack attributes begin: behind the error code and the request it quotes (all of it, or its
// header alone if the socket asked for capped acks).
Bytes ack_attributes(uint16_t flags, Bytes payload) {
  if (!(flags & NLM_F_ACK_TLVS)) return {};
  const auto error = read<nlmsgerr>(payload);
  if (!error) return {};
  size_t skip = sizeof(nlmsgerr);
  if (!(flags & NLM_F_CAPPED)) {
    if (error->msg.nlmsg_len < sizeof(nlmsghdr)) return {};
    skip += NLMSG_ALIGN(size_t{error->msg.nlmsg_len} - sizeof(nlmsghdr));
  }
  return skip < payload.size() ? payload.subspan(skip) : Bytes{};
}

absl::Status status_of(int error, std::string_view words) {
  if (error == 0) return absl::OkStatus();
  const absl::StatusCode code = absl::ErrnoToStatusCode(error);
  if (words.empty()) return absl::Status(code, strerror(error));
  return absl::Status(code, fmt::format("{} ({})", strerror(error), words));
}

}  // namespace

absl::StatusOr<base::Fd> open_socket(int protocol) {
  base::Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol));
  if (!fd.valid()) return base::errno_status("open", fmt::format("netlink socket {}", protocol));
  const int on = 1;
  // Both since Linux 4.12; without them the messages are only less clear.
  (void)::setsockopt(fd.get(), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  (void)::setsockopt(fd.get(), SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return base::errno_status("bind", fmt::format("netlink socket {}", protocol));
  }
  return fd;
}

Request::Request(uint16_t type, uint16_t flags) {
  mnl_nlmsg_put_header(buffer_.data());
  header()->nlmsg_type = type;
  header()->nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags);
}

void* Request::extra(size_t size) { return mnl_nlmsg_put_extra_header(header(), size); }

absl::Status send(int fd, Bytes bytes) {
  while (::send(fd, bytes.data(), bytes.size(), 0) < 0) {
    if (errno != EINTR) return base::errno_status("send", "netlink request");
  }
  return absl::OkStatus();
}

absl::StatusOr<Bytes> receive(int fd, std::vector<char>& buffer) {
  buffer.resize(kReceiveBytes);
  while (true) {
    // MSG_TRUNC: the true length, so that a cut datagram is seen.
    const ssize_t n = ::recv(fd, buffer.data(), buffer.size(), MSG_TRUNC);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return base::errno_status("receive", "netlink answer");
    if (static_cast<size_t>(n) > buffer.size()) {
      return absl::InternalError(fmt::format("receive: netlink answer: {} bytes do not fit", n));
    }
    return Bytes(reinterpret_cast<const uint8_t*>(buffer.data()), static_cast<size_t>(n));
  }
}

void for_each_message(Bytes datagram, absl::FunctionRef<void(const nlmsghdr&, Bytes)> visit) {
  while (const auto header = read<nlmsghdr>(datagram)) {
    if (header->nlmsg_len < sizeof(nlmsghdr) || header->nlmsg_len > datagram.size()) return;
    visit(*header, datagram.subspan(sizeof(nlmsghdr), header->nlmsg_len - sizeof(nlmsghdr)));
    const size_t step = NLMSG_ALIGN(size_t{header->nlmsg_len});
    if (step >= datagram.size()) return;
    datagram = datagram.subspan(step);
  }
}

absl::Status error_of(uint16_t flags, Bytes payload) {
  const int error = read<int>(payload).value_or(-EBADMSG);
  std::string_view words;
  for_each_attribute(ack_attributes(flags, payload), [&words](uint16_t type, Bytes value) {
    if (type == NLMSGERR_ATTR_MSG) words = text(value);
  });
  return status_of(error < 0 ? -error : error, words);
}

absl::Status exchange(int fd, Bytes request, std::vector<char>& buffer,
                      absl::FunctionRef<void(uint16_t, Bytes)> on_message) {
  HOPYARD_RETURN_IF_ERROR(send(fd, request));
  const uint32_t sequence = read<nlmsghdr>(request)->nlmsg_seq;
  absl::Status result;
  bool answered = false;
  bool interrupted = false;
  while (!answered) {
    HOPYARD_ASSIGN_OR_RETURN(const Bytes datagram, receive(fd, buffer));
    for_each_message(datagram, [&](const nlmsghdr& header, Bytes payload) {
      if (header.nlmsg_seq != sequence || answered) return;  // left over from a request given up
      interrupted |= (header.nlmsg_flags & NLM_F_DUMP_INTR) != 0;
      answered = header.nlmsg_type == NLMSG_ERROR || header.nlmsg_type == NLMSG_DONE;
      if (!answered) {
        on_message(header.nlmsg_type, payload);
      } else {
        result = error_of(header.nlmsg_flags, payload);
      }
    });
  }
  if (result.ok() && interrupted) return absl::AbortedError("the dump changed while it was made");
  return result;
}

std::string_view text(Bytes bytes) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return all.substr(0, all.find('\0'));
}

uint64_t Field::value_in(Bytes bytes) const {
  uint64_t value = 0;
  switch (size) {
    case 1:
      value = bytes[offset];
      break;
    case 2:
      value = *read<uint16_t>(bytes.subspan(offset));
      break;
    case 4: {
      const uint32_t word = *read<uint32_t>(bytes.subspan(offset));
      value = is_signed ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(word)}) : word;
      break;
    }
    default:
      value = *read<uint64_t>(bytes.subspan(offset));
  }
  return value;
}

}  // namespace hopyard::netlink::wire

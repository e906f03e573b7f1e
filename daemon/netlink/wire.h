// SPDX-License-Identifier: Apache-2.0
// Netlink messages as bytes: one socket owner, one exchange of request and answer, and reading that trusts no
// length. Knows no message type. Private to the room.
#pragma once

#include <linux/netlink.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/fd.h"
#include "base/status.h"

namespace hopyard::netlink::wire {

using Bytes = std::span<const uint8_t>;

// A netlink socket in the current namespace, with the kernel's error texts (extended acks) switched on.
absl::StatusOr<base::Fd> open_socket(int protocol);

// Room for every answer the kernel gives in one read: it fills at most 32 KiB a time.
inline constexpr size_t kReceiveBytes = 32768;

// The request being built; libmnl's put functions write into it.
class Request {
 public:
  Request(uint16_t type, uint16_t flags);
  nlmsghdr* header() { return reinterpret_cast<nlmsghdr*>(buffer_.data()); }
  // Appends a zeroed T after the header.
  template <typename T>
  T* extra() {
    return static_cast<T*>(extra(sizeof(T)));
  }
  Bytes bytes() { return {buffer_.data(), header()->nlmsg_len}; }

 private:
  void* extra(size_t size);
  alignas(NLMSG_ALIGNTO) std::array<uint8_t, 2048> buffer_;
};

// Sends `request` (its nlmsg_seq set) and reads until it is answered: an ack or error, or a dump's end. Each
// other message goes to `on_message`: its type and its payload behind the header. ABORTED if the kernel says
// that the dump changed while it was made; else the kernel's errno with its own words.
absl::Status exchange(int fd, Bytes request, std::vector<char>& buffer,
                      absl::FunctionRef<void(uint16_t type, Bytes payload)> on_message);

// One received datagram, message by message, however its lengths lie.
void for_each_message(Bytes datagram, absl::FunctionRef<void(const nlmsghdr& header, Bytes payload)> visit);
// OK, or the errno of an NLMSG_ERROR or NLMSG_DONE payload, with the kernel's text if `flags` say it is
// there.
absl::Status error_of(uint16_t flags, Bytes payload);

// Reads one datagram into `buffer`; EINTR retried. UNAVAILABLE on a non-blocking socket that is empty.
absl::StatusOr<Bytes> receive(int fd, std::vector<char>& buffer);
absl::Status send(int fd, Bytes bytes);

// Calls visit(type, payload) for each attribute that lies whole inside `bytes`; stops at the first that does
// not.
template <typename Visit>
void for_each_attribute(Bytes bytes, Visit&& visit) {
  nlattr attribute;
  while (bytes.size() >= sizeof attribute) {
    std::memcpy(&attribute, bytes.data(), sizeof attribute);
    if (attribute.nla_len < NLA_HDRLEN || attribute.nla_len > bytes.size()) return;
    visit(static_cast<uint16_t>(attribute.nla_type & NLA_TYPE_MASK),
          bytes.subspan(NLA_HDRLEN, attribute.nla_len - NLA_HDRLEN));
    const size_t step = NLA_ALIGN(attribute.nla_len);
    if (step >= bytes.size()) return;
    bytes = bytes.subspan(step);
  }
}

// The T at the start of `bytes`; nothing if they are too few.
template <typename T>
std::optional<T> read(Bytes bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// Text up to the first NUL or the end.
std::string_view text(Bytes bytes);

// One member of a kernel structure that grows at its end from version to version.
struct Field {
  std::string_view name;
  uint16_t size;
  bool is_signed = false;
  uint16_t offset = 0;

  bool present_in(Bytes bytes) const { return size_t{offset} + size <= bytes.size(); }
  // Zero-extended, or sign-extended if is_signed; the field must be present.
  uint64_t value_in(Bytes bytes) const;
};

// Fills in the offsets: each member at its natural alignment, as the 64-bit kernels lay structures out.
template <size_t N>
consteval std::array<Field, N> lay_out(std::array<Field, N> fields) {
  uint16_t end = 0;
  for (Field& field : fields) {
    field.offset = static_cast<uint16_t>((end + field.size - 1) / field.size * field.size);
    end = static_cast<uint16_t>(field.offset + field.size);
  }
  return fields;
}

}  // namespace hopyard::netlink::wire

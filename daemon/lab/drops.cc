// SPDX-License-Identifier: Apache-2.0
// Arrivals less departures, by contents, as multisets; and what the headers of the rest say.
#include "lab/drops.h"

#include <netinet/in.h>

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>

namespace hopyard::lab {
namespace {

constexpr size_t kIpv4Bytes = 20, kIpv6Bytes = 40, kTcpBytes = 20;
constexpr uint8_t kEcnBits = 3;
constexpr uint8_t kFin = 1, kSyn = 2;

uint8_t byte_at(const std::string& head, size_t at) { return static_cast<uint8_t>(head[at]); }

uint32_t word_at(const std::string& head, size_t at, size_t bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value = value << 8 | byte_at(head, at + i);
  return value;
}

// Where things lie in a packet's head.
struct Layout {
  uint32_t protocol = 0;
  size_t addresses_at = 0, addresses_bytes = 0;
  size_t transport_at = 0;
  size_t ip_bytes = 0;  // the whole packet, as it says itself
};

// No layout: not IP, or cut too short. IPv6 extension headers are taken for another protocol than TCP.
bool read_layout(const std::string& head, Layout& out) {
  if (head.empty()) return false;
  const int version = byte_at(head, 0) >> 4;
  if (version == 4 && head.size() >= kIpv4Bytes) {
    out = {.protocol = byte_at(head, 9),
           .addresses_at = 12,
           .addresses_bytes = 8,
           .transport_at = size_t{byte_at(head, 0)} % 16 * 4,
           .ip_bytes = word_at(head, 2, 2)};
    return true;
  }
  if (version != 6 || head.size() < kIpv6Bytes) return false;
  out = {.protocol = byte_at(head, 6),
         .addresses_at = 8,
         .addresses_bytes = 32,
         .transport_at = kIpv6Bytes,
         .ip_bytes = kIpv6Bytes + word_at(head, 4, 2)};
  return true;
}

bool has_tcp(const Layout& layout, const std::string& head) {
  return layout.protocol == IPPROTO_TCP && head.size() >= layout.transport_at + kTcpBytes;
}

// The head without what changes on the way.
std::string identity(const Sighting& packet) {
  std::string key = packet.head;
  Layout layout;
  if (!read_layout(packet.head, layout)) return key;
  if (byte_at(key, 0) >> 4 == 4) {
    key[1] = static_cast<char>(byte_at(key, 1) & ~kEcnBits);
    key[8] = 0;
    key[10] = key[11] = 0;
  } else {
    key[1] = static_cast<char>(byte_at(key, 1) & ~(kEcnBits << 4));
    key[7] = 0;
  }
  // Still to be made where the sender leaves it to a device, so that it differs once somebody made it.
  if (has_tcp(layout, key)) key[layout.transport_at + 16] = key[layout.transport_at + 17] = 0;
  return key;
}

// Counts a flow's TCP sequence numbers on from its first packet, the SYN.
class Positions {
 public:
  struct Place {
    uint64_t begin = 0;
    bool repeated = false;
  };
  explicit Positions(uint32_t first_sequence) : last_sequence_(first_sequence) {}
  Place place(uint32_t sequence, uint32_t length) {
    // The nearer of the two ways round.
    last_ += static_cast<int32_t>(sequence - last_sequence_);
    last_sequence_ = sequence;
    const int64_t end = last_ + length;
    const bool repeated = length > 0 && end <= furthest_;
    furthest_ = std::max(furthest_, end);
    return {static_cast<uint64_t>(std::max<int64_t>(last_, 0)), repeated};
  }

 private:
  uint32_t last_sequence_;
  int64_t last_ = 0;
  int64_t furthest_ = 0;
};

// Reads packets in the order in which they came.
class Reader {
 public:
  DroppedPacket read(const Sighting& packet, uint32_t ordinal) {
    DroppedPacket out{.ordinal = ordinal, .arrived_ns = packet.seen_ns, .ip_bytes = packet.bytes};
    Layout layout;
    if (!read_layout(packet.head, layout)) return out;
    out.ip_protocol = layout.protocol;
    if (has_tcp(layout, packet.head)) read_tcp(packet.head, layout, out);
    return out;
  }

 private:
  void read_tcp(const std::string& head, const Layout& layout, DroppedPacket& out) {
    const size_t at = layout.transport_at;
    const size_t headers = at + size_t{byte_at(head, at + 12)} / 16 * 4;
    out.flags = byte_at(head, at + 13);
    out.payload_bytes = static_cast<uint32_t>(layout.ip_bytes > headers ? layout.ip_bytes - headers : 0);
    const uint32_t length = out.payload_bytes + ((out.flags & kSyn) != 0) + ((out.flags & kFin) != 0);
    const uint32_t sequence = word_at(head, at + 4, 4);
    const std::string flow = head.substr(layout.addresses_at, layout.addresses_bytes) + head.substr(at, 4);
    const Positions::Place place = flows_.try_emplace(flow, sequence).first->second.place(sequence, length);
    out.sequence = place.begin;
    out.repeated = place.repeated;
  }

  std::map<std::string, Positions> flows_;  // by addresses and ports
};

}  // namespace

Matched find_drops(std::span<const Sighting> arrived, std::span<const Sighting> departed) {
  Matched out;
  struct Twins {
    std::deque<size_t> waiting;  // arrivals that have not left
    bool left = false;
  };
  std::unordered_map<std::string, Twins> known;
  for (size_t i = 0; i < arrived.size(); ++i) known[identity(arrived[i])].waiting.push_back(i);
  for (const Sighting& packet : departed) {
    const auto found = known.find(identity(packet));
    if (found == known.end() || found->second.waiting.empty()) {
      ++out.unexplained;
      continue;
    }
    found->second.waiting.pop_front();
    found->second.left = true;
  }
  std::vector<bool> stayed(arrived.size());
  for (const auto& [key, twins] : known) {
    for (const size_t i : twins.waiting) stayed[i] = true;
    if (twins.left) out.doubtful += twins.waiting.size();
  }
  Reader reader;
  for (size_t i = 0; i < arrived.size(); ++i) {
    DroppedPacket packet = reader.read(arrived[i], static_cast<uint32_t>(i + 1));
    if (stayed[i]) out.dropped.push_back(packet);
  }
  return out;
}

}  // namespace hopyard::lab

// SPDX-License-Identifier: Apache-2.0
// See trial_json.h.
#include "report/trial_json.h"

#include <cmath>
#include <map>

#include "fmt/format.h"
#include "report/html.h"

namespace hopyard::report {
namespace {

int64_t rounded_us(int64_t ns) { return std::llround(static_cast<double>(ns) / 1e3); }

// An absolute instant as microseconds from `zero`; 0 did not happen.
std::string us(int64_t instant, int64_t zero) {
  return instant == 0 ? "null" : fmt::format("{}", rounded_us(instant - zero));
}

int64_t zero_of(const v1::ClientEvidence& client) {
  for (const v1::Response& response : client.responses()) {
    if (response.request_start_ns() != 0) return response.request_start_ns();
  }
  return client.connect_start_ns();
}

// Joins what `write` gives for each entry.
template <typename List, typename Write>
std::string joined(const List& list, Write write) {
  std::string text = "[";
  for (const auto& entry : list) {
    const std::string one = write(entry);
    if (one.empty()) continue;
    if (text.size() > 1) text += ',';
    text += one;
  }
  return text + "]";
}

std::string response_json(const v1::Response& r, int64_t zero) {
  if (r.request_start_ns() == 0) return "";
  const int64_t start = r.request_start_ns();
  return fmt::format("{{\"role\":{},\"stream\":{},\"start\":{},\"bytes\":{},\"at\":[{},{},{},{},{},{},{}]}}",
                     json_text(r.role()), r.stream(), us(start, zero), r.body_bytes(),
                     us(r.first_decrypted_ns(), start), us(r.first_body_ns(), start),
                     us(r.body_1024_ns(), start), us(r.body_4096_ns(), start), us(r.body_8192_ns(), start),
                     us(r.first_data_frame_ns(), start), us(r.complete_ns(), start));
}

std::string records_json(const v1::ClientEvidence& client, int64_t zero) {
  int64_t before = 0;
  const std::string at = joined(client.records(), [&](const v1::TlsRecord& record) {
    const int64_t here = record.received_ns() == 0 ? before : rounded_us(record.received_ns() - zero);
    return fmt::format("{}", here - std::exchange(before, here));
  });
  return fmt::format(
      "{{\"at\":{},\"bytes\":{},\"kind\":{}}}", at,
      joined(client.records(), [](const auto& r) { return fmt::format("{}", r.plaintext_bytes()); }),
      joined(client.records(), [](const auto& r) { return fmt::format("{}", int{r.content()}); }));
}

std::string frame_json(const v1::H2Frame& frame, int64_t zero) {
  if (frame.sent() || frame.type() != "DATA" || frame.complete_ns() == 0) return "";
  const int64_t first = frame.first_byte_ns() == 0 ? frame.complete_ns() : frame.first_byte_ns();
  return fmt::format("[{},{},{},{}]", frame.stream(), us(first, zero), us(frame.complete_ns(), zero),
                     frame.length());
}

std::string socket_json(const v1::SocketSnapshot& snapshot, int64_t zero) {
  if (snapshot.side() != "server") return "";
  const auto value = [&](const char* name) {
    const auto found = snapshot.values().find(name);
    return found == snapshot.values().end() ? std::string("null") : fmt::format("{}", found->second);
  };
  return fmt::format(
      "{{\"at\":{},\"us\":{},\"cwnd\":{},\"rtt\":{},\"unsent\":{},\"lost\":{},\"retransmitted\":{}}}",
      json_text(snapshot.at()), us(snapshot.taken_ns(), zero), value("tcpi_snd_cwnd"), value("tcpi_rtt"),
      value("tcpi_notsent_bytes"), value("tcpi_lost"), value("tcpi_total_retrans"));
}

// Each netem's counters, last snapshot less first.
std::string queues_json(const v1::TrialResult& result) {
  std::map<std::string, std::pair<const v1::QdiscSnapshot*, const v1::QdiscSnapshot*>> links;
  for (const v1::QdiscSnapshot& snapshot : result.qdiscs()) {
    if (snapshot.kind() != "netem") continue;
    auto& [first, last] = links[snapshot.namespace_() + "/" + snapshot.link()];
    if (first == nullptr) first = &snapshot;
    last = &snapshot;
  }
  return joined(links, [](const auto& link) {
    const auto& [first, last] = link.second;
    return fmt::format("{{\"link\":{},\"packets\":{},\"bytes\":{},\"drops\":{}}}", json_text(link.first),
                       last->packets() - first->packets(), last->bytes() - first->bytes(),
                       last->drops() - first->drops());
  });
}

// Packets that came to the router and did not leave it.
std::string drops_json(const v1::TrialResult& result, int64_t zero) {
  std::string text = "[";
  for (const v1::RouterTraffic& traffic : result.router()) {
    for (const v1::Drop& drop : traffic.drops()) {
      const std::string what =
          fmt::format("{}, packet {}: {} bytes of payload from {}{}",
                      traffic.direction() == "to_client" ? "to the client" : "to the server", drop.ordinal(),
                      drop.payload_bytes(), drop.sequence(), drop.repeated() ? ", sent before" : "");
      text += fmt::format("{}{{\"what\":{},\"at\":{}}}", text.size() > 1 ? "," : "", json_text(what),
                          us(drop.arrived_ns(), zero));
    }
  }
  return text + "]";
}

std::string verdict_word(v1::Verdict verdict) {
  return verdict == v1::PASSED ? "passed" : verdict == v1::FAILED ? "failed" : "invalid";
}

}  // namespace

std::string trial_json(const v1::TrialResult& result, std::string_view id, std::string_view about) {
  const v1::ClientEvidence& client = result.client();
  const int64_t zero = zero_of(client);
  return fmt::format(
      "{{\"id\":{},\"about\":{},\"verdict\":\"{}\",\"reason\":{},\"connection\":[{},{},{},{}],\"responses\":{"
      "},"
      "\"records\":{},\"frames\":{},\"sockets\":{},\"queues\":{},\"drops\":{}}}",
      json_text(id), json_text(about), verdict_word(result.verdict()), json_text(result.reason()),
      us(client.connect_start_ns(), zero), us(client.connected_ns(), zero),
      us(client.handshake_done_ns(), zero), us(client.settled_ns(), zero),
      joined(client.responses(), [&](const auto& response) { return response_json(response, zero); }),
      records_json(client, zero),
      joined(client.frames(), [&](const auto& frame) { return frame_json(frame, zero); }),
      joined(result.sockets(), [&](const auto& snapshot) { return socket_json(snapshot, zero); }),
      queues_json(result), drops_json(result, zero));
}

}  // namespace hopyard::report

// SPDX-License-Identifier: Apache-2.0
// Field by field, nothing left out.
#include "trial/evidence.h"

namespace hopyard::trial {

v1::SocketSnapshot to_evidence(const std::string& at, const lab::SocketSnapshot& snapshot) {
  v1::SocketSnapshot out;
  out.set_at(at);
  out.set_side(std::string(lab::side_name(snapshot.side)));
  out.set_taken_ns(snapshot.taken_ns);
  out.set_local(snapshot.socket.local);
  out.set_remote(snapshot.socket.remote);
  out.set_state(snapshot.socket.state);
  out.set_congestion_control(snapshot.socket.congestion_control);
  for (const auto& [name, value] : snapshot.socket.values) (*out.mutable_values())[std::string(name)] = value;
  return out;
}

v1::QdiscSnapshot to_evidence(const std::string& at, const lab::QdiscSnapshot& snapshot) {
  const netlink::QdiscInfo& qdisc = snapshot.qdisc;
  v1::QdiscSnapshot out;
  out.set_at(at);
  out.set_namespace_(std::string(lab::side_name(snapshot.side)));
  out.set_link(snapshot.link);
  out.set_taken_ns(snapshot.taken_ns);
  out.set_kind(qdisc.kind);
  out.set_handle(qdisc.handle);
  out.set_parent(qdisc.parent);
  out.set_options_json(qdisc.options_json());
  out.set_bytes(qdisc.bytes);
  out.set_packets(qdisc.packets);
  out.set_drops(qdisc.drops);
  out.set_overlimits(qdisc.overlimits);
  out.set_requeues(qdisc.requeues);
  out.set_backlog_bytes(qdisc.backlog_bytes);
  out.set_backlog_packets(qdisc.backlog_packets);
  out.set_stats_json(qdisc.xstats_json());
  return out;
}

v1::RouterTraffic to_evidence(const lab::RouterTraffic& traffic) {
  v1::RouterTraffic out;
  out.set_direction(traffic.direction == lab::Direction::kToServer ? "to_server" : "to_client");
  out.set_arrived_packets(traffic.arrived_packets);
  out.set_departed_packets(traffic.departed_packets);
  out.set_queue_drops(traffic.queue_drops);
  out.set_unseen_packets(traffic.unseen_packets);
  out.set_incomplete(traffic.incomplete);
  for (const lab::DroppedPacket& packet : traffic.dropped) {
    v1::Drop& drop = *out.add_drops();
    drop.set_ordinal(packet.ordinal);
    drop.set_arrived_ns(packet.arrived_ns);
    drop.set_ip_protocol(packet.ip_protocol);
    drop.set_ip_bytes(packet.ip_bytes);
    drop.set_flags(packet.flags);
    drop.set_sequence(packet.sequence);
    drop.set_payload_bytes(packet.payload_bytes);
    drop.set_repeated(packet.repeated);
  }
  return out;
}

void add_observed(const lab::Observed& observed, v1::Environment& environment) {
  for (const lab::Setting& setting : observed.sysctls) {
    v1::Setting* out = environment.add_sysctls();
    out->set_name(setting.name);
    out->set_value(setting.value);
  }
  for (const lab::LinkState& link : observed.links) {
    v1::Link* out = environment.add_links();
    out->set_namespace_(std::string(lab::side_name(link.side)));
    out->set_name(link.name);
    out->set_mac(link.mac);
    out->set_mtu(link.mtu);
    for (const std::string& address : link.addresses) out->add_addresses(address);
    out->set_tso(link.tso);
    out->set_gso(link.gso);
    out->set_gro(link.gro);
  }
  for (const std::string& route : observed.routes) environment.add_routes(route);
  for (const std::string& neighbour : observed.neighbours) environment.add_neighbours(neighbour);
  environment.set_filters(observed.filters);
  for (const std::string& missing : observed.unsupported) environment.add_unsupported(missing);
}

}  // namespace hopyard::trial

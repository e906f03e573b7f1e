// SPDX-License-Identifier: Apache-2.0
// One trial's rows as they are stored, and what its campaign asked. Read by SQL of this room's own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/sqlite.h"

namespace hopyard::verify {

// ---- what was asked ----

struct AskedRequest {
  std::string name;
  uint64_t body_bytes = 0;
  bool later = false;  // has an `after`
  std::string after_request;
  std::optional<uint64_t> after_body_bytes;
  int64_t pause_ns = 0;
};

struct AskedWorkload {
  std::string name;
  std::string protocol;
  std::vector<AskedRequest> requests;
};

struct AskedPath {
  std::string name;
  std::string kind;
  int64_t rtt_ns = 0;
  uint64_t rate_bps = 0;
  double loss = 0;
  uint64_t limit_packets = 1000;  // where the campaign says nothing
};

struct AskedCase {
  std::string name;
  std::string variant;
  std::optional<uint64_t> ssl_buffer_bytes;
  std::optional<std::string> congestion_control;
  std::optional<uint64_t> notsent_lowat_bytes;
  // Dynamic records; the defaults are the server's own.
  bool dyn_rec = false;
  uint64_t dyn_rec_low_bytes = 1369, dyn_rec_high_bytes = 4229, dyn_rec_threshold = 40;
  int64_t dyn_rec_timeout_ns = 1'000'000'000;
};

// A part of the schedule that was planned together.
struct AskedPhase {
  std::string name;
  int64_t first_block = 0;
  std::string seed;  // decimal
  // Of an extension that was made later; the hash is empty where the campaign's own text has it.
  std::string yaml, options, yaml_sha256;
};

struct AskedMargin {
  std::vector<std::string> cases;
  int64_t margin_ns = 0;
};

struct AskedFactorial {
  std::string name, neither, first, second, both;
};

struct Asked {
  int64_t number = 0;
  std::string id;
  std::string state;
  std::string yaml;
  std::string yaml_sha256;
  std::vector<std::string> overrides;
  std::string seed;  // decimal
  std::string clock;
  std::vector<AskedPhase> phases;  // in order of blocks
  std::vector<AskedPath> paths;
  std::vector<AskedCase> cases;
  std::vector<AskedWorkload> workloads;
  std::vector<AskedMargin> margins;
  std::vector<AskedFactorial> factorials;

  // The first that is declared for both cases.
  std::optional<int64_t> margin_ns(const std::string& a, const std::string& b) const;
  const AskedPath* path(const std::string& name) const;
  const AskedCase* one_case(const std::string& name) const;
  const AskedWorkload* workload(const std::string& name) const;
};

// ---- what was stored ----
// Instants are 0 where the column is NULL.

struct StoredCheck {
  int64_t seq = 0;
  std::string name, expected, seen;
  int64_t outcome = 0;  // 1 holds, 2 broken, 3 unsupported
};

struct StoredClient {
  int64_t connect_start_ns = 0, connected_ns = 0, handshake_done_ns = 0, settled_ns = 0;
  std::string tls_version, cipher, alpn;
  uint64_t decrypted_bytes = 0;
  std::string error;
};

enum Content : int64_t { kHandshake = 1, kData = 2, kPostHandshake = 3, kAlert = 4 };

struct StoredRecord {
  int64_t seq = 0, content = 0, outer_type = 0;
  uint64_t wire_bytes = 0, plaintext_bytes = 0;
  int64_t received_ns = 0, decrypted_ns = 0;
};

struct StoredFrame {
  int64_t seq = 0;
  bool sent = false;
  int64_t stream = 0;
  std::string type;
  int64_t flags = 0;
  uint64_t length = 0;
  int64_t first_byte_ns = 0, complete_ns = 0;
};

struct StoredResponse {
  int64_t seq = 0, stream = 0;
  std::string role, protocol;
  int64_t request_start_ns = 0, request_written_ns = 0;
  int64_t status = 0;
  uint64_t header_bytes = 0, body_bytes = 0, content_length = 0;
  std::string body_sha256;  // bytes
  int64_t first_decrypted_ns = 0, first_body_ns = 0, body_1024_ns = 0, body_4096_ns = 0, body_8192_ns = 0;
  int64_t first_data_frame_ns = 0, complete_ns = 0;
  uint64_t dispatch_after_bytes = 0;
  bool body_equals_fixture = false;
};

struct StoredServer {
  int64_t exit_code = 0, signal = 0;
  std::string errors;
};

struct StoredWrite {
  int64_t seq = 0, requested = 0, returned = 0, response = 0;
};

struct StoredFragment {
  int64_t seq = 0, before_write = 0;
  uint64_t fragment_bytes = 0;
  bool restored = false;
  int64_t returned = 0;
};

struct StoredSocket {
  int64_t seq = 0;
  std::string at, side;
  int64_t taken_ns = 0;
  std::string local, remote, congestion_control;
  std::map<std::string, uint64_t> values;
};

struct StoredQdisc {
  int64_t seq = 0;
  std::string at, side, link;
  int64_t taken_ns = 0;
  std::string kind;
  int64_t handle = 0, parent = 0;
  std::string options_json;
  uint64_t bytes = 0, packets = 0, drops = 0, overlimits = 0, requeues = 0;
};

struct StoredLink {
  int64_t seq = 0;
  std::string side, name, mac;
  int64_t mtu = 0;
  bool tso = false, gso = false, gro = false;
  std::vector<std::string> addresses;
};

struct StoredEnvironment {
  std::string kernel_release, clock;
  int64_t filters = 0;
  bool namespaces_gone = false;
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<StoredLink> links;
  std::vector<std::string> routes, neighbours, unsupported;
};

struct StoredBuild {
  std::string variant;
  uint64_t fragment_bytes = 0, early_fragment_bytes = 0, early_budget_bytes = 0, transitions = 0,
           settings = 0;
  bool dynamic = false;  // the case's settings decide
};

struct StoredTraffic {
  int64_t seq = 0;
  std::string direction;
  uint64_t arrived_packets = 0, departed_packets = 0, queue_drops = 0;
  std::string incomplete;
  uint64_t drops = 0;  // listed
};

struct StoredTrial {
  int64_t number = 0;
  std::string id;
  int64_t cell_no = 0, run_index = 0, block = 0, position = 0;
  uint64_t seed = 0;
  std::string path, workload, case_name, kernel_name;
  // Of its outcome; `verdict` is empty without one.
  std::string verdict, reason;
  int64_t host_no = 0;
  std::string execution, kernel_release, clock;
  int64_t started_ns = 0, finished_ns = 0;
  StoredBuild build;
  // Its evidence.
  std::vector<StoredCheck> checks;
  std::optional<StoredClient> client;
  std::vector<StoredRecord> records;
  std::vector<StoredFrame> frames;
  std::vector<StoredResponse> responses;
  std::optional<StoredServer> server;
  std::vector<StoredWrite> writes;
  std::vector<StoredFragment> fragments;
  std::vector<StoredSocket> sockets;
  std::vector<StoredQdisc> qdiscs;
  std::optional<StoredEnvironment> environment;
  std::vector<StoredTraffic> router;

  const std::string* setting(const std::string& name) const;
};

// Reads rows over one connection, remembering shared texts.
class Rows {
 public:
  explicit Rows(store::Connection& connection) : connection_(connection) {}

  absl::StatusOr<Asked> asked(std::string_view campaign_id);
  // All planned trials of a campaign in order of execution, without evidence.
  absl::StatusOr<std::vector<StoredTrial>> trials(int64_t campaign_no);
  // Adds its evidence; returns how many rows were read.
  absl::StatusOr<uint64_t> add_evidence(StoredTrial& trial);

 private:
  template <typename Take>
  absl::Status each(const char* select, int64_t number, Take take);
  std::string text(const store::Statement& row, int column);
  absl::Status read_lists(Asked& asked);
  absl::Status read_phases(Asked& asked);
  absl::Status read_comparisons(Asked& asked);
  absl::Status read_client(StoredTrial& trial);
  absl::Status read_server(StoredTrial& trial);
  absl::Status read_kernel(StoredTrial& trial);
  absl::Status read_environment(StoredTrial& trial);
  absl::Status read_router(StoredTrial& trial);

  store::Connection& connection_;
  std::unordered_map<int64_t, std::string> texts_;
  absl::Status status_;  // of reading texts
  uint64_t rows_ = 0;
};

}  // namespace hopyard::verify

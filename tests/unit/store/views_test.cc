// SPDX-License-Identifier: Apache-2.0
// The views' names and columns are a contract, are documented, and count times from where they say.
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "gmock/gmock.h"
#include "places.h"
#include "unit/store/fixture.h"

namespace hopyard::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// One line a view: its name, then its columns. Other programs lean on them.
constexpr char kContract[] = R"(
v_trial trial_id campaign_id block position path workload case_name verdict reason kernel clock seed variant_sha256 phase
v_response trial_id stream role protocol header_bytes body_bytes body_sha256 first_decrypted_ns first_body_ns body_1024_ns body_4096_ns body_8192_ns first_data_frame_ns complete_ns connect_to_first_decrypted_ns connect_to_complete_ns
v_tls_record trial_id seq content wire_bytes plaintext_bytes received_ns decrypted_ns
v_ssl_write trial_id seq requested returned
v_qdisc trial_id at namespace link kind options_json bytes packets drops overlimits backlog_bytes
v_cell campaign_id path workload case_name metric n failed median_ns p90_ns p95_ns p99_ns min_ns max_ns kernel clock execution
v_pair campaign_id path workload case_a case_b metric n median_diff_ns hl_ns ci_low_ns ci_high_ns negative positive p_value kernel clock execution margin_ns p_above_low p_below_high equivalent
v_interaction campaign_id path workload factorial neither first second both metric n median_ns hl_ns ci_low_ns ci_high_ns negative positive p_value kernel clock execution
)";

class Views : public StoreTest {
 protected:
  std::vector<std::string> columns(const std::string& table) {
    std::vector<std::string> names;
    for (const auto& row : query(path(), "SELECT name FROM pragma_table_info('" + table + "')"))
      names.push_back(row[0]);
    return names;
  }
  std::vector<std::string> objects(const std::string& type) {
    std::vector<std::string> names;
    for (const auto& row : query(path(), "SELECT name FROM sqlite_schema WHERE type = '" + type +
                                             "' AND name NOT LIKE 'sqlite%'")) {
      names.push_back(row[0]);
    }
    return names;
  }
  std::string one(const std::string& sql) { return sqlite3_program(path(), sql); }
};

TEST_F(Views, HaveExactlyTheContractsColumns) {
  std::istringstream contract(kContract);
  for (std::string line; std::getline(contract, line);) {
    std::istringstream words(line);
    std::string view;
    if (!(words >> view)) continue;
    const std::vector<std::string> expected(std::istream_iterator<std::string>(words), {});
    EXPECT_EQ(columns(view), expected) << view;
  }
  for (const char* view : {"v_campaign", "v_h2_frame", "v_socket"})
    EXPECT_FALSE(columns(view).empty()) << view;
}

TEST_F(Views, ShowASocketColumnForEveryMemberOfTheKernelsTcpInfo) {
  const std::vector<std::string> all = columns("v_socket");
  EXPECT_THAT(std::vector(all.begin(), all.begin() + 3), ElementsAre("trial_id", "at", "side"));
  const std::set<std::string> names(all.begin(), all.end());
  std::ifstream header("/usr/include/linux/tcp.h");
  const std::string text(std::istreambuf_iterator<char>(header), {});
  const std::regex member("\\btcpi_[a-z_]+\\b");
  size_t members = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), member), end; it != end; ++it, ++members) {
    EXPECT_TRUE(names.contains(it->str())) << it->str();
  }
  EXPECT_GT(members, 50u);
}

// docs/schema.md has a section "### name" for each table and view, and in it a line "| `column` | …" for each
// column.
TEST_F(Views, AndTablesAreDocumentedColumnByColumn) {
  std::ifstream file(std::string(HOPYARD_SOURCE_DIR) + "/docs/schema.md");
  ASSERT_TRUE(file.good());
  std::map<std::string, std::vector<std::string>> documented;
  std::string section;
  std::smatch match;
  for (std::string line; std::getline(file, line);) {
    if (std::regex_match(line, match, std::regex("### `(\\w+)`"))) section = match[1];
    if (!section.empty()) documented.try_emplace(section);
    if (std::regex_search(line, match, std::regex("^\\| `(\\w+)` \\| \\S")))
      documented[section].push_back(match[1]);
  }
  for (const char* type : {"view", "table"}) {
    for (const std::string& name : objects(type)) {
      EXPECT_EQ(documented[name], columns(name)) << "docs/schema.md, section " << name;
      documented.erase(name);
    }
  }
  for (const auto& [name, gone] : documented)
    ADD_FAILURE() << "docs/schema.md documents " << name << ", which is not there";
}

TEST_F(Views, CountTimesFromTheRequestTheySay) {
  v1::TrialResult result = h1_result(trial_id("c1", "A", "h2-competition", 0), 900);
  const int64_t start = result.client().responses(0).request_start_ns();
  v1::ClientEvidence& client = *result.mutable_client();
  client.set_connect_start_ns(start - 500);
  client.set_connected_ns(start - 400);
  client.set_handshake_done_ns(start - 200);
  v1::Response& later = *client.add_responses();
  later.set_stream(3);
  later.set_role("later");
  later.set_request_start_ns(start + 300);
  later.set_request_written_ns(start + 310);
  later.set_first_body_ns(start + 350);
  later.set_complete_ns(start + 400);
  later.set_body_sha256("\xab\xcd");
  v1::TlsRecord& early = *client.add_records();
  early.set_content(v1::HANDSHAKE);
  early.set_received_ns(start - 250);
  early.set_decrypted_ns(start - 240);
  v1::TlsRecord& data = *client.add_records();
  data.set_seq(1);
  data.set_content(v1::DATA);
  data.set_received_ns(start + 20);
  v1::H2Frame& frame = *client.add_frames();
  frame.set_sent(true);
  frame.set_type("SETTINGS");
  frame.set_first_byte_ns(start - 100);
  v1::SocketSnapshot& socket = *result.add_sockets();
  socket.set_at("request:later");
  socket.set_side("server");
  socket.set_taken_ns(start + 299);
  (*socket.mutable_values())["tcpi_rtt"] = 20123;
  (*socket.mutable_values())["tcpi_max_pacing_rate"] = ~0ull;
  ASSERT_OK(store_->record_trial("c1", result, guest_provenance()));
  EXPECT_EQ(
      one("SELECT role, first_body_ns, complete_ns, first_decrypted_ns IS NULL, body_sha256 FROM v_response"),
      "body||900|1|\nlater|50|100|1|abcd\n");
  EXPECT_EQ(one("SELECT role, connect_to_first_decrypted_ns IS NULL, connect_to_complete_ns FROM v_response"),
            "body|1|1400\nlater|1|900\n");
  EXPECT_EQ(one("SELECT role, from_first_ns, written_ns, complete_from_first_ns FROM v_request"),
            "body|0||900\nlater|300|10|400\n");
  EXPECT_EQ(one("SELECT seq, content, received_ns, decrypted_ns FROM v_tls_record"),
            "0|handshake|-250|-240\n1|data|20|\n");
  EXPECT_EQ(one("SELECT direction, type, first_byte_ns FROM v_h2_frame"), "sent|SETTINGS|-100\n");
  EXPECT_EQ(one("SELECT connected_ns, handshake_done_ns, first_request_ns FROM v_client"), "100|300|500\n");
  EXPECT_EQ(one("SELECT at, side, taken_ns, tcpi_rtt, tcpi_rto IS NULL FROM v_socket"),
            "request:later|server|299|20123|1\n");
  EXPECT_EQ(one("SELECT value FROM v_socket_value WHERE name = 'tcpi_max_pacing_rate'"),
            "18446744073709551615\n");
}

v1::QdiscSnapshot netem(const std::string& at, const std::string& link, uint64_t drops) {
  v1::QdiscSnapshot snapshot;
  snapshot.set_at(at);
  snapshot.set_namespace_("router");
  snapshot.set_link(link);
  snapshot.set_kind("netem");
  snapshot.set_drops(drops);
  return snapshot;
}

// `lost` packets towards the client are dropped after the handshake, one towards the server within it.
void add_drops(v1::TrialResult& result, uint64_t lost) {
  *result.add_qdiscs() = netem("before", "router-c7", 0);
  *result.add_qdiscs() = netem("before", "router-s7", 1);
  *result.add_qdiscs() = netem("after", "router-c7", lost);
  *result.add_qdiscs() = netem("after", "router-s7", 1);
}

TEST_F(Views, ListWhatTheRouterDroppedByDirection) {
  v1::TrialResult result = h1_result(trial_id("c1", "A", "h1-128k", 0), 900);
  add_drops(result, 1);
  v1::RouterTraffic& back = *result.add_router();
  back.set_direction("to_client");
  back.set_arrived_packets(12);
  back.set_departed_packets(10);
  back.set_queue_drops(2);
  v1::Drop& data = *back.add_drops();
  data.set_ordinal(5);
  data.set_arrived_ns(result.client().responses(0).request_start_ns() + 70);
  data.set_ip_protocol(6);
  data.set_ip_bytes(1500);
  data.set_flags(0x18);
  data.set_sequence(1449);
  data.set_payload_bytes(1448);
  v1::Drop& end = *back.add_drops();
  end.set_ordinal(12);
  end.set_flags(0x11);
  end.set_sequence(5000);
  end.set_repeated(true);
  result.add_router()->set_direction("to_server");
  result.mutable_router(1)->set_incomplete("a reason");
  ASSERT_OK(store_->record_trial("c1", result, guest_provenance()));
  EXPECT_EQ(one("SELECT direction, ordinal, arrived_ns, tcp_seq, tcp_seq_end, payload_bytes, flags, ip_bytes,"
                " repeated FROM v_drop"),
            "to_client|5|70|1449|2897|1448|PSH,ACK|1500|0\n"
            "to_client|12||5000|5001|0|FIN,ACK|0|1\n");
  EXPECT_EQ(one("SELECT direction, arrived_packets, departed_packets, queue_drops, listed, incomplete FROM "
                "v_router"),
            "to_client|12|10|2|2|\nto_server|0|0|0|0|a reason\n");
  EXPECT_EQ(one("SELECT to_server, to_client, drops, before_requests, until_end, listed, list_complete FROM "
                "v_trial_drops"),
            "1|1|2|1|2|2|0\n");
}

TEST_F(Views, KnowNoDropsWhereThereIsNoNetem) {
  ASSERT_OK(
      store_->record_trial("c1", h1_result(trial_id("c1", "A", "h1-128k", 0), 900), guest_provenance()));
  EXPECT_EQ(one("SELECT drops IS NULL, until_end IS NULL, listed IS NULL, list_complete IS NULL FROM "
                "v_trial_drops"),
            "1|1|1|1\n");
}

TEST_F(Views, TellWhatMayExplainAResponse) {
  v1::TrialResult result = h1_result(trial_id("c1", "A", "h2-competition", 0), 900);
  add_drops(result, 3);
  const int64_t start = result.client().responses(0).request_start_ns();
  v1::Response& later = *result.mutable_client()->add_responses();
  later.set_role("later");
  later.set_request_start_ns(start + 300);
  later.set_complete_ns(start + 400);
  for (const auto& [response, returned] : {std::pair(0, -1), {1, 100}, {2, -1}, {2, 0}, {2, 50}}) {
    v1::SslWrite& write = *result.mutable_server()->add_writes();
    write.set_seq(static_cast<uint32_t>(result.server().writes_size() - 1));
    write.set_response(static_cast<uint32_t>(response));
    write.set_returned(returned);
  }
  for (const auto& [at, side, unsent] : {std::tuple("before", "server", 7u),
                                         {"request:later", "client", 8u},
                                         {"request:later", "server", 21720u}}) {
    v1::SocketSnapshot& socket = *result.add_sockets();
    socket.set_at(at);
    socket.set_side(side);
    (*socket.mutable_values())["tcpi_notsent_bytes"] = unsent;
    (*socket.mutable_values())["wqueue"] = unsent + 1448;
  }
  ASSERT_OK(store_->record_trial("c1", result, guest_provenance()));
  EXPECT_EQ(one("SELECT role, complete_ns, complete_from_first_ns, ssl_writes, ssl_write_retries,"
                " unsent_at_dispatch_bytes, queued_at_dispatch_bytes, drops_to_server, drops_to_client, drops"
                " FROM v_response_detail"),
            "body|900|900|1|0|||1|3|4\nlater|100|400|3|2|21720|23168|1|3|4\n");
}

TEST_F(Views, KeepTrialsWithoutDropsApartAndCountThem) {
  ASSERT_OK(store_->add_campaign(small_campaign("c2"), small_plan("c2", 6)));
  const auto record = [&](unsigned block, int64_t complete_ns, std::optional<uint64_t> drops) {
    v1::TrialResult result = h1_result(trial_id("c2", "A", "h1-128k", block), complete_ns);
    if (drops) *result.add_qdiscs() = netem("after", "router-c7", *drops);
    return store_->record_trial("c2", result, guest_provenance());
  };
  ASSERT_OK(record(0, 500, 0));
  ASSERT_OK(record(1, 900, 2));
  ASSERT_OK(record(2, 300, 0));
  ASSERT_OK(record(3, 200, std::nullopt));  // unknown is not none
  v1::TrialResult failed = lost_result(trial_id("c2", "A", "h1-128k", 4), v1::FAILED);
  *failed.add_qdiscs() = netem("after", "router-c7", 0);
  ASSERT_OK(store_->record_trial("c2", failed, guest_provenance()));
  v1::TrialResult dropped = h1_result(trial_id("c2", "B", "h1-128k", 0), 700);
  *dropped.add_qdiscs() = netem("after", "router-c7", 1);
  ASSERT_OK(store_->record_trial("c2", dropped, guest_provenance()));
  EXPECT_EQ(one("SELECT case_name, n, passed, median_ns, min_ns, max_ns FROM v_cell_no_drop"
                " WHERE campaign_id = 'c2' AND metric = 'complete_ns' ORDER BY case_name"),
            "A|2|4|400.0|300|500\nB|0|1|||\n");
  EXPECT_EQ(
      one("SELECT case_name, role, n, drops_to_client, without_drops, median_ssl_write_retries,"
          " median_unsent_bytes IS NULL FROM v_cell_diagnostic WHERE campaign_id = 'c2' ORDER BY case_name"),
      "A|body|4|2|2|0.0|1\nB|body|1|1|0|0.0|1\n");
  const auto read = store_->diagnostics("c2");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->cells_size(), 2);
  EXPECT_EQ(read->cells(0).case_name(), "A");
  EXPECT_EQ(read->cells(0).without_drops(), 2u);
  EXPECT_FALSE(read->cells(0).has_drops_to_server());
  ASSERT_EQ(read->without_drops_size(), 2);
  EXPECT_EQ(read->without_drops(0).n(), 2u);
  EXPECT_FALSE(read->without_drops(1).has_median_ns());
}

// A loss-free path's trials are all without drops: nothing to set apart.
TEST_F(Views, SetNothingApartOnAPathWithoutLoss) {
  CampaignRow campaign = small_campaign("c3");
  campaign.campaign.mutable_paths(0)->clear_loss();
  ASSERT_OK(store_->add_campaign(campaign, small_plan("c3", 1)));
  v1::TrialResult result = h1_result(trial_id("c3", "A", "h1-128k", 0), 500);
  *result.add_qdiscs() = netem("after", "router-c7", 0);
  ASSERT_OK(store_->record_trial("c3", result, guest_provenance()));
  EXPECT_EQ(one("SELECT COUNT(*) FROM v_cell_no_drop WHERE campaign_id = 'c3'"), "0\n");
  EXPECT_EQ(one("SELECT without_drops FROM v_cell_diagnostic WHERE campaign_id = 'c3'"), "1\n");
}

TEST_F(Views, ShowPlannedTrialsAndTheCampaignsParts) {
  EXPECT_EQ(one("SELECT verdict IS NULL, kernel IS NULL, clock, seed FROM v_trial WHERE trial_id = "
                "'c1/A/h1-128k/1'"),
            "1|1|real|18446744073709551614\n");
  EXPECT_EQ(one("SELECT name, state, seed, trials, passed FROM v_campaign"),
            "small|queued|18446744073709551615|8|0\n");
  EXPECT_EQ(one("SELECT case_name, ssl_buffer_size_bytes FROM v_case"), "A|\nB|4096\n");
  EXPECT_EQ(one("SELECT path, kind, rtt_ns, loss FROM v_path"), "clean|routed|20000000|0.001\n");
  EXPECT_EQ(one("SELECT workload, role, body_bytes, after_request FROM v_workload"),
            "h1-128k|body|131072|\nh2-competition|bulk|1048576|\nh2-competition|later|4096|bulk\n");
}

TEST_F(Views, CanAllBeReadByThePlainProgramWhileTheWriterIsOpen) {
  v1::TrialResult result;
  fill(result);
  result.set_trial_id(trial_id("c1", "A", "h2-competition", 0));
  result.set_verdict(v1::PASSED);
  ASSERT_OK(store_->record_trial("c1", result, guest_provenance()));
  ASSERT_OK(store_->record_trial("c1", h1_result(trial_id("c1", "A", "h1-128k", 0), 5), guest_provenance()));
  ASSERT_OK(store_->record_verification("c1", v1::Verification()));
  for (const std::string& view : objects("view")) {
    if (view == "v_pair" || view == "v_interaction") continue;
    EXPECT_NE(one("SELECT * FROM " + view), "") << view << " has no row";
  }
  EXPECT_EQ(one("SELECT DISTINCT variant, binary_sha256, inputs FROM v_provenance"),
            "stock|beef|nginx sha256:1\nflags -O2\n");
}

}  // namespace
}  // namespace hopyard::store

// SPDX-License-Identifier: Apache-2.0
// The views' names and columns are a contract, are documented, and count times from where they say.
#include <fstream>
#include <map>
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
v_trial trial_id campaign_id block position path workload case_name verdict reason kernel clock seed variant_sha256
v_response trial_id stream role protocol header_bytes body_bytes body_sha256 first_decrypted_ns first_body_ns body_1024_ns body_4096_ns body_8192_ns first_data_frame_ns complete_ns
v_tls_record trial_id seq content wire_bytes plaintext_bytes received_ns decrypted_ns
v_ssl_write trial_id seq requested returned
v_qdisc trial_id at namespace link kind options_json bytes packets drops overlimits backlog_bytes
v_cell campaign_id path workload case_name metric n failed median_ns p90_ns p95_ns p99_ns min_ns max_ns kernel clock execution
v_pair campaign_id path workload case_a case_b metric n median_diff_ns hl_ns ci_low_ns ci_high_ns negative positive p_value kernel clock execution
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
  for (const std::string& view : objects("view")) {
    if (view == "v_pair") continue;
    EXPECT_NE(one("SELECT * FROM " + view), "") << view << " has no row";
  }
  EXPECT_EQ(one("SELECT variant, binary_sha256, inputs FROM v_provenance"),
            "stock|beef|nginx sha256:1\nflags -O2\n");
}

}  // namespace
}  // namespace hopyard::store

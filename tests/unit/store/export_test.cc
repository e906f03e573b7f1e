// SPDX-License-Identifier: Apache-2.0
// Views as text, and copies that stand alone.
#include <sys/stat.h>
#include <unistd.h>

#include "gmock/gmock.h"
#include "unit/store/fixture.h"

namespace hopyard::store {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Exports : public StoreTest {
 protected:
  std::string rows(v1::ExportFormat format, const std::string& view) {
    std::string text;
    EXPECT_OK(store_->export_rows("c1", format, view, [&](std::string_view piece) {
      text += piece;
      return absl::OkStatus();
    }));
    return text;
  }
};

TEST_F(Exports, GiveOneJsonObjectARowInOrderOfExecution) {
  v1::TrialResult failed = lost_result(trial_id("c1", "A", "h1-128k", 0), v1::FAILED);
  failed.set_reason("check: expected \"a\\b\",\n\tsaw \x01 \u00e9");
  ASSERT_OK(store_->record_trial("c1", failed, guest_provenance()));
  const std::string text = rows(v1::JSONL, "v_trial");
  EXPECT_THAT(
      text, StartsWith("{\"trial_id\":\"c1/B/h1-128k/0\",\"campaign_id\":\"c1\",\"block\":0,\"position\":0,"
                       "\"path\":\"clean\",\"workload\":\"h1-128k\",\"case_name\":\"B\",\"verdict\":null,"));
  EXPECT_THAT(text,
              HasSubstr("\"reason\":\"check: expected \\\"a\\\\b\\\",\\u000a\\u0009saw \\u0001 \u00e9\""));
  EXPECT_THAT(text, HasSubstr("\"seed\":\"18446744073709551615\""));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 8);
}

TEST_F(Exports, GiveCsvWithAHeaderWhereNothingAndEmptyTextDiffer) {
  EXPECT_EQ(rows(v1::CSV, "v_check"), "trial_id,seq,name,expected,seen,outcome\r\n");
  v1::TrialResult failed = lost_result(trial_id("c1", "B", "h1-128k", 0), v1::FAILED);
  v1::Check& check = *failed.add_checks();
  check.set_name("say \"x\", then y");
  ASSERT_OK(store_->record_trial("c1", failed, guest_provenance()));
  EXPECT_EQ(rows(v1::CSV, "v_check"),
            "trial_id,seq,name,expected,seen,outcome\r\n"
            "\"c1/B/h1-128k/0\",0,\"say \"\"x\"\", then y\",\"\",\"\",\r\n");
}

TEST_F(Exports, OfCampaignViewsGiveThatCampaignOnly) {
  ASSERT_OK(store_->add_campaign(small_campaign("c2"), {}));
  const std::string text = rows(v1::JSONL, "v_campaign");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_THAT(text, HasSubstr("\"overrides_json\":\"[\\\"repetitions=2\\\""));
}

TEST_F(Exports, GiveEveryViewRowForRow) {
  v1::TrialResult filled;
  fill(filled);
  filled.set_trial_id(trial_id("c1", "A", "h1-128k", 0));
  filled.set_verdict(v1::PASSED);
  ASSERT_OK(store_->record_trial("c1", filled, guest_provenance()));
  const auto views = query(path(), "SELECT name FROM sqlite_schema WHERE type = 'view'");
  EXPECT_GE(views.size(), 20u);
  for (const auto& view : views) {
    const std::string wanted = query(path(), "SELECT COUNT(*) FROM " + view[0])[0][0];
    const std::string json = rows(v1::JSONL, view[0]);
    EXPECT_EQ(std::to_string(std::count(json.begin(), json.end(), '\n')), wanted) << view[0];
    // Texts have line feeds of their own in CSV; rows end in CRLF.
    const std::string csv = rows(v1::CSV, view[0]);
    size_t lines = 0;
    for (size_t at = csv.find("\r\n"); at != std::string::npos; at = csv.find("\r\n", at + 1)) ++lines;
    EXPECT_EQ(std::to_string(lines - 1), wanted) << view[0];
  }
}

TEST_F(Exports, KeepEveryDigitOf64Bits) {
  v1::TrialResult result = h1_result(trial_id("c1", "A", "h1-128k", 0), 1);
  result.set_started_ns(9223372036854775807);
  v1::SocketSnapshot& snapshot = *result.add_sockets();
  (*snapshot.mutable_values())["tcpi_bytes_acked"] = 9007199254740993;       // 2^53 + 1
  (*snapshot.mutable_values())["tcpi_pacing_rate"] = 18446744073709551614u;  // does not fit SQLite's integers
  ASSERT_OK(store_->record_trial("c1", result, guest_provenance()));
  EXPECT_THAT(rows(v1::JSONL, "v_provenance"), HasSubstr("\"started_ns\":9223372036854775807,"));
  EXPECT_THAT(rows(v1::JSONL, "v_socket_value"), HasSubstr("\"value\":9007199254740993}"));
  EXPECT_THAT(rows(v1::JSONL, "v_socket_value"), HasSubstr("\"value\":\"18446744073709551614\"}"));
  EXPECT_THAT(rows(v1::CSV, "v_socket_value"), HasSubstr(",9007199254740993\r\n"));
}

TEST_F(Exports, RefuseWhatIsNoViewAndEndWithTheSinksError) {
  const auto drop = [](std::string_view) { return absl::OkStatus(); };
  const absl::Status unknown = store_->export_rows("c1", v1::JSONL, "v_trial; DROP TABLE trial", drop);
  EXPECT_TRUE(absl::IsNotFound(unknown));
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("there are v_campaign, v_case"));
  EXPECT_TRUE(absl::IsNotFound(store_->export_rows("c1", v1::JSONL, "campaign", drop)));
  EXPECT_TRUE(absl::IsInvalidArgument(store_->export_rows("c1", v1::SQLITE, "v_trial", drop)));
  EXPECT_EQ(store_->export_rows("c1", v1::CSV, "v_trial",
                                [](std::string_view) { return absl::CancelledError("gone"); }),
            absl::CancelledError("gone"));
}

TEST_F(Exports, CopiesCanBeReadByAnyoneFromAFolderNobodyMayWrite) {
  const std::string folder = folder_.file("elsewhere");
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  const std::string copy = folder + "/copy.db";
  ASSERT_OK(store_->record_trial("c1", h1_result(trial_id("c1", "A", "h1-128k", 0), 7), guest_provenance()));
  ASSERT_OK(store_->export_copy(copy));
  EXPECT_TRUE(absl::IsAlreadyExists(store_->export_copy(copy)));
  ASSERT_EQ(::chmod(copy.c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder.c_str(), 0555), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  in_child([&]() -> std::string {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return "cannot become another user";
    const std::string seen = sqlite3_program(copy, "SELECT count(*), count(verdict) FROM v_trial");
    return seen == "8|1\n" ? "" : seen;
  });
  ASSERT_EQ(::chmod(folder.c_str(), 0700), 0);
}

TEST_F(Exports, ThatCannotBeWrittenLeaveNoFile) {
  const absl::Status status = store_->export_copy(folder_.file("no/such/folder/copy.db"));
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              StartsWith("copy database to: " + folder_.file("no/such/folder/copy.db")));
}

}  // namespace
}  // namespace hopyard::store

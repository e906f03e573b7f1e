// SPDX-License-Identifier: Apache-2.0
// See evidence.h.
#include "unit/verify/evidence.h"

#include <sqlite3.h>

#include "base/fd.h"
#include "places.h"
#include "run/figures.h"

namespace hopyard::verify {

void change(const std::string& database, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(database.c_str(), &db), SQLITE_OK);
  char* error = nullptr;
  const std::string all =
      "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;"
      "DROP TRIGGER IF EXISTS outcome_is_not_changed; DROP TRIGGER IF EXISTS outcome_is_not_removed;" +
      sql;
  sqlite3_exec(db, all.c_str(), nullptr, nullptr, &error);
  EXPECT_EQ(error, nullptr) << error << "\n" << sql;
  sqlite3_free(error);
  sqlite3_close(db);
}

void write_version_1(const std::string& path) {
  const auto sql = base::read_file(std::string(HOPYARD_SOURCE_DIR) + "/tests/data/verify/version-1.sql");
  ASSERT_TRUE(sql.ok()) << sql.status();
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  char* error = nullptr;
  sqlite3_exec(db, sql->c_str(), nullptr, nullptr, &error);
  EXPECT_EQ(error, nullptr) << error;
  sqlite3_free(error);
  sqlite3_close(db);
}

store::Provenance provenance_of(const std::string& database, const std::string& trial) {
  const auto row =
      store::query(
          database,
          "SELECT execution, kernel_release, variant, sha256, nginx_path, binary_sha256, fragment_bytes,"
          " early_fragment_bytes, early_budget_bytes, transitions, settings FROM outcome JOIN trial USING "
          "(trial_no)"
          " JOIN host USING (host_no) JOIN server_build USING (build_no) WHERE trial_id = '" +
              trial + "'")
          .at(0);
  store::Provenance made;
  made.execution = row[0];
  made.kernel_release = row[1];
  made.tool_version = "test";
  made.build.set_variant(row[2]);
  made.build.set_sha256(row[3]);
  made.build.set_nginx_path(row[4]);
  made.binary_sha256 = row[5];
  const auto number = [&](size_t i) { return static_cast<uint32_t>(std::stoul(row[i])); };
  v1::RecordPolicy& policy = *made.build.mutable_records();
  policy.set_fragment_bytes(number(6));
  policy.set_early_fragment_bytes(number(7));
  policy.set_early_budget_bytes(number(8));
  policy.set_transitions(number(9));
  policy.set_settings(number(10));
  return made;
}

std::string record_anew(const std::string& from, const std::string& to) {
  const auto old = store::Store::open(from).value();
  const auto made = store::Store::open(to).value();
  store::CampaignRow campaign = old->campaign("last").value();
  v1::Equivalence& equal = *campaign.campaign.add_equivalence();
  equal.add_cases("A");
  equal.add_cases("D");
  equal.set_margin_ns(50'000'000);
  // Of three cases: that the last is the first again makes no difference to the arithmetic.
  v1::Factorial& four = *campaign.campaign.add_factorials();
  four.set_name("buffer-early");
  four.set_neither("A");
  four.set_first("D");
  four.set_second("E");
  four.set_both("A");
  const auto planned = old->planned("last").value();
  EXPECT_OK(made->add_campaign(campaign, planned));
  for (const auto& row : planned) {
    const auto trial = old->trial(row.trial_id).value();
    EXPECT_OK(made->record_trial(campaign.id, trial.result(), provenance_of(from, row.trial_id)));
  }
  EXPECT_OK(run::record_figures(*made, campaign.id, std::stop_token()));
  EXPECT_OK(made->set_state(campaign.id, v1::DONE, ""));
  return campaign.id;
}

Report verified(const std::string& database, const std::string& campaign) {
  auto report = verify_campaign(database, campaign, {});
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : Report();
}

std::string in_words(const Report& report) {
  std::string text = std::to_string(report.findings) + " findings\n";
  for (size_t i = 0; i < report.told.size() && i < 30; ++i) text += in_words(report.told[i]) + "\n";
  return text;
}

}  // namespace hopyard::verify

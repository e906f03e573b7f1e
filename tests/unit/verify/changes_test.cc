// SPDX-License-Identifier: Apache-2.0
// Whatever is changed by hand in a database of real evidence is found, and named.
#include <algorithm>

#include "gmock/gmock.h"
#include "unit/verify/evidence.h"

namespace hopyard::verify {
namespace {

using store::query;

constexpr char kTablesOfTrials[] =
    "SELECT t.name FROM sqlite_schema t WHERE t.type = 'table' AND t.name <> 'trial_seal' AND EXISTS"
    " (SELECT 1 FROM pragma_table_info(t.name) WHERE name = 'trial_no') ORDER BY 1";

class Changes : public testing::Test {
 protected:
  void SetUp() override {
    write_version_1(old_);
    campaign_ = record_anew(old_, path_);
  }

  // The trial with most rows of `table`, and the first of them after the middle; empty: there is none.
  struct Target {
    std::string trial_no, trial_id, where;
  };
  std::vector<Target> target(const std::string& database, const std::string& table) {
    const auto trial = query(database, "SELECT t.trial_no, t.trial_id, COUNT(*) FROM " + table +
                                           " JOIN trial t ON t.trial_no = " + table +
                                           ".trial_no GROUP BY 1 ORDER BY 3 DESC LIMIT 1");
    if (trial.empty()) return {};
    std::string key;
    for (const auto& row :
         query(database, "SELECT name FROM pragma_table_info('" + table + "') WHERE pk > 0 ORDER BY pk"))
      key += (key.empty() ? "" : " || ' AND ") + row[0] + " = ' || quote(" + row[0] + ")";
    const auto where =
        query(database, "SELECT '" + key + " FROM " + table + " WHERE trial_no = " + trial[0][0] +
                            " LIMIT 1 OFFSET " + std::to_string(std::stoi(trial[0][2]) / 2));
    return {{trial[0][0], trial[0][1], where.at(0).at(0)}};
  }

  store::TempFolder folder_;
  const std::string old_ = folder_.file("old.db");
  const std::string path_ = folder_.file("new.db");
  std::string campaign_;
};

bool names(const Report& report, const std::string& table, const std::string& trial) {
  return std::any_of(report.told.begin(), report.told.end(), [&](const Finding& finding) {
    return finding.table == table && finding.trial_id == trial;
  });
}

TEST_F(Changes, NoneAreFoundWhereNoneWereMade) {
  const Report now = verified(path_, campaign_);
  EXPECT_EQ(now.findings, 0u) << in_words(now);
  EXPECT_EQ(now.unsealed, 0u);
  EXPECT_THAT(now.notes, testing::IsEmpty());
  EXPECT_EQ(now.trials, 12u);
  EXPECT_EQ(std::to_string(now.checks), query(path_, "SELECT COUNT(*) FROM evidence_check")[0][0]);
  EXPECT_GT(now.figures, 300u);
}

TEST_F(Changes, AreLookedForByInvariantsInADatabaseWithoutSeals) {
  store::Store::open(old_).value();  // becomes a database of the present version
  const Report before = verified(old_, campaign_);
  EXPECT_EQ(before.findings, 0u) << in_words(before);
  EXPECT_EQ(before.unsealed, 12u);
  EXPECT_THAT(before.notes, testing::Contains(testing::HasSubstr("have no seal")));
}

TEST_F(Changes, EveryTableOfTrialsIsSealed) {
  EXPECT_EQ(query(path_, kTablesOfTrials),
            query(path_, "SELECT DISTINCT table_name FROM trial_seal ORDER BY 1"));
}

// "value + 1" in the column's own type; NULL becomes a value.
std::string other_value(const std::string& column, const std::string& type) {
  if (type == "TEXT") return "COALESCE(" + column + ", '') || 'x'";
  if (type == "BLOB") return "CAST(COALESCE(" + column + ", x'') || 'x' AS BLOB)";
  // No two trials of a cell have one block.
  if (column == "cell_no") return "cell_no + 1, block = block + 1000";
  if (column == "block") return "block + 1000";
  return "COALESCE(" + column + ", 0) + 1";
}

TEST_F(Changes, OfAnyColumnOfAnyTableOfTrialsAreFound) {
  size_t columns = 0;
  for (const auto& table : query(path_, kTablesOfTrials)) {
    const auto found = target(path_, table[0]);
    // `unsupported` and the like need not come up in these trials; what is there must be covered.
    if (found.empty()) continue;
    for (const auto& column : query(path_, "SELECT name, type, pk FROM pragma_table_info('" + table[0] +
                                               "') WHERE name <> 'trial_no'")) {
      const bool key = column[2] != "0";
      const auto spare = folder_.file("changed.db");
      std::filesystem::copy_file(path_, spare, std::filesystem::copy_options::overwrite_existing);
      change(spare, "UPDATE " + table[0] + " SET " + column[0] + " = " +
                        (key && column[1] == "INTEGER" ? column[0] + " + 1000000"
                                                       : other_value(column[0], column[1])) +
                        " WHERE " + found[0].where);
      const Report report = verified(spare, campaign_);
      const std::string now = found[0].trial_id + (column[0] == "trial_id" ? "x" : "");
      EXPECT_TRUE(names(report, table[0], now))
          << table[0] << "." << column[0] << " where " << found[0].where << "\n"
          << in_words(report);
      ++columns;
    }
  }
  EXPECT_GT(columns, 120u);
}

TEST_F(Changes, ThatTakeARowAwayAreFound) {
  for (const auto& table : query(path_, kTablesOfTrials)) {
    const auto found = target(path_, table[0]);
    // Without its plan or its outcome a trial has not run: db check says that its evidence points at nothing.
    if (found.empty() || table[0] == "trial" || table[0] == "outcome") continue;
    const auto spare = folder_.file("changed.db");
    std::filesystem::copy_file(path_, spare, std::filesystem::copy_options::overwrite_existing);
    change(spare, "DELETE FROM " + table[0] + " WHERE " + found[0].where);
    const Report report = verified(spare, campaign_);
    EXPECT_TRUE(names(report, table[0], found[0].trial_id)) << table[0] << "\n" << in_words(report);
  }
}

TEST_F(Changes, OfSharedTextsAreFoundInTheTrialsThatUseThem) {
  change(path_, "UPDATE text SET content = content || ' ' WHERE content LIKE 'daemon off%'");
  const Report report = verified(path_, campaign_);
  EXPECT_EQ(report.findings, 12u) << in_words(report);
  for (const Finding& finding : report.told) EXPECT_EQ(finding.table, "server") << in_words(finding);
}

TEST_F(Changes, OfASealAreFound) {
  change(path_, "UPDATE trial_seal SET sha256 = zeroblob(32) WHERE table_name = 'ssl_write'");
  EXPECT_EQ(verified(path_, campaign_).findings, 12u);
}

TEST_F(Changes, OfFiguresAreFound) {
  for (const auto& column : query(path_,
                                  "SELECT name FROM pragma_table_info('pair_figure') WHERE pk = 0 AND name IN"
                                  " ('n', 'median_diff_ns', 'hl_ns', 'ci_low_ns', 'ci_high_ns', 'negative',"
                                  " 'positive', 'p_value')")) {
    const auto spare = folder_.file("changed.db");
    std::filesystem::copy_file(path_, spare, std::filesystem::copy_options::overwrite_existing);
    change(spare, "UPDATE pair_figure SET " + column[0] + " = COALESCE(" + column[0] +
                      ", 0) + 1 WHERE metric = 'complete_ns' AND case_a = 'A' AND case_b = 'D'");
    const Report report = verified(spare, campaign_);
    EXPECT_EQ(report.findings, 1u) << column[0] << in_words(report);
    EXPECT_EQ(report.told.at(0).table, "v_pair");
    EXPECT_EQ(report.told.at(0).column, column[0]);
  }
}

TEST_F(Changes, OfDeclaredComparisonsAreFound) {
  change(
      path_,
      "UPDATE pair_figure SET p_above_low = p_above_low / 2 WHERE metric = 'complete_ns' AND case_b = 'D'");
  change(path_, "UPDATE interaction_figure SET hl_ns = hl_ns + 0.5 WHERE metric = 'complete_ns'");
  const Report report = verified(path_, campaign_);
  ASSERT_EQ(report.findings, 2u) << in_words(report);
  EXPECT_EQ(report.told[0].column, "p_above_low");
  EXPECT_EQ(report.told[1].table, "v_interaction");
  EXPECT_EQ(report.told[1].column, "hl_ns");
}

// A later version may add columns: old rows are NULL there, and old seals hold.
TEST_F(Changes, OfTheSchemaThatAddANullColumnBreakNoSeal) {
  change(path_, "ALTER TABLE tls_record ADD COLUMN later INTEGER");
  EXPECT_EQ(verified(path_, campaign_).findings, 0u) << in_words(verified(path_, campaign_));
  change(path_, "UPDATE tls_record SET later = 1 WHERE seq = 3");
  EXPECT_EQ(verified(path_, campaign_).findings, 12u);
}

// ---- the row, the column, what it must be: without seals, from the other rows alone ----

class WithoutSeals : public Changes {
 protected:
  void SetUp() override {
    Changes::SetUp();
    store::Store::open(old_).value();
    trial_ = query(old_,
                   "SELECT trial_id FROM trial JOIN cell USING (cell_no) WHERE case_name = 'E' AND workload ="
                   " 'h2-competition' ORDER BY run_index LIMIT 1")[0][0];
    trial_no_ = query(old_, "SELECT trial_no FROM trial WHERE trial_id = '" + trial_ + "'")[0][0];
  }
  void expect(const std::string& sql, const Finding& wanted) {
    change(old_, sql);
    const Report report = verified(old_, campaign_);
    const bool found = std::any_of(report.told.begin(), report.told.end(), [&](const Finding& finding) {
      return finding.table == wanted.table && finding.trial_id == trial_ && finding.row == wanted.row &&
             finding.column == wanted.column && finding.expected == wanted.expected &&
             finding.seen == wanted.seen;
    });
    EXPECT_TRUE(found) << in_words(wanted) << "\nnot among " << in_words(report);
  }
  std::string value(const std::string& expression, const std::string& table, const std::string& where) {
    return query(old_, "SELECT " + expression + " FROM " + table + " WHERE trial_no = " + trial_no_ +
                           " AND " + where)
        .at(0)
        .at(0);
  }
  std::string of_trial() const { return " WHERE trial_no = " + trial_no_ + " AND "; }
  std::string trial_, trial_no_;
};

TEST_F(WithoutSeals, AByteOfARecordNamesItsRow) {
  const std::string was = value("wire_bytes", "tls_record", "seq = 17");
  expect("UPDATE tls_record SET wire_bytes = wire_bytes + 1" + of_trial() + "seq = 17",
         {"tls_record", "", "seq 17", "wire_bytes", was, std::to_string(std::stoi(was) + 1), ""});
}

TEST_F(WithoutSeals, AResultOfSslWriteNamesItsRow) {
  const std::string seq = value("MIN(seq)", "ssl_write", "returned > 1000");
  const std::string was = value("returned", "ssl_write", "seq = " + seq);
  expect("UPDATE ssl_write SET returned = returned - 1" + of_trial() + "seq = " + seq,
         {"ssl_write", "", "seq " + seq, "returned", was, std::to_string(std::stoi(was) - 1), ""});
}

TEST_F(WithoutSeals, WritesAreMissedUnlessTheirServerWasKilled) {
  const auto misses_writes = [this] { return names(verified(old_, campaign_), "ssl_write", trial_); };
  for (const char* table : {"ssl_write", "fragment"})
    change(old_, std::string("DELETE FROM ") + table + " WHERE trial_no = " + trial_no_);
  EXPECT_TRUE(misses_writes());
  change(old_, "UPDATE server SET signal = 9 WHERE trial_no = " + trial_no_);
  EXPECT_FALSE(misses_writes());
}

TEST_F(WithoutSeals, AnOptionOfAQdiscNamesItsRow) {
  expect(
      "INSERT INTO text (content) SELECT replace(content, '\"limit\":10000', '\"limit\":10001') FROM text "
      "WHERE"
      " content LIKE '%\"delay\":0.0105,%' LIMIT 1; UPDATE qdisc_snapshot SET options_text ="
      " (SELECT MAX(text_no) FROM text)" +
          of_trial() + "seq = 1",
      {"qdisc_snapshot", "", "seq 1", "options_text (limit)", "10000", "10001", ""});
}

TEST_F(WithoutSeals, AVerdictNamesItsRow) {
  expect("UPDATE outcome SET verdict = 'failed' WHERE trial_no = " + trial_no_,
         {"outcome", "", "", "verdict", "passed", "failed", ""});
}

TEST_F(WithoutSeals, ATimeThatIsToldTwiceNamesItsRow) {
  const std::string was = value("complete_ns", "response", "seq = 1");
  expect("UPDATE response SET complete_ns = complete_ns + 1" + of_trial() + "seq = 1",
         {"response", "", "seq 1", "complete_ns", was, std::to_string(std::stoll(was) + 1), ""});
}

TEST_F(WithoutSeals, ABodyWithoutEndEndsNothing) {
  const std::string was = value("body_bytes", "response", "seq = 1"), huge = "4611686018427387904";
  expect("UPDATE response SET body_bytes = " + huge + of_trial() + "seq = 1",
         {"response", "", "seq 1", "body_bytes", was, huge, ""});
}

TEST_F(WithoutSeals, ACheckSaysWhatTheEvidenceSays) {
  const std::string seq = value("MIN(seq)", "evidence_check",
                                "name_text = (SELECT text_no FROM text WHERE content = 'bulk: body bytes')");
  expect("UPDATE evidence_check SET seen = '131073'" + of_trial() + "seq = " + seq,
         {"evidence_check", "", "seq " + seq + " (bulk: body bytes)", "seen", "131072", "131073", ""});
}

TEST_F(WithoutSeals, ASeedFollowsFromTheCampaign) {
  const std::string was = value("seed", "trial", "1");
  expect("UPDATE trial SET seed = seed + 1 WHERE trial_no = " + trial_no_,
         {"trial", "", "", "seed", was, std::to_string(std::stoull(was) + 1), ""});
}

}  // namespace
}  // namespace hopyard::verify

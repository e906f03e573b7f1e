// SPDX-License-Identifier: Apache-2.0
// A database that an earlier version wrote goes on in this one.
#include "store/migrate.h"

#include <sqlite3.h>

#include <fstream>

#include "gmock/gmock.h"
#include "places.h"
#include "unit/store/fixture.h"

namespace hopyard::store {
namespace {

std::string text_of(const std::string& name) {
  std::ifstream file(std::string(HOPYARD_SOURCE_DIR) + "/daemon/store/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

// As version 1 made it: schema.sql, which is kept as it was, with a view of its own and one trial.
void make_version_1(const std::string& path) {
  query(path, text_of("schema.sql"));
  query(path,
        "CREATE VIEW v_trial AS SELECT trial_id FROM trial;"
        "INSERT INTO text VALUES (1, 'hopyard 0.1.0');"
        "INSERT INTO campaign VALUES (1, 'old', 'old.yaml', 'name: old', 'abc',"
        " '{\"name\":\"old\",\"clock\":\"real\",\"cases\":[{\"name\":\"A\"}]}', 1, 'done', '', 'guest', 'k', "
        "5, 6);"
        "INSERT INTO cell VALUES (1, 1, 'clean', 'h1', 'A', 'auto');"
        "INSERT INTO trial VALUES (1, 'old.0', 1, 0, 0, 0, 7);"
        "INSERT INTO host VALUES (1, 'guest', '6.1', 'real');"
        "INSERT INTO server_build VALUES (1, 'stock', 'f', '/n', 'b', 'i', 16384, 0, 0, 0, 0);"
        "INSERT INTO outcome VALUES (1, 'passed', '', 1, 1, 1, 1, 2, 3);"
        "INSERT INTO pair_figure VALUES (1, 'A', 'A', 'p', 'w', 'm', 'k', 'real', 'host', 6, 5.0, 5.5, 1.0, "
        "9.0, 0, 6,"
        " 0.03125);"
        "PRAGMA user_version = 1; PRAGMA application_id = 1213157465;");
}

TEST(Migration, OfAFirstVersionsDatabaseKeepsItsTrialsAndTakesNewOnes) {
  const TempFolder folder;
  const std::string path = folder.file("old.db");
  make_version_1(path);
  auto opened = Store::open(path);
  ASSERT_TRUE(opened.ok()) << opened.status();
  Store& store = **opened;
  EXPECT_EQ(query(path, "PRAGMA user_version")[0][0], std::to_string(kSchemaVersion));
  const auto trial = store.trial("old.0");
  ASSERT_TRUE(trial.ok()) << trial.status();
  EXPECT_EQ(trial->result().verdict(), v1::PASSED);
  EXPECT_EQ(trial->result().router_size(), 0);
  EXPECT_EQ(query(path, "SELECT verdict FROM v_trial")[0][0], "passed") << "the old view is replaced";
  EXPECT_EQ(query(path, "SELECT list_complete FROM v_trial_drops")[0][0], "NULL");
  const auto pairs = store.pairs("old", "A", "A");
  ASSERT_TRUE(pairs.ok() && pairs->size() == 1) << pairs.status();
  EXPECT_EQ(pairs->front().hl_ns(), 5.5);
  EXPECT_FALSE(pairs->front().has_equivalence());
  ASSERT_OK(store.add_campaign(small_campaign("new"), small_plan("new", 1)));
  v1::TrialResult result = h1_result(trial_id("new", "A", "h1-128k", 0), 5);
  result.add_router()->add_drops()->set_ordinal(3);
  ASSERT_OK(store.record_trial("new", result, guest_provenance()));
  EXPECT_EQ(store.trial(result.trial_id())->result().router(0).drops(0).ordinal(), 3u);
  EXPECT_THAT(store.check()->problems(), testing::IsEmpty());
}

TEST(Migration, LeavesTheTablesThatAFreshDatabaseHas) {
  const TempFolder folder;
  make_version_1(folder.file("old.db"));
  ASSERT_TRUE(Store::open(folder.file("old.db")).ok());
  ASSERT_TRUE(Store::open(folder.file("fresh.db")).ok());
  const std::string objects = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name";
  EXPECT_EQ(query(folder.file("old.db"), objects), query(folder.file("fresh.db"), objects));
}

}  // namespace
}  // namespace hopyard::store

// SPDX-License-Identifier: Apache-2.0
// Databases that earlier versions wrote, kept as they were: opened today they hold what they held, and take
// more.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "base/child.h"
#include "fmt/format.h"
#include "places.h"
#include "store/migrate.h"
#include "unit/store/fixture.h"

namespace hopyard::store {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

using Rows = std::vector<std::vector<std::string>>;

std::vector<std::string> kept() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(HOPYARD_SOURCE_DIR "/tests/data/databases"))
    files.push_back(entry.path());
  return files;
}

class KeptDatabase : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    constexpr size_t kLimitBytes = 64u << 20;
    const auto unpacked = base::run_command({.argv = {"/usr/bin/xz", "-dc", GetParam()}},
                                            std::chrono::seconds(60), kLimitBytes);
    ASSERT_TRUE(unpacked.ok() && unpacked->exit.clean()) << unpacked.status();
    std::ofstream(path(), std::ios::binary) << unpacked->output;
  }
  std::string path() const { return folder_.file("kept.db"); }
  // Every view's rows, in the columns given, whatever their order.
  std::map<std::string, Rows> contents(const std::map<std::string, std::string>& columns) const {
    std::map<std::string, Rows> views;
    for (const auto& [view, names] : columns) {
      Rows rows = query(path(), fmt::format("SELECT {} FROM {}", names, view));
      std::sort(rows.begin(), rows.end());
      views[view] = std::move(rows);
    }
    return views;
  }
  std::map<std::string, std::string> columns_of_views() const {
    std::map<std::string, std::string> columns;
    for (const auto& row : query(path(),
                                 "SELECT v.name, group_concat('\"' || c.name || '\"') FROM sqlite_schema v, "
                                 "pragma_table_info(v.name) c WHERE v.type = 'view' GROUP BY 1"))
      columns[row[0]] = row[1];
    return columns;
  }
  TempFolder folder_;
};

TEST_P(KeptDatabase, HoldsWhatItHeld) {
  const auto columns = columns_of_views();
  ASSERT_GE(columns.size(), 10u);
  const auto before = contents(columns);
  ASSERT_FALSE(before.at("v_tls_record").empty());
  const auto store = Store::open(path());
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ(query(path(), "PRAGMA user_version"), Rows{{std::to_string(kSchemaVersion)}});
  for (const auto& [view, rows] : contents(columns)) EXPECT_EQ(rows, before.at(view)) << view;
  EXPECT_THAT((*store)->check()->problems(), IsEmpty());
}

TEST_P(KeptDatabase, TakesMore) {
  const auto store = Store::open(path());
  ASSERT_TRUE(store.ok()) << store.status();
  const auto left = (*store)->without_outcome("last");  // cut short before it was kept
  ASSERT_TRUE(left.ok()) << left.status();
  ASSERT_FALSE(left->empty());
  EXPECT_OK((*store)->record_trial(*(*store)->resolve("last"), h1_result(left->front().trial_id, 5),
                                   guest_provenance()));
  EXPECT_OK((*store)->add_campaign(small_campaign("new"), small_plan("new", 2)));
  EXPECT_THAT((*store)->check()->problems(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, KeptDatabase, testing::ValuesIn(kept()), [](const auto& database) {
  std::string name = fs::path(database.param).filename();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

}  // namespace
}  // namespace hopyard::store

// SPDX-License-Identifier: Apache-2.0
// Databases, campaigns and results for the tests of store/, in a folder of their own.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "google/protobuf/message.h"
#include "gtest/gtest.h"
#include "store/store.h"

namespace hopyard::store {

// A fresh folder, removed when it goes.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Cases A and B, path "clean", workloads "h1-128k" (one request) and "h2-competition" (bulk, later).
CampaignRow small_campaign(const std::string& id);
// One trial for each case, workload and block: "<id>/<case>/<workload>/<block>".
std::vector<PlannedRow> small_plan(const std::string& id, unsigned blocks);
std::string trial_id(const std::string& campaign, const std::string& case_name, const std::string& workload,
                     unsigned block);

// A passed "h1-128k" trial whose response is complete `complete_ns` after its request.
v1::TrialResult h1_result(const std::string& trial, int64_t complete_ns);
v1::TrialResult lost_result(const std::string& trial, v1::Verdict verdict);
Provenance guest_provenance();

// Sets every field, also those not yet thought of, to values that are not the default and mostly differ.
// Repeated fields get three entries, fields named seq count from 0.
void fill(google::protobuf::Message& message);

// Rows of `sql` as the sqlite3 program prints them ("a|b\n"), read-only, from another process.
std::string sqlite3_program(const std::string& database, const std::string& sql);
// Runs SQL on a connection of the test's own; every row's columns as text.
std::vector<std::vector<std::string>> query(const std::string& database, const std::string& sql);
// What SQLite answers to `sql` on such a connection; empty if it obeys.
std::string refusal(const std::string& database, const std::string& sql);

// Runs `body` in a child process; what it returns must be empty, else the test fails with it.
void in_child(const std::function<std::string()>& body);

#define ASSERT_OK(expression)                     \
  do {                                            \
    const absl::Status ok_status_ = (expression); \
    ASSERT_TRUE(ok_status_.ok()) << ok_status_;   \
  } while (false)
#define EXPECT_OK(expression)                     \
  do {                                            \
    const absl::Status ok_status_ = (expression); \
    EXPECT_TRUE(ok_status_.ok()) << ok_status_;   \
  } while (false)

// A database with campaign "c1" and two blocks planned.
class StoreTest : public testing::Test {
 protected:
  void SetUp() override;
  std::string path() const { return folder_.file("hopyard.db"); }
  TempFolder folder_;
  std::unique_ptr<Store> store_;
};

}  // namespace hopyard::store

// SPDX-License-Identifier: Apache-2.0
// See fixture.h.
#include "unit/store/fixture.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/fd.h"

namespace hopyard::store {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

v1::Request request(const std::string& name, uint64_t body_bytes) {
  v1::Request made;
  made.set_name(name);
  made.set_body_bytes(body_bytes);
  return made;
}

// Sets one value (or entry `index` of a repeated field) from a counter.
class Filler {
 public:
  void fill(Message& message, int place) {
    const Reflection& reflection = *message.GetReflection();
    for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
      const FieldDescriptor* field = message.GetDescriptor()->field(i);
      if (field->name() == "seq") {
        reflection.SetUInt32(&message, field, static_cast<uint32_t>(place));
      } else if (field->is_map()) {
        map(message, field);
      } else if (field->is_repeated()) {
        for (int entry = 0; entry < 3; ++entry) add(message, field, entry);
      } else {
        set(message, field);
      }
    }
  }

 private:
  void map(Message& message, const FieldDescriptor* field) {
    for (int entry = 0; entry < 3; ++entry) {
      Message& pair = *message.GetReflection()->AddMessage(&message, field);
      const Reflection& reflection = *pair.GetReflection();
      reflection.SetString(&pair, pair.GetDescriptor()->field(0), "tcpi_key" + std::to_string(++count_));
      // The last is what a socket without a pacing limit reports.
      reflection.SetUInt64(&pair, pair.GetDescriptor()->field(1), entry == 2 ? ~0ull : ++count_);
    }
  }

  void add(Message& message, const FieldDescriptor* field, int place) {
    const Reflection& reflection = *message.GetReflection();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return fill(*reflection.AddMessage(&message, field), place);
      case FieldDescriptor::CPPTYPE_STRING:
        return reflection.AddString(&message, field, text(field));
      case FieldDescriptor::CPPTYPE_UINT32:
        return reflection.AddUInt32(&message, field, ++count_);
      default:
        FAIL() << "teach the filler repeated " << field->full_name();
    }
  }

  void set(Message& message, const FieldDescriptor* field) {
    const Reflection& reflection = *message.GetReflection();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return fill(*reflection.MutableMessage(&message, field), 0);
      case FieldDescriptor::CPPTYPE_STRING:
        return reflection.SetString(&message, field, text(field));
      case FieldDescriptor::CPPTYPE_ENUM:
        return reflection.SetEnumValue(&message, field, 2);
      case FieldDescriptor::CPPTYPE_BOOL:
        return reflection.SetBool(&message, field, true);
      case FieldDescriptor::CPPTYPE_UINT32:
        return reflection.SetUInt32(&message, field, 4000000000u + ++count_);
      case FieldDescriptor::CPPTYPE_INT32:
        return reflection.SetInt32(&message, field, -static_cast<int32_t>(++count_));
      case FieldDescriptor::CPPTYPE_UINT64:
        return reflection.SetUInt64(&message, field, ~0ull - ++count_);
      case FieldDescriptor::CPPTYPE_INT64:
        return reflection.SetInt64(&message, field, 123456789012345678 + ++count_);
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return reflection.SetDouble(&message, field, 0.1 * ++count_);
      default:
        FAIL() << "teach the filler " << field->full_name();
    }
  }

  std::string text(const FieldDescriptor* field) {
    if (field->type() == FieldDescriptor::TYPE_BYTES)
      return std::string("\x00\xff\x80", 3) + std::to_string(++count_);
    return field->name() + " \"'\n\u00e9 " + std::to_string(++count_);
  }

  uint32_t count_ = 0;
};

}  // namespace

TempFolder::TempFolder() {
  std::string pattern = (std::filesystem::path(testing::TempDir()) / "hopyard-store-XXXXXX").string();
  path_ = ::mkdtemp(pattern.data());
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

CampaignRow small_campaign(const std::string& id) {
  CampaignRow row;
  row.id = id;
  row.file = "small.yaml";
  row.text = "name: small # \"quoted\"\n";
  row.text_sha256 = "abc123";
  row.overrides = {"repetitions=2", "seed=18446744073709551615"};
  row.jobs = 2;
  row.submitted_unix_ns = 1700000000000000001;
  v1::Campaign& campaign = row.campaign;
  campaign.set_name("small");
  campaign.set_question("Which is earlier?");
  campaign.set_clock("real");
  campaign.set_seed(~0ull);
  campaign.set_repetitions(2);
  campaign.add_cases()->set_name("A");
  campaign.add_cases()->set_name("B");
  campaign.mutable_cases(1)->mutable_server()->set_ssl_buffer_size_bytes(4096);
  v1::Path& path = *campaign.add_paths();
  path.set_name("clean");
  path.set_kind("routed");
  path.set_rtt_ns(20000000);
  path.set_loss(0.001);
  v1::Workload& h1 = *campaign.add_workloads();
  h1.set_name("h1-128k");
  h1.set_protocol("h1");
  *h1.add_requests() = request("body", 131072);
  v1::Workload& h2 = *campaign.add_workloads();
  h2.set_name("h2-competition");
  h2.set_protocol("h2");
  *h2.add_requests() = request("bulk", 1 << 20);
  *h2.add_requests() = request("later", 4096);
  h2.mutable_requests(1)->mutable_after()->set_request("bulk");
  return row;
}

std::string trial_id(const std::string& campaign, const std::string& case_name, const std::string& workload,
                     unsigned block) {
  return campaign + "/" + case_name + "/" + workload + "/" + std::to_string(block);
}

std::vector<PlannedRow> small_plan(const std::string& id, unsigned blocks) {
  std::vector<PlannedRow> rows;
  for (unsigned block = 0; block < blocks; ++block) {
    unsigned position = 0;
    for (const char* workload : {"h1-128k", "h2-competition"}) {
      for (const char* case_name : {"B", "A"}) {
        PlannedRow& row = rows.emplace_back();
        row.trial_id = trial_id(id, case_name, workload, block);
        row.planned.set_index(static_cast<uint32_t>(rows.size() - 1));
        row.planned.set_block(block);
        row.planned.set_position(position++);
        row.planned.set_case_name(case_name);
        row.planned.set_path("clean");
        row.planned.set_workload(workload);
        row.planned.set_seed(~0ull - block);
        row.planned.set_kernel("auto");
        row.planned.set_phase("initial");
      }
    }
  }
  return rows;
}

v1::TrialResult h1_result(const std::string& trial, int64_t complete_ns) {
  constexpr int64_t kStart = 5000000000;
  v1::TrialResult result;
  result.set_trial_id(trial);
  result.set_verdict(v1::PASSED);
  result.set_started_ns(kStart - 1000);
  result.set_finished_ns(kStart + complete_ns + 1000);
  result.mutable_environment()->set_kernel_release("6.1.0-test");
  result.mutable_environment()->set_clock("real");
  v1::Response& response = *result.mutable_client()->add_responses();
  response.set_role("body");
  response.set_protocol("h1");
  response.set_request_start_ns(kStart);
  response.set_complete_ns(kStart + complete_ns);
  return result;
}

v1::TrialResult lost_result(const std::string& trial, v1::Verdict verdict) {
  v1::TrialResult result;
  result.set_trial_id(trial);
  result.set_verdict(verdict);
  result.set_reason("the worker ended early");
  return result;
}

Provenance guest_provenance() {
  Provenance provenance;
  provenance.execution = "guest";
  provenance.kernel_release = "6.1.0-test";
  provenance.tool_version = "0.1.0";
  provenance.build.set_variant("stock");
  provenance.build.set_sha256("feed");
  provenance.build.set_nginx_path("/somewhere/nginx");
  provenance.build.mutable_records()->set_fragment_bytes(16384);
  provenance.inputs = {"nginx sha256:1", "flags -O2"};
  provenance.binary_sha256 = "beef";
  return provenance;
}

void fill(Message& message) { Filler().fill(message, 0); }

std::string sqlite3_program(const std::string& database, const std::string& sql) {
  base::ChildOptions options;
  options.argv = {"/usr/bin/env", "sqlite3", "-readonly", database, sql};
  const auto ran = base::run_command(options, std::chrono::seconds(30));
  if (!ran.ok()) return ran.status().ToString();
  return ran->exit.clean() ? ran->output : ran->exit.describe() + ": " + ran->output;
}

std::vector<std::vector<std::string>> query(const std::string& database, const std::string& sql) {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open(database.c_str(), &db), SQLITE_OK);
  std::vector<std::vector<std::string>> rows;
  char* error = nullptr;
  sqlite3_exec(
      db, sql.c_str(),
      [](void* into, int columns, char** values, char**) {
        auto& row = static_cast<std::vector<std::vector<std::string>>*>(into)->emplace_back();
        for (int i = 0; i < columns; ++i) row.push_back(values[i] != nullptr ? values[i] : "NULL");
        return 0;
      },
      &rows, &error);
  EXPECT_EQ(error, nullptr) << error;
  sqlite3_free(error);
  sqlite3_close(db);
  return rows;
}

std::string refusal(const std::string& database, const std::string& sql) {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open(database.c_str(), &db), SQLITE_OK);
  char* error = nullptr;
  sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error);
  const std::string said = error != nullptr ? error : "";
  sqlite3_free(error);
  sqlite3_close(db);
  return said;
}

void in_child(const std::function<std::string()>& body) {
  auto pipe = base::make_pipe();
  ASSERT_TRUE(pipe.ok());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string said = body();
    base::write_all(pipe->write.get(), said).IgnoreError();
    ::_exit(0);
  }
  pipe->write.reset();
  std::string said;
  char bytes[4096];
  for (ssize_t got; (got = ::read(pipe->read.get(), bytes, sizeof bytes)) > 0;) said.append(bytes, got);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the child ended with status " << status;
  if (said.starts_with("skip: ")) GTEST_SKIP() << said;
  EXPECT_EQ(said, "");
}

void StoreTest::SetUp() {
  auto opened = Store::open(path());
  ASSERT_TRUE(opened.ok()) << opened.status();
  store_ = *std::move(opened);
  ASSERT_OK(store_->add_campaign(small_campaign("c1"), small_plan("c1", 2)));
}

}  // namespace hopyard::store

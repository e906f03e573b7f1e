// SPDX-License-Identifier: Apache-2.0
// The service through a real channel on a real socket, with the real rooms behind it.
#include "rpc/server.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "hopyard/v1/service.grpc.pb.h"
#include "plan/reader.h"
#include "plan/schedule.h"
#include "run/ids.h"
#include "run/machine.h"
#include "run/runner.h"
#include "run/workshop.h"
#include "store/store.h"
#include "variant/catalogue.h"

namespace hopyard::rpc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kCampaign[] = R"(name: served
question: Does the service answer?
repetitions: 2
cases: [{name: A, variant: stock}, {name: B, variant: adaptive}]
paths: [{name: local, kind: unix}]
workloads: [{name: h1-one, protocol: h1, requests: [{name: body, body: 1KiB}]}]
)";

class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/server-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    store_ = store::Store::open(folder_ + "/test.db").value();
    workshop_ = std::make_unique<run::Workshop>(
        variant::BuilderOptions{.cache_dir = folder_ + "/cache"}, variant::Catalogue::default_files(),
        [this](const v1::GateJob& job, std::stop_token stop) { return machine_.run_gate(job, stop); });
    runner_ = run::Runner::start(*store_, *workshop_, machine_, {.tool_version = "test"}).value();
    auto server = Server::start({.path = socket()}, {*store_, *runner_, *workshop_, machine_});
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ = grpc::CreateChannel("unix:" + socket(), grpc::InsecureChannelCredentials());
    stub_ = v1::Hopyard::NewStub(channel_);
  }
  void TearDown() override {
    server_.reset();
    runner_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string socket() const { return folder_ + "/hopyard.sock"; }
  // A campaign that has ended, without having run: its trials are recorded by the tests themselves.
  std::string stored_campaign(uint32_t trials) {
    store::CampaignRow row{.id = "20260101-000000-served-0000", .text_sha256 = std::string(64, 'a')};
    row.campaign.set_name("served");
    row.campaign.set_clock("real");
    row.campaign.add_paths()->set_name("local");
    row.campaign.add_workloads()->set_name("h1-one");
    row.campaign.mutable_workloads(0)->set_protocol("h1");
    row.campaign.mutable_workloads(0)->add_requests()->set_name("body");
    std::vector<store::PlannedRow> planned;
    for (const char* name : {"A", "B"}) row.campaign.add_cases()->set_name(name);
    for (uint32_t i = 0; i < trials; ++i) {
      store::PlannedRow& one = planned.emplace_back();
      one.trial_id = row.id + "." + std::to_string(i);
      one.planned.set_index(i);
      one.planned.set_block(i / 2);
      one.planned.set_position(i % 2);
      one.planned.set_case_name(i % 2 == 0 ? "A" : "B");
      one.planned.set_path("local");
      one.planned.set_workload("h1-one");
    }
    const absl::Status added = store_->add_campaign(row, planned);
    EXPECT_TRUE(added.ok()) << added;
    EXPECT_TRUE(store_->set_state(row.id, v1::DONE, "").ok());
    return row.id;
  }

  // An ended campaign as it is planned. Its kernel does not exist: what is queued of it ends at once.
  std::string planned_campaign() {
    v1::CampaignText text;
    text.set_yaml(kCampaign);
    text.set_kernel("gone");
    const auto read = plan::read_campaign(text, {{"stock", "adaptive"}, {"gone"}});
    EXPECT_EQ(plan::describe(read.problems), "");
    store::CampaignRow row{.id = "20260101-000000-served-0001", .campaign = read.campaign};
    std::vector<store::PlannedRow> planned;
    const v1::Plan plan = plan::make_plan(read.campaign);
    for (const auto& one : plan.schedule()) planned.push_back({run::trial_id(row.id, one.index()), one});
    EXPECT_TRUE(store_->add_campaign(row, planned).ok());
    EXPECT_TRUE(store_->set_state(row.id, v1::DONE, "").ok());
    return row.id;
  }

  // A passed trial whose response completed `complete_ns` after its request.
  void record(const std::string& id, uint32_t index, int64_t complete_ns) {
    v1::TrialResult result;
    result.set_trial_id(id + "." + std::to_string(index));
    result.set_verdict(v1::PASSED);
    v1::Response& response = *result.mutable_client()->add_responses();
    response.set_stream(1);
    response.set_role("body");
    response.set_protocol("h1");
    response.set_request_start_ns(1'000);
    response.set_complete_ns(1'000 + complete_ns);
    const absl::Status stored =
        store_->record_trial(id, result, {.execution = "host", .kernel_release = "6.1"});
    EXPECT_TRUE(stored.ok()) << stored;
  }

  std::string folder_;
  std::unique_ptr<store::Store> store_;
  run::Machine machine_;
  std::unique_ptr<run::Workshop> workshop_;
  std::unique_ptr<run::Runner> runner_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Hopyard::Stub> stub_;
  grpc::ClientContext context_;
};

TEST_F(ServerTest, ValidateGivesThePlanAndStoresNothing) {
  v1::ValidateRequest request;
  request.mutable_campaign()->set_yaml(kCampaign);
  v1::Plan plan;
  const auto status = stub_->Validate(&context_, request, &plan);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(plan.trials(), 4u);
  EXPECT_EQ(plan.schedule_size(), 4);
  EXPECT_TRUE(store_->list()->empty());
}

TEST_F(ServerTest, EveryProblemOfACampaignIsInTheStatusDetails) {
  v1::SubmitRequest request;
  request.mutable_campaign()->set_file("served.yaml");
  request.mutable_campaign()->set_yaml(std::string(kCampaign) + "seed: many\nbogus: 1\n");
  v1::SubmitResponse response;
  const auto status = stub_->Submit(&context_, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  v1::Problems problems;
  ASSERT_TRUE(problems.ParseFromString(status.error_details()));
  std::vector<uint32_t> lines;
  for (const auto& problem : problems.problems()) lines.push_back(problem.line());
  EXPECT_THAT(lines, ElementsAre(7, 8));
  EXPECT_THAT(status.error_message(), HasSubstr("served.yaml:7:"));
  EXPECT_TRUE(store_->list()->empty());
}

TEST_F(ServerTest, OfVeryManyProblemsTheFirstOnesReachTheClient) {
  v1::ValidateRequest request;
  request.mutable_campaign()->set_file("served.yaml");
  std::string yaml = kCampaign;
  for (int i = 0; i < 300; ++i) yaml += "wrong" + std::to_string(i) + ": 1\n";
  request.mutable_campaign()->set_yaml(yaml);
  v1::Plan plan;
  const auto status = stub_->Validate(&context_, request, &plan);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
  v1::Problems problems;
  ASSERT_TRUE(problems.ParseFromString(status.error_details()));
  ASSERT_GT(problems.problems_size(), 5);
  EXPECT_EQ(problems.problems(0).line(), 7u);
  EXPECT_GT(problems.more(), 0u) << "the rest is counted";
}

TEST_F(ServerTest, AMessageTooLongForAStatusIsCutNotLost) {
  v1::CampaignRef nobody;
  for (int i = 0; i < 5000; ++i) nobody.mutable_campaign_id()->append("×");
  v1::CampaignStatus found;
  const auto status = stub_->Get(&context_, nobody, &found);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND) << status.error_message();
  EXPECT_THAT(status.error_message(), HasSubstr("no campaign \"××"));
  EXPECT_TRUE(status.error_message().ends_with("×"));
}

TEST_F(ServerTest, StatusCodesAreThoseOfTheRooms) {
  v1::CampaignRef nobody;
  nobody.set_campaign_id("19700101");
  v1::CampaignStatus status;
  EXPECT_EQ(stub_->Get(&context_, nobody, &status).error_code(), grpc::StatusCode::NOT_FOUND);
  v1::CampaignRef ended;
  ended.set_campaign_id(stored_campaign(2));
  grpc::ClientContext second;
  EXPECT_EQ(stub_->Cancel(&second, ended, &status).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(ServerTest, ExtendRefusesWithTheCodesOfItsRooms) {
  const std::string id = stored_campaign(2);
  v1::ExtendRequest request;
  request.set_campaign_id("19700101");
  request.mutable_extension()->set_repetitions(1);
  v1::ExtendResponse response;
  EXPECT_EQ(stub_->Extend(&context_, request, &response).error_code(), grpc::StatusCode::NOT_FOUND);
  request.set_campaign_id(id);
  request.mutable_extension()->set_file("more.yaml");
  request.mutable_extension()->set_yaml("cases: [A]\n");
  grpc::ClientContext second, third;
  const auto wrong = stub_->Extend(&second, request, &response);
  EXPECT_EQ(wrong.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(wrong.error_message(), HasSubstr("more.yaml:1:1: `cases` is no key here"));
  v1::Problems problems;
  ASSERT_TRUE(problems.ParseFromString(wrong.error_details()));
  EXPECT_EQ(problems.problems_size(), 1);
  request.mutable_extension()->clear_yaml();
  EXPECT_EQ(stub_->Extend(&third, request, &response).error_code(), grpc::StatusCode::INTERNAL)
      << "a schedule that no campaign gives";
  EXPECT_EQ(store_->planned(id)->size(), 2u);
}

TEST_F(ServerTest, ExtendGivesThePlanAndTheSummaryItsPhases) {
  const std::string id = planned_campaign();
  v1::ExtendRequest request;
  request.set_campaign_id(id);
  request.mutable_extension()->set_name("more");
  request.mutable_extension()->set_repetitions(3);
  request.mutable_extension()->add_cases("B");
  v1::ExtendResponse response;
  const auto status = stub_->Extend(&context_, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.campaign_id(), id);
  EXPECT_EQ(response.left(), 4u);
  EXPECT_EQ(response.plan().trials(), 7u);
  EXPECT_EQ(response.plan().schedule_size(), 0);
  ASSERT_EQ(response.plan().phases_size(), 2);
  EXPECT_EQ(response.plan().phases(1).trials(), 3u);
  v1::CampaignRef ref;
  ref.set_campaign_id(id);
  v1::SummaryResponse summary;
  grpc::ClientContext second;
  ASSERT_TRUE(stub_->Summary(&second, ref, &summary).ok());
  ASSERT_EQ(summary.status().phases_size(), 2);
  EXPECT_EQ(summary.status().phases(1).name(), "more");
}

TEST_F(ServerTest, WatchingAnEndedCampaignGivesItsStateAndEnds) {
  v1::CampaignRef ref;
  ref.set_campaign_id(stored_campaign(2));
  const auto reader = stub_->Watch(&context_, ref);
  v1::CampaignEvent event;
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_EQ(event.status().state(), v1::DONE);
  EXPECT_FALSE(reader->Read(&event));
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(ServerTest, CompareSubtractsTheFirstCaseFromTheSecondWithinBlocks) {
  const std::string id = stored_campaign(12);
  for (uint32_t i = 0; i < 12; ++i) record(id, i, 1'000'000 + i * 1'000 + (i % 2) * 500'000);
  v1::CompareRequest request;
  request.set_campaign_id(id);
  request.set_case_a("A");
  request.set_case_b("B");
  v1::CompareResponse response;
  const auto status = stub_->Compare(&context_, request, &response);
  ASSERT_TRUE(status.ok()) << status.error_message();
  const v1::PairFigure* complete = nullptr;
  for (const auto& pair : response.pairs()) {
    if (pair.metric() == "complete_ns") complete = &pair;
  }
  ASSERT_NE(complete, nullptr);
  EXPECT_EQ(complete->n(), 6u);
  EXPECT_DOUBLE_EQ(complete->median_diff_ns(), 501'000);
  EXPECT_EQ(complete->positive(), 6u);
  EXPECT_EQ(complete->kernel(), "6.1");
}

TEST_F(ServerTest, ACaseIsNotComparedWithItself) {
  v1::CompareRequest request;
  request.set_campaign_id(stored_campaign(2));
  request.set_case_a("A");
  request.set_case_b("A");
  v1::CompareResponse response;
  const auto status = stub_->Compare(&context_, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("two different cases"));
}

TEST_F(ServerTest, ACopyOfTheDatabaseIsForACampaignThatIsInIt) {
  v1::ExportRequest request;
  request.set_campaign_id("nobody");
  request.set_format(v1::SQLITE);
  const auto reader = stub_->Export(&context_, request);
  v1::ExportChunk chunk;
  EXPECT_FALSE(reader->Read(&chunk));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ServerTest, ReportsStreamAPageWithThePairsOfAllCases) {
  const std::string id = stored_campaign(4);
  for (uint32_t i = 0; i < 4; ++i) record(id, i, 1'000'000 + i * 1'000);
  v1::CampaignRef request;
  request.set_campaign_id("last");
  const auto reader = stub_->Report(&context_, request);
  std::string page;
  for (v1::ExportChunk chunk; reader->Read(&chunk);) page += chunk.data();
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_THAT(page, testing::StartsWith("<!doctype html>"));
  EXPECT_THAT(page, testing::EndsWith("</html>\n"));
  EXPECT_THAT(page, HasSubstr("B − A"));
}

TEST_F(ServerTest, ExportsStreamRowsAndAWholeDatabase) {
  const std::string id = stored_campaign(2);
  record(id, 0, 1'000'000);
  v1::ExportRequest request;
  request.set_campaign_id(id);
  request.set_view("v_trial");
  request.set_format(v1::CSV);
  const auto text = [this](const v1::ExportRequest& wanted) {
    grpc::ClientContext context;
    const auto reader = stub_->Export(&context, wanted);
    std::string all;
    for (v1::ExportChunk chunk; reader->Read(&chunk);) all += chunk.data();
    EXPECT_TRUE(reader->Finish().ok());
    return all;
  };
  EXPECT_THAT(text(request), HasSubstr(id + ".0\","));
  request.set_format(v1::SQLITE);
  EXPECT_THAT(text(request), testing::StartsWith("SQLite format 3"));
  size_t left = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    left += entry.path().native().find(".export-") != std::string::npos;
  EXPECT_EQ(left, 0u) << "the copy is gone once it is sent";
}

// One unary call as any tool makes it, without generated code.
grpc::Status call(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                  const std::string& request, std::string& answer) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  grpc::Slice slice(request);
  grpc::ByteBuffer sent(&slice, 1), received;
  const auto reader = stub.PrepareUnaryCall(&context, method, sent, &queue);
  reader->StartCall();
  grpc::Status status;
  reader->Finish(&received, &status, &queue);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  std::vector<grpc::Slice> slices;
  if (status.ok() && received.Dump(&slices).ok()) {
    for (const auto& one : slices) answer.append(reinterpret_cast<const char*>(one.begin()), one.size());
  }
  return status;
}

TEST_F(ServerTest, HealthSaysServing) {
  std::string answer;
  const auto status = call(channel_, "/grpc.health.v1.Health/Check", "", answer);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(answer, std::string("\x08\x01")) << "HealthCheckResponse{status: SERVING}";
}

TEST_F(ServerTest, ReflectionNamesTheService) {
  std::string answer;
  const std::string list_services("\x3a\x00", 2);  // ServerReflectionRequest{list_services: ""}
  const auto status =
      call(channel_, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", list_services, answer);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_THAT(answer, HasSubstr("hopyard.v1.Hopyard"));
}

TEST_F(ServerTest, ConnectionsAreCountedWhileTheyLast) {
  EXPECT_EQ(server_->connections(), 0u);
  v1::ListResponse response;
  ASSERT_TRUE(stub_->List(&context_, {}, &response).ok());
  EXPECT_EQ(server_->connections(), 1u);
}

}  // namespace
}  // namespace hopyard::rpc

// SPDX-License-Identifier: Apache-2.0
// Any bytes as requests to any method of the service, a few of them one after another: never a crash, a hang
// or an exception; every answer is what its type says, every refusal has its reason; the database stays
// sound. Corpus to start from: tests/data/campaigns and scenarios.
#include <grpcpp/generic/generic_stub.h>

#include <optional>

#include "base/text.h"
#include "fuzz/rpc_calls.h"
#include "fuzz/rpc_world.h"
#include "grpcpp/grpcpp.h"

namespace hopyard::fuzz {
namespace {

constexpr size_t kMostStatusBytes = 8 << 10;  // what clients take

bool parses(const google::protobuf::Descriptor& type, const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  require(buffer.Dump(&slices).ok());
  std::string bytes;
  for (const auto& one : slices) bytes.append(reinterpret_cast<const char*>(one.begin()), one.size());
  return empty_message(type)->ParseFromString(bytes);
}

// As any client makes it, a stream's messages one by one.
class RawCall {
 public:
  RawCall(const std::shared_ptr<grpc::Channel>& channel, const Call& call) : call_(call), stub_(channel) {
    stream_ = stub_.PrepareCall(&context_, "/" + service().full_name() + "/" + call.method->name(), &queue_);
  }

  grpc::Status make() {
    stream_->StartCall(nullptr);
    bool going = done();
    const grpc::Slice request(call_.request);
    if (going) {
      stream_->WriteLast(grpc::ByteBuffer(&request, 1), {}, nullptr);
      going = done();
    }
    while (going) {
      grpc::ByteBuffer answer;
      stream_->Read(&answer, nullptr);
      going = done();
      if (going) require(parses(*call_.method->output_type(), answer));
    }
    grpc::Status status;
    stream_->Finish(&status, nullptr);
    require(done());
    return status;
  }

 private:
  bool done() {
    void* tag = nullptr;
    bool ok = false;
    require(queue_.Next(&tag, &ok));
    return ok;
  }

  const Call& call_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
};

void check_refusal(const Call& call, const grpc::Status& status) {
  // What is no request gets no further than gRPC, which gives no reason.
  if (!empty_message(*call.method->input_type())->ParseFromString(call.request))
    return require(status.error_code() == grpc::INTERNAL);
  const std::string text = status.error_message();
  require(!text.empty() && base::valid_utf8_prefix(text) == text.size());
  require(text.size() + status.error_details().size() <= kMostStatusBytes);
  require(status.error_code() <= grpc::UNAUTHENTICATED);
  require(status.error_code() != grpc::UNKNOWN);  // gRPC's word for an exception that got out of a method
  v1::Problems problems;
  require(problems.ParseFromString(status.error_details()));
  if (problems.problems_size() > 0) require(status.error_code() == grpc::INVALID_ARGUMENT);
}

bool changes_the_store(const Call& call) {
  const std::string& name = call.method->name();
  return name == "Submit" || name == "Cancel" || name == "Resume" || name == "Extend";
}

// The same for every input: what one changes is gone before the next.
class Fixture {
 public:
  Fixture() {
    google::protobuf::SetLogHandler(nullptr);  // tells of every text that is not UTF-8
    write_kept_database(kept_);
  }

  void run(const std::vector<Call>& calls) {
    if (!world_) world_.emplace(folder_, kept_);
    bool changed = false;
    for (const auto& call : calls) {
      const grpc::Status status = RawCall(world_->channel(), call).make();
      if (!status.ok()) check_refusal(call, status);
      changed |= status.ok() && changes_the_store(call);
    }
    if (!changed) return;
    const auto found = world_->store().check();
    require(found.ok() && found->problems().empty());
    world_.reset();
  }

 private:
  const Folder folder_;
  const std::string kept_ = folder_ / "kept.db";
  std::optional<World> world_;
};

}  // namespace
}  // namespace hopyard::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static hopyard::fuzz::Fixture fixture;
  fixture.run(hopyard::fuzz::read_calls({reinterpret_cast<const char*>(data), size}));
  return 0;
}

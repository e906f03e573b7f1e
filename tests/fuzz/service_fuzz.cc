// SPDX-License-Identifier: Apache-2.0
// Any bytes as a request to any method, through gRPC, with the real rooms behind it: never a crash, never
// UNKNOWN (an exception that got out) or INTERNAL (a fault of ours), every message presentable. The first
// byte chooses the method.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "base/text.h"
#include "fmt/format.h"
#include "rpc/service.h"
#include "run/machine.h"
#include "run/runner.h"
#include "run/workshop.h"
#include "store/store.h"

namespace hopyard::rpc {
namespace {

using namespace std::chrono_literals;

// Not Doctor, ListKernels and Replay: they start programs and read nothing of the request but a name, which
// Get and Trial look up in the same way.
constexpr const char* kMethods[] = {
    "Validate", "Submit", "Get",    "List",   "Watch",   "Cancel",        "Resume",       "Summary",
    "Compare",  "Trial",  "Trials", "Export", "Metrics", "BuildVariants", "ListVariants", "CheckDatabase"};
constexpr int kMostMessages = 50;

void require(bool holds, const grpc::Status& status) {
  if (holds) return;
  fmt::print(stderr, "status {}: {}\n", static_cast<int>(status.error_code()), status.error_message());
  std::abort();
}

// Variants that cannot be built: what a campaign asks for is answered without compiling anything.
class World {
 public:
  World() {
    std::string pattern = std::filesystem::temp_directory_path() / "service-fuzz-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    folder_ = pattern;
    std::ofstream(folder_ + "/recipe.txt") << "project(none)";
    std::ofstream(folder_ + "/variants.yaml") << fmt::format(
        "pins:\n  nowhere: {{file: nowhere.tar.gz, sha256: '{}', path: {}/nowhere.tar.gz, recipe: "
        "recipe.txt}}\n"
        "defaults: {{nginx: nowhere, boringssl: nowhere, configure: [--with-debug]}}\n"
        "variants:\n  stock: {{note: n, records: {{fragment_bytes: 16384}}}}\n",
        std::string(64, '1'), folder_);
    const std::vector<std::string> catalogue = {folder_ + "/variants.yaml"};
    const variant::BuilderOptions options{.cache_dir = folder_ + "/cache"};
    store_ = store::Store::open(folder_ + "/fuzz.db").value();
    machine_ = std::make_unique<run::Machine>(options, catalogue);
    workshop_ = std::make_unique<run::Workshop>(
        options, catalogue, [](const v1::GateJob&, std::stop_token) -> absl::StatusOr<v1::GateResult> {
          return absl::UnavailableError("nothing is ever built");
        });
    runner_ = run::Runner::start(*store_, *workshop_, *machine_, {.tool_version = "fuzz"}).value();
    service_ = std::make_unique<Service>(Rooms{*store_, *runner_, *workshop_, *machine_});
    grpc::ServerBuilder builder;
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    stub_ = std::make_unique<grpc::GenericStub>(server_->InProcessChannel({}));
  }
  ~World() {
    server_->Shutdown(std::chrono::system_clock::now() + 1s);
    runner_.reset();
    std::filesystem::remove_all(folder_);
  }

  // One call; what it streams is read, as far as a patient client would.
  grpc::Status call(const std::string& method, std::string_view request) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + 5s);
    grpc::CompletionQueue queue;
    const auto next = [&queue] {
      void* tag = nullptr;
      bool ok = false;
      return queue.Next(&tag, &ok) && ok;
    };
    const auto stream = stub_->PrepareCall(&context, "/hopyard.v1.Hopyard/" + method, &queue);
    stream->StartCall(nullptr);
    bool open = next();
    const grpc::Slice slice(request.data(), request.size());
    if (open) stream->WriteLast(grpc::ByteBuffer(&slice, 1), {}, nullptr), open = next();
    int messages = 0;
    for (grpc::ByteBuffer answer; open && messages < kMostMessages; ++messages)
      stream->Read(&answer, nullptr), open = next();
    if (open) context.TryCancel();
    grpc::Status status;
    stream->Finish(&status, nullptr);
    next();
    return status;
  }

 private:
  std::string folder_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<run::Machine> machine_;
  std::unique_ptr<run::Workshop> workshop_;
  std::unique_ptr<run::Runner> runner_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::GenericStub> stub_;
};

void run(std::string_view input) {
  static World rooms;
  if (input.empty()) return;
  const char* const method = kMethods[static_cast<unsigned char>(input[0]) % std::size(kMethods)];
  const grpc::Status status = rooms.call(method, input.substr(1));
  require(status.error_code() != grpc::StatusCode::UNKNOWN, status);
  // gRPC itself says INTERNAL of bytes that are no message.
  require(status.error_code() != grpc::StatusCode::INTERNAL ||
              status.error_message().find("parse") != std::string::npos ||
              status.error_message().find("deserial") != std::string::npos,
          status);
  require(base::valid_utf8_prefix(status.error_message()) == status.error_message().size(), status);
}

}  // namespace
}  // namespace hopyard::rpc

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hopyard::rpc::run({reinterpret_cast<const char*>(data), size});
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Who is let in over TCP: a client whose certificate the authority signed, and nobody else. Real
// certificates, real connections.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/child.h"
#include "base/fd.h"
#include "fmt/format.h"
#include "hopyard/v1/service.grpc.pb.h"
#include "rpc/server.h"
#include "run/machine.h"
#include "run/runner.h"
#include "run/workshop.h"
#include "store/store.h"

namespace hopyard::rpc {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class TlsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/tls-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    make_authority("ours");
    make_authority("theirs");
    sign("ours", "server");
    sign("ours", "client");
    sign("theirs", "stranger");
    store_ = store::Store::open(path("test.db")).value();
    workshop_ = std::make_unique<run::Workshop>(
        variant::BuilderOptions{.cache_dir = path("cache")}, variant::Catalogue::default_files(),
        [this](const v1::GateJob& job, std::stop_token stop) { return machine_.run_gate(job, stop); });
    runner_ = run::Runner::start(*store_, *workshop_, machine_, {.tool_version = "test"}).value();
  }
  void TearDown() override {
    server_.reset();
    runner_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  void openssl(std::vector<std::string> words) {
    words.insert(words.begin(), "/usr/bin/openssl");
    const auto done = base::run_command({.argv = words}, 60s);
    ASSERT_TRUE(done.ok()) << done.status();
    ASSERT_TRUE(done->exit.clean()) << done->output;
  }
  std::vector<std::string> request(const std::string& name) const {
    return {"req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=" + name,
            "-keyout",
            path(name + ".key"),
            "-out",
            path(name + ".pem")};
  }
  void make_authority(const std::string& name) { openssl(request(name)); }
  void sign(const std::string& authority, const std::string& name) {
    auto words = request(name);
    for (const std::string& word :
         {std::string("-CA"), path(authority + ".pem"), std::string("-CAkey"), path(authority + ".key"),
          std::string("-addext"), std::string("subjectAltName=IP:127.0.0.1"), std::string("-addext"),
          std::string("basicConstraints=CA:FALSE")})
      words.push_back(word);
    openssl(words);
  }

  TlsOptions tls() const {
    return {.address = "127.0.0.1:0",
            .certificate_file = path("server.pem"),
            .key_file = path("server.key"),
            .client_ca_file = path("ours.pem")};
  }
  absl::Status start(const TlsOptions& options) {
    auto server =
        Server::start({.path = path("hopyard.sock")}, {*store_, *runner_, *workshop_, machine_}, options);
    if (server.ok()) server_ = *std::move(server);
    return server.status();
  }

  // What List answers to a client with these credentials.
  grpc::Status list(const std::string& target, std::shared_ptr<grpc::ChannelCredentials> credentials) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    const auto stub = v1::Hopyard::NewStub(grpc::CreateCustomChannel(target, credentials, arguments));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + 20s);
    v1::ListResponse response;
    return stub->List(&context, {}, &response);
  }
  grpc::Status list_over_tcp(std::shared_ptr<grpc::ChannelCredentials> credentials) {
    return list(fmt::format("127.0.0.1:{}", server_->tls_port()), credentials);
  }
  // With the certificate of `name`, or without one.
  std::shared_ptr<grpc::ChannelCredentials> credentials(const std::string& name) const {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = base::read_file(path("ours.pem")).value();
    if (!name.empty()) {
      options.pem_cert_chain = base::read_file(path(name + ".pem")).value();
      options.pem_private_key = base::read_file(path(name + ".key")).value();
    }
    return grpc::SslCredentials(options);
  }

  std::string folder_;
  std::unique_ptr<store::Store> store_;
  run::Machine machine_;
  std::unique_ptr<run::Workshop> workshop_;
  std::unique_ptr<run::Runner> runner_;
  std::unique_ptr<Server> server_;
};

TEST_F(TlsTest, AClientWithACertificateOfOursIsServedAndTheSocketStillIs) {
  ASSERT_TRUE(start(tls()).ok());
  const auto over_tcp = list_over_tcp(credentials("client"));
  EXPECT_TRUE(over_tcp.ok()) << over_tcp.error_message();
  EXPECT_TRUE(list("unix:" + path("hopyard.sock"), grpc::InsecureChannelCredentials()).ok());
}

TEST_F(TlsTest, NobodyElseIs) {
  ASSERT_TRUE(start(tls()).ok());
  for (const auto& [who, them] : std::map<std::string, std::shared_ptr<grpc::ChannelCredentials>>{
           {"plain", grpc::InsecureChannelCredentials()},
           {"without a certificate", credentials("")},
           {"with another authority's", credentials("stranger")}}) {
    EXPECT_EQ(list_over_tcp(them).error_code(), grpc::StatusCode::UNAVAILABLE) << who;
  }
  EXPECT_TRUE(list_over_tcp(credentials("client")).ok()) << "the others did no harm";
}

TEST_F(TlsTest, WithoutItThereIsNoTcp) {
  auto server = Server::start({.path = path("hopyard.sock")}, {*store_, *runner_, *workshop_, machine_});
  ASSERT_TRUE(server.ok());
  EXPECT_EQ((*server)->tls_port(), 0);
}

TEST_F(TlsTest, AFileThatIsMissingOrOfAnotherKindIsNamed) {
  TlsOptions options = tls();
  options.key_file = path("nobody.key");
  EXPECT_THAT(std::string(start(options).message()), HasSubstr("nobody.key"));
  options.key_file = path("server.pem");
  EXPECT_TRUE(absl::IsInvalidArgument(start(options)));
  options = tls();
  options.certificate_file = path("server.key");
  EXPECT_TRUE(absl::IsInvalidArgument(start(options)));
  options = tls();
  options.address = "192.0.2.7:0";  // not ours
  EXPECT_TRUE(absl::IsUnavailable(start(options)));
}

}  // namespace
}  // namespace hopyard::rpc

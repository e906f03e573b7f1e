// SPDX-License-Identifier: Apache-2.0
// See rpc_world.h.
#include "fuzz/rpc_world.h"

#include <sqlite3.h>
#include <stdlib.h>

#include <filesystem>

#include "base/fd.h"
#include "places.h"
#include "rpc/verification.h"
#include "run/figures.h"

namespace hopyard::fuzz {
namespace {

constexpr char kCatalogue[] = HOPYARD_SOURCE_DIR "/tests/fuzz/rpc_catalogue.yaml";

std::string fresh_copy(const Folder& folder, const std::string& kept) {
  const std::string path = folder / "world.db";
  for (const char* beside : {"-wal", "-shm"}) std::filesystem::remove(path + beside);
  std::filesystem::copy_file(kept, path, std::filesystem::copy_options::overwrite_existing);
  return path;
}

run::RunnerOptions runner_options(store::Store& store) {
  return {.tool_version = "fuzz",
          .record_figures = [&store](const std::string& id,
                                     std::stop_token stop) { return run::record_figures(store, id, stop); },
          .verify =
              [&store](const std::string& id, const std::function<bool()>& stopped) {
                return rpc::verify_at_end(store, id, stopped);
              }};
}

absl::StatusOr<v1::GateResult> no_gate(const v1::GateJob&, std::stop_token) {
  return absl::InternalError("no build ever gets as far as its gate");
}

}  // namespace

void require(bool holds) {
  if (!holds) std::abort();
}

Folder::Folder() {
  require(::mkdtemp(path_.data()) != nullptr);
  require(::setenv("PATH", "", 1) == 0);  // what a server would be built with is not there
}

Folder::~Folder() { std::filesystem::remove_all(path_); }

World::World(const Folder& folder, const std::string& kept)
    : store_(store::Store::open(fresh_copy(folder, kept)).value()),
      machine_({.cache_dir = folder / "cache"}, {kCatalogue}),
      workshop_({.cache_dir = folder / "cache"}, {kCatalogue}, no_gate),
      runner_(run::Runner::start(*store_, workshop_, machine_, runner_options(*store_)).value()),
      service_(std::make_unique<rpc::Service>(rpc::Rooms{*store_, *runner_, workshop_, machine_})) {
  server_ = grpc::ServerBuilder().RegisterService(service_.get()).BuildAndStart();
  channel_ = server_->InProcessChannel({});
}

World::~World() {
  channel_.reset();
  service_->close();
  server_->Shutdown();
  server_->Wait();
}

void write_kept_database(const std::string& path) {
  const std::string sql = base::read_file(HOPYARD_SOURCE_DIR "/tests/data/verify/version-1.sql").value();
  sqlite3* db = nullptr;
  require(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  require(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
  (void)store::Store::open(path).value();  // migrated once
}

}  // namespace hopyard::fuzz

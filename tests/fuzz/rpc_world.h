// SPDX-License-Identifier: Apache-2.0
// A daemon without a machine: the real store, runner, workshop and service around a kept database, in which
// no program can be started, nothing fetched and so no trial run.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "rpc/service.h"
#include "run/machine.h"
#include "run/runner.h"
#include "run/workshop.h"
#include "store/store.h"

namespace hopyard::fuzz {

// What does not hold is a finding.
void require(bool holds);

// In memory; gone with the object. One for the whole process.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_ = "/dev/shm/rpc_fuzz-XXXXXX";
};

class World {
 public:
  // With a fresh copy of the database `kept`.
  World(const Folder& folder, const std::string& kept);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  const store::Store& store() const { return *store_; }

 private:
  std::unique_ptr<store::Store> store_;
  run::Machine machine_;
  run::Workshop workshop_;
  std::unique_ptr<run::Runner> runner_;
  std::unique_ptr<rpc::Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

// Twelve trials with all their evidence, as `path`.
void write_kept_database(const std::string& path);

}  // namespace hopyard::fuzz

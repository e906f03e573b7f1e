// SPDX-License-Identifier: Apache-2.0
// The rogue server under the name of one misbehaviour.
#pragma once

#include <filesystem>
#include <string>

#include "gtest/gtest.h"
#include "places.h"

namespace hopyard::server {

// A fresh folder with the program as `misbehaviour`; removed when it goes.
class Rogue {
 public:
  explicit Rogue(const std::string& misbehaviour) {
    std::string pattern = testing::TempDir() + "/rogue-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    program_ = folder_ / misbehaviour;
    std::filesystem::create_symlink(HOPYARD_BUILD_DIR "/bin/rogue_server", program_);
  }
  ~Rogue() { std::filesystem::remove_all(folder_); }
  Rogue(const Rogue&) = delete;
  Rogue& operator=(const Rogue&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  const std::string& program() const { return program_.native(); }

 private:
  std::filesystem::path folder_;
  std::filesystem::path program_;
};

}  // namespace hopyard::server

// SPDX-License-Identifier: Apache-2.0
// A folder for one test, gone afterwards.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace hopyard::run {

class TempDir {
 public:
  TempDir() : path_(testing::TempDir() + "/run-XXXXXX") { EXPECT_NE(::mkdtemp(path_.data()), nullptr); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace hopyard::run

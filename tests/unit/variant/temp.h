// SPDX-License-Identifier: Apache-2.0
// A private folder for one test, and small files in it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/fd.h"
#include "gtest/gtest.h"

namespace hopyard::variant {

class TempFolder {
 public:
  TempFolder() : path_(testing::TempDir() + "variant.XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "mkdtemp " << path_;
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  // Writes a file (its folders too); gives its path.
  std::string file(const std::string& name, const std::string& content) const {
    const std::string path = path_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    EXPECT_TRUE(base::write_file(path, content).ok()) << path;
    return path;
  }

 private:
  std::string path_;
};

inline std::string text(const absl::Status& status) { return std::string(status.message()); }

}  // namespace hopyard::variant

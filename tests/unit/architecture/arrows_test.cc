// SPDX-License-Identifier: Apache-2.0
// The rooms' arrows: who may include whom, as docs/architecture.md draws them; and how every source file
// opens.
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/fd.h"
#include "gtest/gtest.h"
#include "places.h"

namespace hopyard {
namespace {

namespace fs = std::filesystem;

using Rooms = std::set<std::string>;

// "proto" stands for the messages, "grpc" for gRPC itself and the generated stubs.
const std::map<std::string, Rooms> kArrows = {
    {"base", {}},
    {"netlink", {"base"}},
    {"lab", {"netlink", "base"}},
    {"server", {"lab", "base", "proto"}},
    {"probe", {"base", "proto"}},
    {"trial", {"lab", "server", "probe", "base", "proto"}},
    {"worker", {"trial", "lab", "base", "proto"}},
    {"plan", {"base", "proto"}},
    {"stats", {}},
    {"store", {"base", "proto"}},
    {"verify", {"store", "base"}},
    {"report", {"store", "base", "proto"}},
    {"variant", {"base"}},
    {"execute", {"base", "proto"}},
    {"run", {"plan", "variant", "execute", "store", "stats", "base", "proto"}},
    {"rpc", {"run", "report", "store", "stats", "verify", "base", "proto", "grpc"}},
    {"main.cc", {"rpc", "run", "store", "variant", "execute", "base", "proto", "grpc"}},
    {"cli", {"base", "proto", "grpc"}},
};

std::vector<fs::path> sources(const fs::path& below) {
  std::vector<fs::path> found;
  if (fs::is_regular_file(below)) return {below};
  for (const auto& entry : fs::recursive_directory_iterator(below)) {
    const std::string extension = entry.path().extension();
    if (extension == ".h" || extension == ".cc") found.push_back(entry.path());
  }
  return found;
}

std::string text_of(const fs::path& path) {
  auto text = base::read_file(path);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.value_or("");
}

// The room an include names, or nothing for a library's.
std::string target(const std::string& include) {
  if (include.find("grpc") != std::string::npos) return "grpc";
  if (include.starts_with("hopyard/v1/")) return "proto";
  if (include.find('/') == std::string::npos) return "";  // <variant> is not a room
  const std::string room = include.substr(0, include.find('/'));
  return kArrows.count(room) > 0 ? room : "";
}

void expect_only_arrows(const std::string& room, const fs::path& below) {
  const std::regex include(R"re(#include [<"]([^">]+)[">])re");
  for (const fs::path& path : sources(below)) {
    const std::string text = text_of(path);
    for (auto at = std::sregex_iterator(text.begin(), text.end(), include); at != std::sregex_iterator();
         ++at) {
      const std::string to = target((*at)[1]);
      EXPECT_TRUE(to.empty() || to == room || kArrows.at(room).count(to) > 0)
          << path << " includes " << (*at)[1] << ": there is no arrow from " << room << " to " << to;
    }
  }
}

TEST(Rooms, IncludeOnlyAlongTheirArrows) {
  const fs::path root = HOPYARD_SOURCE_DIR;
  for (const auto& [room, arrows] : kArrows) {
    const fs::path below = room == "cli" ? root / "clients/cli" : root / "daemon" / room;
    ASSERT_TRUE(fs::exists(below)) << below;
    expect_only_arrows(room, below);
  }
}

// Who verifies must not lean on what made the figures: of the store only the owner of SQLite's connection.
TEST(Rooms, VerifyKnowsNothingOfTheStoreButItsConnection) {
  const std::regex include(R"re(#include "(store/[^"]+)")re");
  size_t seen = 0;
  for (const fs::path& path : sources(fs::path(HOPYARD_SOURCE_DIR) / "daemon/verify")) {
    const std::string text = text_of(path);
    for (auto at = std::sregex_iterator(text.begin(), text.end(), include); at != std::sregex_iterator();
         ++at) {
      ++seen;
      EXPECT_EQ((*at)[1], "store/sqlite.h") << path;
    }
  }
  EXPECT_GT(seen, 0u);
}

TEST(Rooms, AreAllNamedHere) {
  for (const auto& entry : fs::directory_iterator(fs::path(HOPYARD_SOURCE_DIR) / "daemon")) {
    if (!entry.is_directory()) continue;
    EXPECT_EQ(kArrows.count(entry.path().filename()), 1u) << entry.path();
  }
}

TEST(SourceFiles, OpenWithTheirLicenceAndWhatTheyOwn) {
  const std::regex opening(R"(// SPDX-License-Identifier: Apache-2\.0\n// [^\n]{10,})");
  for (const char* below : {"daemon", "clients", "tests"}) {
    for (const fs::path& path : sources(fs::path(HOPYARD_SOURCE_DIR) / below)) {
      EXPECT_TRUE(std::regex_search(text_of(path), opening, std::regex_constants::match_continuous)) << path;
    }
  }
}

}  // namespace
}  // namespace hopyard

// SPDX-License-Identifier: Apache-2.0
// What is in a build's hash and what is not, whose turn it is in a work place, and how long a verdict holds.
#include "variant/builder.h"

#include <atomic>
#include <barrier>
#include <thread>

#include "base/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "unit/variant/temp.h"
#include "variant/work_place.h"

namespace hopyard::variant {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct ContentHash : testing::Test {
  std::string hash(const Variant& v) {
    const auto key = builder.content_hash(v);
    EXPECT_TRUE(key.ok()) << key.status();
    return key.value_or("");
  }
  TempFolder folder;
  Builder builder{{.cache_dir = folder.path() + "/cache"}};
  Variant variant{.name = "a",
                  .nginx = {.name = "n", .file = "n.tar", .sha256 = std::string(64, '1')},
                  .boringssl = {.name = "b",
                                .file = "b.tar",
                                .sha256 = std::string(64, '2'),
                                .recipe = folder.file("CMakeLists.txt", "recipe")},
                  .patches = {folder.file("1.patch", "patch")}};
};

TEST_F(ContentHash, ChangesWithEveryInput) {
  const std::string before = hash(variant);
  EXPECT_EQ(before.size(), 64u);
  const auto changed = [&](const std::function<void(Variant&)>& change) {
    Variant other = variant;
    change(other);
    return hash(other) != before;
  };
  EXPECT_TRUE(changed([](Variant& v) { v.nginx.sha256[0] = '3'; }));
  EXPECT_TRUE(changed([](Variant& v) { v.boringssl.sha256[0] = '3'; }));
  EXPECT_TRUE(changed([&](Variant& v) { v.boringssl.recipe = folder.file("other/CMakeLists.txt", "x"); }));
  EXPECT_TRUE(changed([&](Variant& v) { v.patches = {folder.file("2.patch", "patch2")}; }));
  EXPECT_TRUE(changed([](Variant& v) { v.patches.clear(); }));
  EXPECT_TRUE(changed([](Variant& v) { v.configure = {"--with-threads"}; }));
  EXPECT_TRUE(changed([](Variant& v) { v.cflags = {"-O3"}; }));
  EXPECT_TRUE(changed([](Variant& v) { v.records.fragment_bytes = 4096; }));
}

TEST_F(ContentHash, ChangesWithTheCompiler) {
  // A compiler of another version, as far as anybody can tell from asking it.
  const std::string compiler =
      folder.file("cc", "#!/bin/sh\n[ $1 = --version ] && echo cc 99 || exec cc \"$@\"\n");
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  const Builder other({.cache_dir = folder.path() + "/cache", .cc = compiler});
  EXPECT_NE(*other.content_hash(variant), hash(variant));
}

TEST_F(ContentHash, IsTheSameUnderOtherNames) {
  const std::string before = hash(variant);
  variant.name = "b";
  variant.note = "a note";
  variant.nginx.file = "other.tar";
  variant.nginx.urls = {"https://example.net/"};
  variant.patches = {folder.file("elsewhere/renamed.patch", "patch")};
  EXPECT_EQ(hash(variant), before);
}

TEST_F(ContentHash, NamesAMissingPatch) {
  variant.patches = {folder.path() + "/gone.patch"};
  const auto key = builder.content_hash(variant);
  EXPECT_TRUE(absl::IsNotFound(key.status())) << key.status();
  EXPECT_THAT(text(key.status()), AllOf(HasSubstr("variant"), HasSubstr("gone.patch")));
}

TEST_F(ContentHash, OfSomethingNeverBuiltFindsNothing) { EXPECT_FALSE(builder.cached(variant)); }

TEST_F(ContentHash, DoesNotHideAMissingSource) {
  variant.nginx.path = folder.path() + "/n.tar";
  variant.boringssl.path = folder.path() + "/b.tar";
  const auto build = builder.build(variant, {});
  EXPECT_TRUE(absl::IsNotFound(build.status())) << build.status();
  EXPECT_THAT(text(build.status()), AllOf(HasSubstr("build variant: a"), HasSubstr("b.tar")));
}

TEST(Gate, HoldsForTheBinaryItWasPassedWith) {
  TempFolder folder;
  Builder builder({.cache_dir = folder.path()});
  Build build{.nginx_path = folder.file("builds/k/nginx", "binary"),
              .binary_sha256 = base::sha256_hex("binary")};
  EXPECT_FALSE(builder.gate(build));
  const std::string bytes("\0\n\xff", 3);
  ASSERT_TRUE(builder.record_gate(build, bytes, true).ok());
  ASSERT_TRUE(builder.gate(build));
  EXPECT_TRUE(builder.gate(build)->passed);
  EXPECT_EQ(builder.gate(build)->bytes, bytes);
  ASSERT_TRUE(builder.record_gate(build, "", false).ok());
  EXPECT_FALSE(builder.gate(build)->passed);
  build.binary_sha256 = base::sha256_hex("another");
  EXPECT_FALSE(builder.gate(build));
}

TEST(WorkPlace, LetsOneInAtATime) {
  TempFolder folder;
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::barrier start(4);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      const auto place = WorkPlace::enter(folder.path(), "key", {});
      ASSERT_TRUE(place.ok()) << place.status();
      most = std::max(most.load(), ++inside);
      EXPECT_TRUE(std::filesystem::is_empty(place->folder()));
      EXPECT_TRUE(base::write_file(place->folder() + "/mine", "x").ok());
      --inside;
    });
  }
  threads.clear();
  EXPECT_EQ(most, 1);
}

TEST(WorkPlace, RemovesWhatAnInterruptedOneLeft) {
  TempFolder folder;
  folder.file("making/key/half/done", "x");
  const auto place = WorkPlace::enter(folder.path(), "key", {});
  ASSERT_TRUE(place.ok());
  EXPECT_TRUE(std::filesystem::is_empty(place->folder()));
}

TEST(WorkPlace, PublishesWholeAndReplaces) {
  TempFolder folder;
  const std::string target = folder.path() + "/builds/key";
  folder.file("builds/key/old", "x");
  {
    const auto place = WorkPlace::enter(folder.path(), "key", {});
    ASSERT_TRUE(place.ok());
    folder.file("making/key/result/new", "y");
    ASSERT_TRUE(place->publish("result", target).ok());
  }
  EXPECT_TRUE(std::filesystem::exists(target + "/new"));
  EXPECT_FALSE(std::filesystem::exists(target + "/old"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/making/key"));
}

TEST(WorkPlace, StopsWaitingOnRequest) {
  TempFolder folder;
  const auto holder = WorkPlace::enter(folder.path(), "key", {});
  ASSERT_TRUE(holder.ok());
  std::stop_source stop;
  const auto place =
      WorkPlace::enter(folder.path(), "key", stop.get_token(), [&stop] { stop.request_stop(); });
  EXPECT_TRUE(absl::IsCancelled(place.status())) << place.status();
}

}  // namespace
}  // namespace hopyard::variant

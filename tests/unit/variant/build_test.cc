// SPDX-License-Identifier: Apache-2.0
// Real builds of the tree's variants from the pinned tarballs: the same bytes in any folder, shared work, and
// nothing usable from a build that failed. Takes minutes.
#include <atomic>
#include <map>
#include <thread>

#include "base/digest.h"
#include "base/paths.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "places.h"
#include "unit/variant/temp.h"
#include "variant/builder.h"
#include "variant/command.h"
#include "variant/sources.h"

namespace hopyard::variant {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Two caches that share nothing but the fetched tarballs.
struct RealBuild : testing::Test {
  static void SetUpTestSuite() {
    auto loaded = Catalogue::load({HOPYARD_SOURCE_DIR "/patches/variants.yaml"});
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    catalogue = new Catalogue(*std::move(loaded));
    folder = new TempFolder;
    first = new Builder({.cache_dir = cache("first")});
    second = new Builder({.cache_dir = cache("a second, longer folder")});
  }
  static void TearDownTestSuite() {
    delete first;
    delete second;
    delete folder;
    delete catalogue;
  }
  static std::string cache(const std::string& name) { return folder->path() + "/" + name; }

  // The variant with tarballs given by path, from the user's cache (fetched if they are not there).
  static Variant variant(const std::string& name) {
    const auto found = catalogue->find(name);
    EXPECT_TRUE(found.ok()) << found.status();
    Variant out = **found;
    for (Pin* pin : {&out.nginx, &out.boringssl}) {
      const auto path = Sources(base::cache_dir()).tarball(*pin, name, {}, {});
      EXPECT_TRUE(path.ok()) << path.status();
      pin->path = path.value_or("");
    }
    return out;
  }
  // Counts the steps by name.
  struct Steps {
    std::map<std::string, int> count;
    ProgressSink sink() {
      return [this](const Progress& p) {
        if (p.done == 0) ++count[p.step];
      };
    }
  };

  static inline Catalogue* catalogue = nullptr;
  static inline TempFolder* folder = nullptr;
  static inline Builder* first = nullptr;
  static inline Builder* second = nullptr;
};

TEST_F(RealBuild, SharesTheTreeAndIsFoundAgain) {
  Steps steps;
  const auto stock = first->build(variant("stock"), steps.sink());
  ASSERT_TRUE(stock.ok()) << stock.status();
  EXPECT_EQ(steps.count["unpack"], 2);
  EXPECT_EQ(steps.count["compile"], 2);  // BoringSSL, nginx
  EXPECT_EQ(steps.count["patch"], 0);

  Steps patched;
  const auto static4k = first->build(variant("static4k"), patched.sink());
  ASSERT_TRUE(static4k.ok()) << static4k.status();
  EXPECT_EQ(patched.count["unpack"], 0);
  EXPECT_EQ(patched.count["configure"], 0);
  EXPECT_EQ(patched.count["patch"], 1);
  EXPECT_NE(static4k->binary_sha256, stock->binary_sha256);

  Steps again;
  const auto cached = first->build(variant("stock"), again.sink());
  ASSERT_TRUE(cached.ok());
  EXPECT_EQ(again.count, (std::map<std::string, int>{{"ready", 1}}));
  EXPECT_EQ(cached->nginx_path, stock->nginx_path);
  EXPECT_EQ(cached->inputs, stock->inputs);
  EXPECT_THAT(stock->inputs, testing::Contains(HasSubstr("nginx nginx_1.26.3.orig.tar.gz sha256:69ee2b23")));
}

TEST_F(RealBuild, GivesTheSameBytesInAnotherFolderAndOnceForTwoWhoAsk) {
  const Variant adaptive = variant("adaptive");
  const auto here = first->build(adaptive, {});
  ASSERT_TRUE(here.ok()) << here.status();
  Steps steps[2];
  absl::StatusOr<Build> there[2];
  {
    std::jthread other([&] { there[1] = second->build(adaptive, steps[1].sink()); });
    there[0] = second->build(adaptive, steps[0].sink());
  }
  for (const auto& build : there) {
    ASSERT_TRUE(build.ok()) << build.status();
    EXPECT_EQ(build->sha256, here->sha256);
    EXPECT_EQ(build->binary_sha256, here->binary_sha256);
  }
  EXPECT_NE(there[0]->nginx_path, here->nginx_path);
  EXPECT_EQ(steps[0].count["unpack"] + steps[1].count["unpack"], 2);
  EXPECT_EQ(steps[0].count["patch"] + steps[1].count["patch"], 1);
  EXPECT_TRUE(std::filesystem::is_empty(cache("first/making")));
}

TEST_F(RealBuild, HoldsBoringSslAndSaysSo) {
  const auto stock = first->build(variant("stock"), {});
  ASSERT_TRUE(stock.ok()) << stock.status();
  std::string version;
  ASSERT_TRUE(
      run({.attempt = "ask", .argv = {stock->nginx_path, "-V"}}, {}, [&version](std::string_view line) {
        version.append(line).append("\n");
      }).ok());
  EXPECT_THAT(version, AllOf(HasSubstr("nginx/1.26.3"), HasSubstr("BoringSSL")));
  EXPECT_THAT(version, testing::Not(HasSubstr(folder->path())));
}

TEST_F(RealBuild, MakesAnAlteredBinaryAnew) {
  const Variant stock = variant("stock");
  const auto built = first->build(stock, {});
  ASSERT_TRUE(built.ok()) << built.status();
  ASSERT_TRUE(base::write_file(built->nginx_path, "something else").ok());
  EXPECT_FALSE(first->cached(stock));
  const auto rebuilt = first->build(stock, {});
  ASSERT_TRUE(rebuilt.ok()) << rebuilt.status();
  EXPECT_EQ(*base::sha256_file_hex(rebuilt->nginx_path), built->binary_sha256);
}

TEST_F(RealBuild, RefusesAPatchThatNeedsFuzzAndKeepsNothing) {
  Variant fuzzy = variant("static4k");
  std::string patch = *base::read_file(fuzzy.patches[0]);
  const std::string context = "\n #define NGX_SSL_PASSWORD_BUFFER_SIZE  4096\n";
  ASSERT_NE(patch.find(context), std::string::npos);
  patch.replace(patch.find(context), context.size(), "\n #define NGX_SSL_PASSWORD_BUFFER_SIZE  8192\n");
  fuzzy.patches = {folder->file("0001-fuzzy.patch", patch)};
  const auto build = first->build(fuzzy, {});
  EXPECT_TRUE(absl::IsInvalidArgument(build.status())) << build.status();
  EXPECT_THAT(text(build.status()), AllOf(HasSubstr("0001-fuzzy.patch"),
                                          HasSubstr("src/event/ngx_event_openssl.c: Hunk #1 FAILED")));
  EXPECT_FALSE(first->cached(fuzzy));
  EXPECT_FALSE(std::filesystem::exists(cache("first/builds/") + *first->content_hash(fuzzy)));
}

TEST_F(RealBuild, RefusesATarballWithAChangedByteEvenIfTheBuildIsThere) {
  Variant stock = variant("stock");
  ASSERT_TRUE(first->build(stock, {}).ok());
  std::string bytes = *base::read_file(stock.nginx.path);
  bytes[bytes.size() / 2] ^= 1;
  stock.nginx.path = folder->file("nginx_1.26.3.orig.tar.gz", bytes);
  const auto build = first->build(stock, {});
  EXPECT_TRUE(absl::IsDataLoss(build.status())) << build.status();
  EXPECT_THAT(text(build.status()), AllOf(HasSubstr(stock.nginx.path), HasSubstr(stock.nginx.sha256)));
}

TEST_F(RealBuild, StopsWhenAskedAndCanBeDoneLater) {
  Variant variant_with_flag = variant("static4k");
  variant_with_flag.cflags = {"-DHOPYARD_TEST"};  // a tree of its own
  std::stop_source stop;
  const auto build = first->build(
      variant_with_flag,
      [&stop](const Progress& p) {
        if (p.step == "compile" && p.done > 3) stop.request_stop();
      },
      stop.get_token());
  EXPECT_TRUE(absl::IsCancelled(build.status())) << build.status();
  EXPECT_FALSE(first->cached(variant_with_flag));
  EXPECT_TRUE(std::filesystem::is_empty(cache("first/making")));
}

}  // namespace
}  // namespace hopyard::variant

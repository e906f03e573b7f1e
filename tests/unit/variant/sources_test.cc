// SPDX-License-Identifier: Apache-2.0
// Tarballs are handed out only with the right hash, and what is wrong or missing is named.
#include "variant/sources.h"

#include "base/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "unit/variant/temp.h"
#include "variant/debian_archive.h"

namespace hopyard::variant {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct SourcesTest : testing::Test {
  absl::StatusOr<std::string> tarball(const Pin& wanted) { return sources.tarball(wanted, "v", {}, {}); }
  TempFolder folder;
  Sources sources{folder.path() + "/cache"};
  const std::string right = base::sha256_hex("content");
  Pin pin{.name = "thing-1", .file = "thing-1.tar.gz", .sha256 = right};
};

TEST_F(SourcesTest, TakesAFileByPathIfItsHashIsRight) {
  pin.path = folder.file("thing-1.tar.gz", "content");
  const auto path = tarball(pin);
  ASSERT_TRUE(path.ok()) << path.status();
  EXPECT_EQ(*path, pin.path);
}

TEST_F(SourcesTest, NamesFileAndBothHashesWhenAByteDiffers) {
  pin.path = folder.file("thing-1.tar.gz", "c0ntent");
  const auto path = tarball(pin);
  EXPECT_TRUE(absl::IsDataLoss(path.status()));
  EXPECT_THAT(text(path.status()), AllOf(HasSubstr(pin.path), HasSubstr("thing-1"),
                                         HasSubstr(base::sha256_hex("c0ntent")), HasSubstr(right)));
  EXPECT_TRUE(absl::IsDataLoss(sources.check_at_hand(pin)));
}

TEST_F(SourcesTest, TakesWhatIsInTheCache) {
  const std::string cached = folder.file("cache/sources/" + right + "/thing-1.tar.gz", "content");
  const auto path = tarball(pin);
  ASSERT_TRUE(path.ok()) << path.status();
  EXPECT_EQ(*path, cached);
}

TEST_F(SourcesTest, RefusesAnAlteredTarballInTheCache) {
  const std::string cached = folder.file("cache/sources/" + right + "/thing-1.tar.gz", "contents");
  const auto path = tarball(pin);
  EXPECT_TRUE(absl::IsDataLoss(path.status()));
  EXPECT_THAT(text(path.status()), AllOf(HasSubstr(cached), HasSubstr("remove the file")));
  EXPECT_TRUE(absl::IsDataLoss(sources.check_at_hand(pin)));
}

TEST_F(SourcesTest, NamesTheMissingTarballAndEveryPlaceTried) {
  pin.path = folder.path() + "/not-here.tar.gz";
  pin.urls = {"file:///no/such/thing-1.tar.gz"};
  const auto path = tarball(pin);
  EXPECT_TRUE(absl::IsNotFound(path.status()));
  EXPECT_THAT(text(path.status()),
              AllOf(HasSubstr("thing-1.tar.gz (pin thing-1)"), HasSubstr(pin.path), HasSubstr(pin.urls[0]),
                    HasSubstr("may also be put at " + folder.path() + "/cache/sources/" + right)));
  EXPECT_TRUE(sources.check_at_hand(pin).ok()) << "absent is not altered";
}

TEST_F(SourcesTest, StopsOnRequest) {
  std::stop_source stop;
  stop.request_stop();
  pin.urls = {"file:///no/such/thing-1.tar.gz"};
  EXPECT_TRUE(absl::IsCancelled(sources.tarball(pin, "v", {}, stop.get_token()).status()));
}

TEST(ArchiveRoots, AreThoseOfTheMainComponentOfAPlainRelease) {
  const std::string output =
      "'http://mirror.example/debian/dists/bookworm/InRelease' a 0 \n"
      "'http://mirror.example/debian-security/dists/bookworm-security/main/binary-amd64/Packages.xz' b 0 \n"
      "'http://vendor.example/apt/dists/bookworm/tools/binary-amd64/Packages.xz' c 0 \n"
      "'http://mirror.example/debian/dists/bookworm/main/binary-amd64/Packages.xz' d 0 \n"
      "'http://mirror.example/debian/dists/bookworm/main/binary-all/Packages.xz' e 0 \n"
      "'http://mirror.example/debian/dists/bookworm-updates/main/binary-amd64/Packages.xz' f 0 \n"
      "'http://other.example/debian/dists/stable/main/binary-amd64/Packages.xz' g 0 \n";
  EXPECT_THAT(archive_roots(output, "bookworm"),
              ElementsAre("http://mirror.example/debian", "http://other.example/debian"));
}

TEST(ArchiveRoots, AreNoneOfWhatAptDoesNotSay) {
  EXPECT_THAT(archive_roots("", "bookworm"), ElementsAre());
  EXPECT_THAT(archive_roots("E: broken\n'\n'/dists/\n'x/dists/bookworm\n", "bookworm"), ElementsAre());
}

}  // namespace
}  // namespace hopyard::variant

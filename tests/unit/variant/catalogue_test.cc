// SPDX-License-Identifier: Apache-2.0
// Pins and variants are read as written; everything else is refused with its place.
#include "variant/catalogue.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "places.h"
#include "unit/variant/temp.h"

namespace hopyard::variant {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

const std::string kTree = HOPYARD_SOURCE_DIR "/patches/variants.yaml";
const std::string kHash(64, 'a');

std::string refusal(const std::string& own) {
  TempFolder folder;
  const auto catalogue = Catalogue::load({kTree, folder.file("own.yaml", own)});
  EXPECT_TRUE(absl::IsInvalidArgument(catalogue.status())) << catalogue.status();
  return text(catalogue.status());
}

TEST(Catalogue, HoldsTheFourVariantsOfTheTree) {
  const auto catalogue = Catalogue::load({kTree});
  ASSERT_TRUE(catalogue.ok()) << catalogue.status();
  ASSERT_EQ(catalogue->variants().size(), 4u);
  const Variant& stock = **catalogue->find("stock");
  EXPECT_EQ(stock.records, RecordPolicy{});
  EXPECT_EQ(stock.nginx.sha256, "69ee2b237744036e61d24b836668aad3040dda461fe6f570f1787eab570c75aa");
  EXPECT_TRUE(stock.patches.empty());
  const Variant& static4k = **catalogue->find("static4k");
  EXPECT_EQ(static4k.records, (RecordPolicy{.fragment_bytes = 4096, .settings = 1}));
  const Variant& adaptive = **catalogue->find("adaptive");
  EXPECT_EQ(adaptive.records, (RecordPolicy{16384, 1024, 8192, 1, 1}));
  const Variant& dynamic = **catalogue->find("dyn_rec");
  EXPECT_EQ(dynamic.records, RecordPolicy{.dynamic = true});
  EXPECT_THAT(dynamic.directives, testing::Contains("ssl_dyn_rec_enable"));
  EXPECT_THAT(dynamic.directives, testing::SizeIs(5));
  EXPECT_TRUE(stock.directives.empty());
  ASSERT_EQ(adaptive.patches.size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(adaptive.patches[0])) << adaptive.patches[0];
  EXPECT_EQ(catalogue->boringssl().name, stock.boringssl.name);
  EXPECT_TRUE(std::filesystem::exists(catalogue->boringssl().recipe));
}

TEST(Catalogue, HoldsTheKernelsOfTheTree) {
  const auto catalogue = Catalogue::load({kTree, HOPYARD_SOURCE_DIR "/patches/kernels.yaml"});
  ASSERT_TRUE(catalogue.ok()) << catalogue.status();
  const auto kernel = catalogue->find_kernel("uml-6.12");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ((*kernel)->source.debian_package, "linux-source-6.12");
  EXPECT_TRUE(std::filesystem::exists((*kernel)->config)) << (*kernel)->config;
  for (const auto& patch : (*kernel)->patches) EXPECT_TRUE(std::filesystem::exists(patch)) << patch;
  EXPECT_THAT((*kernel)->controls, testing::Contains("bbr"));
  EXPECT_THAT((*catalogue->find_kernel("uml-7.2"))->boot, ElementsAre("seccomp=on"));
  EXPECT_THAT(text(catalogue->find_kernel("uml-9").status()), HasSubstr("which has uml-6.12, uml-7.2"));
}

TEST(Catalogue, RefusesKernelsThatCannotBeMeant) {
  const std::string pin = "pins: {k: {file: k.tar.xz, sha256: " + kHash + "}}\nkernels:\n";
  EXPECT_THAT(refusal(pin + "  host: {source: k, config: c}\n"), HasSubstr("`host` is already there"));
  EXPECT_THAT(refusal(pin + "  mine: {source: k}\n"), HasSubstr("needs config"));
  EXPECT_THAT(refusal(pin + "  mine: {source: nix, config: c}\n"), HasSubstr("no pin `nix`"));
  EXPECT_THAT(refusal(pin + "  mine: {source: k, config: c, modules: yes}\n"), HasSubstr("no key `modules`"));
}

TEST(Catalogue, RefusesADebianPinThatNamesNoOneFile) {
  const std::string pin = "pins: {k: {file: k.deb, sha256: " + kHash + ", debian: ";
  EXPECT_THAT(refusal(pin + "{package: k, release: trixie}}}"), HasSubstr("needs its version"));
  EXPECT_THAT(refusal(pin + "{package: k, source: k, version: 1, release: trixie}}}"),
              HasSubstr("source or package"));
}

TEST(Catalogue, AddsAPersonsOwnPinsAndVariants) {
  TempFolder folder;
  const std::string own = folder.file("own.yaml", R"(
pins:
  mine: {path: sources/nginx-1.27.4.tar.gz, sha256: )" +
                                                      kHash + R"(}
variants:
  mine-small:
    nginx: mine
    patches: [small.patch, /elsewhere/other.patch]
    cflags: [-O3]
    configure: [--without-http_proxy_module]
)");
  const auto catalogue = Catalogue::load({kTree, own});
  ASSERT_TRUE(catalogue.ok()) << catalogue.status();
  const Variant& mine = **catalogue->find("mine-small");
  EXPECT_EQ(mine.nginx.file, "nginx-1.27.4.tar.gz");
  EXPECT_EQ(mine.nginx.path, folder.path() + "/sources/nginx-1.27.4.tar.gz");
  EXPECT_EQ(mine.boringssl.name, catalogue->boringssl().name);
  EXPECT_THAT(mine.patches, ElementsAre(folder.path() + "/small.patch", "/elsewhere/other.patch"));
  EXPECT_EQ(mine.configure.front(), "--with-debug");
  EXPECT_EQ(mine.configure.back(), "--without-http_proxy_module");
}

TEST(Catalogue, NamesTheVariantsThereAreWhenAskedForAnother) {
  const auto catalogue = Catalogue::load({kTree});
  const auto found = catalogue->find("stokc");
  EXPECT_TRUE(absl::IsNotFound(found.status()));
  EXPECT_THAT(text(found.status()), HasSubstr("stock, static4k, adaptive, dyn_rec"));
}

TEST(Catalogue, NamesTheFileItCannotOpen) {
  const auto catalogue = Catalogue::load({"/no/such/variants.yaml"});
  EXPECT_TRUE(absl::IsNotFound(catalogue.status()));
  EXPECT_THAT(text(catalogue.status()), HasSubstr("/no/such/variants.yaml"));
}

TEST(Catalogue, GivesLineAndColumnOfAnUnknownKey) {
  EXPECT_THAT(refusal("variants:\n  a:\n    note: x\n    patch: y\n"),
              EndsWith("own.yaml:4:5: variant a has no key `patch`; known: boringssl, cflags, configure, "
                       "directives, nginx, "
                       "note, patches, records"));
}

TEST(Catalogue, RefusesTheSameKeyTwice) {
  EXPECT_THAT(refusal("variants:\n  a:\n    note: x\n    note: y\n"),
              EndsWith("own.yaml:4:5: variant a has the key `note` twice"));
  EXPECT_THAT(refusal("variants:\n  a: {note: x}\n  a: {note: y}\n"), HasSubstr(":3:3: "));
}

TEST(Catalogue, RefusesToRedefineWhatTheTreeDefines) {
  EXPECT_THAT(refusal("variants:\n  stock: {note: x}\n"),
              HasSubstr(":2:3: the variant `stock` is already there"));
  EXPECT_THAT(refusal("pins:\n  nginx-1.26.3: {path: x, sha256: " + kHash + "}\n"),
              HasSubstr(":2:3: the pin `nginx-1.26.3` is already there"));
  EXPECT_THAT(refusal("defaults: {nginx: nginx-1.26.3}\n"), HasSubstr(":1:11: defaults are set already"));
}

TEST(Catalogue, RefusesAPinWithoutAHashOrWithHalfOfOne) {
  EXPECT_THAT(refusal("pins:\n  p: {path: x}\n"), HasSubstr(":2:6: a pin needs its sha256"));
  EXPECT_THAT(refusal("pins:\n  p: {path: x, sha256: abc}\n"),
              HasSubstr("64 lower-case hex digits, not `abc`"));
}

TEST(Catalogue, RefusesAPinThatDoesNotSayWhereItIs) {
  EXPECT_THAT(refusal("pins:\n  p: {sha256: " + kHash + "}\n"), HasSubstr("needs a file, a path or a url"));
  EXPECT_THAT(refusal("pins:\n  p: {file: x, sha256: " + kHash + ", debian: {source: nginx}}\n"),
              HasSubstr("debian needs a release"));
}

TEST(Catalogue, RefusesAVariantOfAnUnknownPin) {
  EXPECT_THAT(refusal("variants:\n  a:\n    nginx: nginx-9\n"),
              HasSubstr(":3:12: there is no pin `nginx-9`"));
}

TEST(Catalogue, RefusesNginxAsBoringSsl) {
  EXPECT_THAT(refusal("variants:\n  a: {boringssl: nginx-1.26.3}\n"),
              HasSubstr("it cannot serve as boringssl"));
}

TEST(Catalogue, RefusesRecordsThatNoTlsEngineWrites) {
  EXPECT_THAT(refusal("variants:\n  a:\n    records: {fragment_bytes: 20000}\n"),
              HasSubstr(":3:31: fragment_bytes must be a whole number from 512 to 16384"));
  EXPECT_THAT(refusal("variants:\n  a:\n    records: {early_fragment_bytes: 1k}\n"),
              HasSubstr("whole number"));
  EXPECT_THAT(refusal("variants:\n  a:\n    records: {early_fragment_bytes: 1024}\n"),
              HasSubstr("go together"));
}

TEST(Catalogue, RefusesNamesThatCannotBeFileNames) {
  EXPECT_THAT(refusal("variants:\n  ../a: {note: x}\n"), HasSubstr("a variant's name `../a`"));
}

TEST(Catalogue, GivesThePlaceOfBrokenYaml) {
  EXPECT_THAT(refusal("variants: [\n"), HasSubstr("own.yaml:2:1: "));
}

}  // namespace
}  // namespace hopyard::variant

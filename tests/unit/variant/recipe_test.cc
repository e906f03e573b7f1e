// SPDX-License-Identifier: Apache-2.0
// Patches apply exactly or not at all, and the static part of the gate sees a run-time TLS library.
#include "variant/recipe.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "unit/variant/temp.h"
#include "variant/command.h"

namespace hopyard::variant {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kSource = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
const std::string kPatch =
    "Why: a test.\n\n--- a/list.txt\n+++ b/list.txt\n@@ -1,7 +1,7 @@\n one\n two\n three\n-four\n+FOUR\n "
    "five\n six\n"
    " seven\n";

struct PatchTest : testing::Test {
  absl::Status apply(const std::string& source, const std::string& patch) {
    folder.file("source/list.txt", source);
    return apply_patch(shop, folder.file("0001-four.patch", patch), folder.path() + "/source");
  }
  std::string result() { return *base::read_file(folder.path() + "/source/list.txt"); }

  TempFolder folder;
  std::vector<std::string> messages;
  Workshop shop{"v", [this](const Progress& p) { messages.push_back(p.message); }, {}, {}, 1};
};

TEST_F(PatchTest, AppliesWhatFits) {
  ASSERT_TRUE(apply(kSource, kPatch).ok());
  EXPECT_EQ(result(), "one\ntwo\nthree\nFOUR\nfive\nsix\nseven\n");
}

TEST_F(PatchTest, TellsAnOffsetButAcceptsIt) {
  ASSERT_TRUE(apply("new\nnew\n" + kSource, kPatch).ok());
  EXPECT_THAT(messages, Contains(AllOf(HasSubstr("0001-four.patch"), HasSubstr("offset 2 lines"))));
}

TEST_F(PatchTest, RefusesFuzzAndNamesPatchFileAndHunk) {
  std::string changed = kSource;
  changed.replace(0, 3, "ONE");  // patch(1) by itself would shrug off one context line
  const absl::Status status = apply(changed, kPatch);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(text(status), AllOf(HasSubstr("0001-four.patch"), HasSubstr("does not apply without fuzz"),
                                  HasSubstr("list.txt: Hunk #1 FAILED at 1")));
  EXPECT_EQ(result(), changed);
}

TEST_F(PatchTest, RefusesAPatchThatIsAlreadyIn) {
  EXPECT_TRUE(absl::IsInvalidArgument(apply("one\ntwo\nthree\nFOUR\nfive\nsix\nseven\n", kPatch)));
}

TEST_F(PatchTest, RefusesAFileThatIsNotThere) {
  std::string patch = kPatch;
  for (size_t at; (at = patch.find("list.txt")) != std::string::npos;) patch.replace(at, 8, "tree.txt");
  const absl::Status status = apply(kSource, patch);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(text(status), HasSubstr("0001-four.patch"));
}

TEST_F(PatchTest, RefusesAFileThatIsNoPatch) {
  EXPECT_TRUE(absl::IsInvalidArgument(apply(kSource, "no patch at all\n")));
}

TEST(TouchesConfiguration, OnlyIfAFileOfAutoOrConfigureIsNamed) {
  EXPECT_FALSE(touches_configuration("about auto/modules\n--- a/src/x.c\n+++ b/src/x.c\n+configure\n"));
  EXPECT_TRUE(touches_configuration("--- a/auto/modules\n+++ b/auto/modules\n"));
  EXPECT_TRUE(touches_configuration("--- /dev/null\n+++ b/auto/new"));
  EXPECT_TRUE(touches_configuration("--- a/configure\n+++ b/configure\n"));
}

TEST(NeededLibraries, AreReadFromReadelf) {
  EXPECT_THAT(needed_libraries("  0x1 (NEEDED)  Shared library: [libcrypt.so.1]\n"
                               "  0x1 (NEEDED)  Shared library: [libc.so.6]\n  0xc (INIT) 0x2000\n"),
              ElementsAre("libcrypt.so.1", "libc.so.6"));
  EXPECT_THAT(needed_libraries("(NEEDED) cut"), ElementsAre());
}

TEST(StaticTls, IsDeniedToAProgramThatLoadsLibcrypto) {
  TempFolder folder;
  Workshop shop("v", {}, {}, {}, 1);
  const std::string source = folder.file("x.c", "int SSL_library_init(void); int main(void) { return 0; }\n");
  const auto link = [&](const std::vector<std::string>& libraries) {
    Command command{.attempt = "link",
                    .argv = {"cc", source, "-o", folder.path() + "/x", "-Wl,--no-as-needed"}};
    command.argv.insert(command.argv.end(), libraries.begin(), libraries.end());
    return run(command, {});
  };
  ASSERT_TRUE(link({}).ok());
  EXPECT_TRUE(check_static_tls(shop, folder.path() + "/x").ok());
  ASSERT_TRUE(link({"-lcrypto"}).ok());
  const absl::Status status = check_static_tls(shop, folder.path() + "/x");
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(text(status), HasSubstr("libcrypto.so"));
}

TEST(Command, GivesTheLastLinesOfAFailure) {
  const absl::Status status =
      run({.attempt = "try it", .argv = {"sh", "-c", "seq 1 100; echo why >&2; exit 3"}}, {});
  EXPECT_THAT(text(status), AllOf(HasSubstr("try it"), HasSubstr("exit status 3"), HasSubstr("100\nwhy"),
                                  Not(HasSubstr("\n50\n"))));
}

TEST(Command, NamesAToolThatIsNotInstalled) {
  const absl::Status status = run({.attempt = "try it", .argv = {"no-such-tool"}}, {});
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(text(status), HasSubstr("no-such-tool"));
}

TEST(Command, KeepsTheCallersFlagsOutOfABuild) {
  ::setenv("CFLAGS", "-DSURPRISE", 1);
  std::string seen;
  ASSERT_TRUE(run({.attempt = "env", .argv = {"env"}}, {}, [&seen](std::string_view line) {
                seen.append(line).append("\n");
              }).ok());
  ::unsetenv("CFLAGS");
  EXPECT_THAT(seen, AllOf(HasSubstr("PATH="), Not(HasSubstr("SURPRISE"))));
}

TEST(Command, EndsTheToolWhenStopped) {
  std::stop_source stop;
  const absl::Status status = run({.attempt = "wait", .argv = {"sh", "-c", "echo started; exec sleep 1000"}},
                                  stop.get_token(), [&stop](std::string_view) { stop.request_stop(); });
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
}

}  // namespace
}  // namespace hopyard::variant

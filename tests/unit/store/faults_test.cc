// SPDX-License-Identifier: Apache-2.0
// What goes wrong with files: each is said plainly, and no committed trial is lost.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/fd.h"
#include "gmock/gmock.h"
#include "store/migrate.h"
#include "unit/store/fixture.h"

namespace hopyard::store {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// A result with some hundred rows, so that a transaction takes its time.
v1::TrialResult large_result(const std::string& trial) {
  v1::TrialResult result = h1_result(trial, 100);
  for (uint32_t i = 0; i < 300; ++i) {
    v1::TlsRecord& record = *result.mutable_client()->add_records();
    record.set_seq(i);
    record.set_received_ns(6000000000 + i);
    v1::SslWrite& write = *result.mutable_server()->add_writes();
    write.set_seq(i);
    write.set_requested(16384);
  }
  return result;
}

std::string large_trial(unsigned block) { return trial_id("large", "A", "h1-128k", block); }

absl::Status record_large(Store& store, unsigned block) {
  return store.record_trial("large", large_result(large_trial(block)), guest_provenance());
}

// Records one trial after another, and says so in `acknowledge` after each, until it is killed.
[[noreturn]] void record_until_killed(const std::string& path, unsigned first, unsigned blocks,
                                      int acknowledge) {
  auto store = Store::open(path);
  if (!store.ok()) ::_exit(1);
  for (unsigned block = first; block < blocks; ++block) {
    if (!record_large(**store, block).ok()) ::_exit(2);
    if (!base::write_all(acknowledge, "x").ok()) ::_exit(3);
  }
  ::_exit(4);
}

TEST(KilledWriter, LosesNoAcknowledgedTrialAndLeavesNoHalfOne) {
  const TempFolder folder;
  const std::string path = folder.file("hopyard.db");
  constexpr unsigned kBlocks = 4000;
  ASSERT_OK(Store::open(path).value()->add_campaign(small_campaign("large"), small_plan("large", kBlocks)));
  unsigned done = 0;
  for (unsigned round = 0; round < 8; ++round) {
    auto pipe = base::make_pipe();
    ASSERT_TRUE(pipe.ok());
    const pid_t writer = ::fork();
    ASSERT_GE(writer, 0);
    if (writer == 0) record_until_killed(path, done, kBlocks, pipe->write.get());
    pipe->write.reset();
    char bytes[4096];
    unsigned acknowledged = 0;
    while (acknowledged < 3 + round) {
      const ssize_t got = ::read(pipe->read.get(), bytes, 1);
      ASSERT_EQ(got, 1);
      ++acknowledged;
    }
    // Nothing is waited for here: it moves the kill to another part of the transaction.
    const base::Deadline some_of_a_transaction(std::chrono::microseconds(round * 300));
    while (!some_of_a_transaction.passed()) {
    }
    ASSERT_EQ(::kill(writer, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(writer, &status, 0), writer);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself with " << WEXITSTATUS(status);
    for (ssize_t got; (got = ::read(pipe->read.get(), bytes, sizeof bytes)) > 0;) acknowledged += got;

    const auto store = Store::open(path);
    ASSERT_TRUE(store.ok()) << store.status();
    const unsigned recorded = (*store)->status("large")->passed() - done;
    EXPECT_GE(recorded, acknowledged);
    EXPECT_LE(recorded, acknowledged + 1);
    for (unsigned block = done; block < done + recorded; ++block) {
      const auto trial = (*store)->trial(large_trial(block));
      ASSERT_TRUE(trial.ok()) << trial.status();
      EXPECT_EQ(trial->result().client().records_size(), 300);
      EXPECT_EQ(trial->result().server().writes_size(), 300);
    }
    done += recorded;
    EXPECT_THAT((*store)->check()->problems(), IsEmpty());
  }
  EXPECT_EQ(sqlite3_program(path, "SELECT count(*) / 300 FROM tls_record"), std::to_string(done) + "\n");
}

// In a child: a tmpfs of `size` on `folder`, in namespaces of its own. Empty, or why not.
std::string mount_small_disk(const std::string& folder, const char* size) {
  const std::string uid_map = absl::StrCat("0 ", ::geteuid(), " 1");
  const std::string gid_map = absl::StrCat("0 ", ::getegid(), " 1");
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return "skip: no user namespace to mount a small disk in";
  if (!base::write_existing("/proc/self/setgroups", "deny").ok() ||
      !base::write_existing("/proc/self/uid_map", uid_map).ok() ||
      !base::write_existing("/proc/self/gid_map", gid_map).ok()) {
    return "skip: cannot map this user into a namespace";
  }
  if (::mount("none", folder.c_str(), "tmpfs", 0, size) != 0) return "skip: no tmpfs in a user namespace";
  return "";
}

// Records until it fails; every trial before that must still be there. Gives the failing status.
absl::Status fill_up(Store& store, unsigned& recorded) {
  absl::Status last;
  for (recorded = 0; recorded < 4000; ++recorded) {
    last = record_large(store, recorded);
    if (!last.ok()) break;
  }
  return last;
}

std::string expect_full(const absl::Status& status, const std::string& path) {
  if (!absl::IsResourceExhausted(status)) return absl::StrCat("not full: ", status.ToString());
  const std::string wanted = "record trial: " + path + ": disk full";
  return absl::StartsWith(status.message(), wanted) ? "" : std::string(status.message());
}

std::string expect_sound(Store& store, unsigned recorded) {
  const auto status = store.status("large");
  if (!status.ok()) return status.status().ToString();
  if (status->passed() != recorded) return absl::StrCat(status->passed(), " recorded, expected ", recorded);
  const auto check = store.check();
  if (!check.ok()) return check.status().ToString();
  return check->problems().empty() ? "" : check->problems(0);
}

TEST(FullDisk, IsSaidAndRecordingGoesOnOnceThereIsRoom) {
  const TempFolder folder;
  in_child([&]() -> std::string {
    if (std::string why = mount_small_disk(folder.path(), "size=2m"); !why.empty()) return why;
    const std::string path = folder.file("hopyard.db");
    auto store = Store::open(path);
    if (!store.ok()) return store.status().ToString();
    if (const auto added = (*store)->add_campaign(small_campaign("large"), small_plan("large", 1000));
        !added.ok()) {
      return added.ToString();
    }
    unsigned recorded = 0;
    const absl::Status full = fill_up(**store, recorded);
    if (recorded == 0) return "nothing fitted: the disk is too small for this test";
    if (std::string wrong = expect_full(full, path); !wrong.empty()) return wrong;
    if (std::string wrong = expect_sound(**store, recorded); !wrong.empty()) return wrong;
    if (::mount("none", folder.path().c_str(), "tmpfs", MS_REMOUNT, "size=64m") != 0) return "cannot remount";
    if (const absl::Status again = record_large(**store, recorded); !again.ok()) return again.ToString();
    store = Store::open(path);
    return store.ok() ? expect_sound(**store, recorded + 1) : store.status().ToString();
  });
}

TEST(FileSizeLimit, IsSaidLikeAFullDisk) {
  const TempFolder folder;
  in_child([&]() -> std::string {
    const std::string path = folder.file("hopyard.db");
    auto store = Store::open(path);
    if (!(*store)->add_campaign(small_campaign("large"), small_plan("large", 500)).ok()) return "no campaign";
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {2 << 20, 2 << 20};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return "no limit";
    unsigned recorded = 0;
    const absl::Status full = fill_up(**store, recorded);
    if (std::string wrong = expect_full(full, path); !wrong.empty()) return wrong;
    return expect_sound(**store, recorded);
  });
}

TEST(ReadOnlyDisk, IsSaidWhenOpening) {
  const TempFolder folder;
  in_child([&]() -> std::string {
    if (std::string why = mount_small_disk(folder.path(), "size=8m"); !why.empty()) return why;
    const std::string path = folder.file("hopyard.db");
    if (const auto made = Store::open(path); !made.ok()) return made.status().ToString();
    if (::mount("none", folder.path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) != 0)
      return "cannot remount";
    const absl::Status status = Store::open(path).status();
    if (!absl::IsPermissionDenied(status)) return status.ToString();
    return absl::StrContains(status.message(), "open database: " + path + ": read-only") ? ""
                                                                                         : status.ToString();
  });
}

TEST(ReadOnlyFile, IsSaidWhenOpening) {
  const TempFolder folder;
  const std::string path = folder.file("hopyard.db");
  ASSERT_TRUE(Store::open(path).ok());
  ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  in_child([&]() -> std::string {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return "cannot become another user";
    const absl::Status status = Store::open(path).status();
    return absl::IsPermissionDenied(status) ? "" : status.ToString();
  });
}

TEST(UnreachableFolder, IsSaidWhenOpening) {
  const TempFolder folder;
  std::ofstream(folder.file("file")) << "not a folder";
  const absl::Status status = Store::open(folder.file("file/hopyard.db")).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("open database: " + folder.file("file/hopyard.db")));
}

class Faults : public StoreTest {};

TEST_F(Faults, AFileThatIsRemovedWhileInUseTakesNothingMore) {
  ASSERT_EQ(::unlink(path().c_str()), 0);
  const std::string trial = trial_id("c1", "A", "h1-128k", 0);
  const absl::Status recorded = store_->record_trial("c1", h1_result(trial, 5), guest_provenance());
  EXPECT_TRUE(absl::IsDataLoss(recorded)) << recorded;
  EXPECT_THAT(std::string(recorded.message()), HasSubstr("removed or replaced"));
}

TEST_F(Faults, ALockedDatabaseIsWaitedForAndThenSaid) {
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  const std::string trial = trial_id("c1", "A", "h1-128k", 0);
  const absl::Status locked = store_->record_trial("c1", h1_result(trial, 5), guest_provenance());
  EXPECT_TRUE(absl::IsUnavailable(locked)) << locked;
  EXPECT_THAT(std::string(locked.message()),
              HasSubstr("record trial: " + path() + ": locked by another program"));
  EXPECT_TRUE(store_->status("c1").ok());  // reading goes on
  sqlite3_close(other);
  EXPECT_OK(store_->record_trial("c1", h1_result(trial, 5), guest_provenance()));
}

TEST_F(Faults, ANewerSchemaIsLeftAlone) {
  store_.reset();
  query(path(), "PRAGMA user_version = 99");
  const absl::Status status = Store::open(path()).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_EQ(status.message(), "open database: " + path() +
                                  ": written by a newer Hopyard (schema 99; this one knows up to " +
                                  std::to_string(kSchemaVersion) + ")");
}

TEST(ForeignFile, OfAnotherProgramIsLeftAlone) {
  const TempFolder folder;
  query(folder.file("other.db"), "CREATE TABLE bookmarks (url TEXT)");
  const absl::Status database = Store::open(folder.file("other.db")).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(database)) << database;
  EXPECT_EQ(query(folder.file("other.db"), "SELECT name FROM sqlite_schema").size(), 1u);
  std::ofstream(folder.file("text.db")) << std::string(5000, 'x');
  const absl::Status text = Store::open(folder.file("text.db")).status();
  EXPECT_TRUE(absl::IsDataLoss(text)) << text;
  EXPECT_THAT(std::string(text.message()), HasSubstr("not a SQLite database"));
}

TEST_F(Faults, ADamagedPageIsFoundAndTheRestStillRead) {
  ASSERT_OK(store_->add_campaign(small_campaign("large"), small_plan("large", 30)));
  for (unsigned block = 0; block < 30; ++block) ASSERT_OK(record_large(*store_, block));
  EXPECT_THAT(store_->check()->problems(), IsEmpty());
  store_.reset();
  // A page in the middle of the records.
  const auto page = query(
      path(), "SELECT pageno FROM dbstat WHERE name = 'tls_record' AND pagetype = 'leaf' LIMIT 1 OFFSET 5");
  ASSERT_EQ(page.size(), 1u);
  std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp((std::stol(page[0][0]) - 1) * 4096);
  file << std::string(4096, '\xff');
  file.close();
  const auto store = Store::open(path());
  ASSERT_TRUE(store.ok()) << store.status();
  const auto check = (*store)->check();
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_FALSE(check->problems().empty());
  EXPECT_EQ(check->trials(), 128u);
  unsigned lost = 0;
  for (unsigned block = 0; block < 30; ++block) {
    const absl::Status read = (*store)->trial(large_trial(block)).status();
    if (read.ok()) continue;
    EXPECT_TRUE(absl::IsDataLoss(read)) << read;
    EXPECT_THAT(std::string(read.message()), HasSubstr("read trial: " + path() + ": damaged database"));
    ++lost;
  }
  EXPECT_GE(lost, 1u);
  EXPECT_LE(lost, 3u);
}

TEST_F(Faults, CheckFindsWhatContradictsItself) {
  ASSERT_OK(store_->record_trial("c1", h1_result(trial_id("c1", "A", "h1-128k", 0), 5), guest_provenance()));
  ASSERT_OK(store_->set_state("c1", v1::DONE, ""));
  query(path(),
        "UPDATE tally SET passed = 7;"
        "INSERT INTO evidence_check VALUES ((SELECT trial_no FROM outcome), 0, 1, 1, 'x', 2);"
        "INSERT INTO fragment VALUES (999999, 0, 0, 0, 0, 0)");
  const auto problems = store_->check()->problems();
  const std::string all = absl::StrCat(testing::PrintToString(problems));
  EXPECT_THAT(all, HasSubstr("passed, but with a broken check: trial c1/A/h1-128k/0"));
  EXPECT_THAT(all, HasSubstr("outcomes are miscounted: campaign c1, clean h1-128k A"));
  EXPECT_THAT(all, HasSubstr("a row points at nothing: fragment row"));
  EXPECT_THAT(all, HasSubstr("done, but not every trial has an outcome: campaign c1"));
}

}  // namespace
}  // namespace hopyard::store

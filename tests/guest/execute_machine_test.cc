// SPDX-License-Identifier: Apache-2.0
// Guests as the machine sees them: sessions in Debian's guest, what stays when they are killed, and the
// harness of the guest tests. Runs on the machine, and needs its UML kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "execute/execution.h"
#include "execute/guest.h"
#include "fmt/format.h"
#include "guest/confined.h"
#include "hopyard/v1/service.pb.h"
#include "hopyard/v1/worker.pb.h"
#include "places.h"
#include "unit/execute/machine.h"

namespace hopyard::execute {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

base::Deadline soon() { return base::Deadline(std::chrono::seconds(60)); }

KernelOption guest_kernel() {
  return {.name = "debian-uml", .usable = true, .unix_usable = true, .program = kDebianUml};
}

std::unique_ptr<WorkerSession> start_guest_session() {
  auto session = WorkerSession::start(guest_kernel(), soon());
  EXPECT_TRUE(session.ok()) << session.status();
  return session.ok() ? *std::move(session) : nullptr;
}

TEST(GuestSession, GreetsWithTheGuestsKernel) {
  const auto session = start_guest_session();
  ASSERT_NE(session, nullptr);
  EXPECT_TRUE(session->hello().guest());
  const auto kernels = list_kernels();
  ASSERT_TRUE(kernels.ok());
  EXPECT_EQ(session->hello().kernel_release(), kernels->at(1).release);
  const auto& controls = session->hello().congestion_controls();
  EXPECT_THAT(kernels->at(1).congestion_controls,
              testing::UnorderedElementsAreArray(controls.begin(), controls.end()));
}

// The serial line carries any bytes, whole, both ways.
TEST(GuestSession, LongNamesOfAllBytesComeBackUnchanged) {
  const auto session = start_guest_session();
  ASSERT_NE(session, nullptr);
  std::string name;
  for (int i = 0; i < 300'000; ++i) name.push_back(static_cast<char>(1 + (i * 7 + i / 127) % 127));
  v1::ToWorker message;
  message.mutable_job()->add_trials()->set_trial_id(name);
  ASSERT_TRUE(session->send(message).ok());
  const auto started = session->receive(soon());
  ASSERT_TRUE(started.ok()) << started.status();
  EXPECT_TRUE(started->started().trial_id() == name);
  const auto result = session->receive(soon());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_NE(result->result().verdict(), v1::PASSED);
  const auto done = session->receive(soon());
  ASSERT_TRUE(done.ok()) << done.status();
  EXPECT_TRUE(done->has_done());
  const auto end = session->finish(soon());
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_TRUE(end->exit.clean()) << end->log;
}

// Guard, reaper, the guest's kernel and the processes that are its own.
TEST(GuestSession, IsFilteredAndTakesNobodysPrivileges) {
  const auto session = start_guest_session();
  ASSERT_NE(session, nullptr);
  const auto processes = descendants(::getpid());
  EXPECT_GT(processes.size(), 3u);
  for (const Process& process : processes) {
    EXPECT_THAT(base::read_file(fmt::format("/proc/{}/status", process.pid)).value(),
                testing::AllOf(HasSubstr("NoNewPrivs:\t1"), HasSubstr("Seccomp:\t2")))
        << process.name;
  }
}

TEST(GuestSession, CancelEndsTheGuest) {
  const auto session = start_guest_session();
  ASSERT_NE(session, nullptr);
  const auto processes = descendants(::getpid());
  ASSERT_TRUE(session->cancel().ok());
  EXPECT_TRUE(absl::IsUnavailable(session->receive(soon()).status()));
  EXPECT_THAT(still_running(processes), IsEmpty());
}

// Guard, reaper and UML, and the processes of UML below.
void expect_nothing_left_of_a_killed_guest() {
  for (size_t victim = 0; victim < 3; ++victim) {
    SCOPED_TRACE(victim);
    const auto before = machine_state(is_confined());
    {
      const auto session = start_guest_session();
      ASSERT_NE(session, nullptr);
      const auto processes = descendants(::getpid());
      ASSERT_GT(processes.size(), 3u);
      ASSERT_EQ(::kill(processes[victim].pid, SIGKILL), 0);
      EXPECT_THAT(still_running(processes), IsEmpty());
    }
    EXPECT_THAT(changes(before, machine_state(is_confined())), IsEmpty());
  }
}

void expect_nothing_left_of_a_killed_owner() {
  const auto before = machine_state(is_confined());
  auto ready = base::make_pipe();
  ASSERT_TRUE(ready.ok());
  const pid_t owner = ::fork();
  if (owner == 0) {
    const auto held = WorkerSession::start(guest_kernel(), soon());
    (void)!::write(ready->write.get(), held.ok() ? "y" : "n", 1);
    ::pause();
    ::_exit(0);
  }
  char started = 0;
  ASSERT_EQ(::read(ready->read.get(), &started, 1), 1);
  EXPECT_EQ(started, 'y');
  const auto processes = descendants(owner);
  EXPECT_GT(processes.size(), 3u);
  ASSERT_EQ(::kill(owner, SIGKILL), 0);
  ASSERT_EQ(::waitpid(owner, nullptr, 0), owner);
  EXPECT_THAT(still_running(processes), IsEmpty());
  EXPECT_THAT(changes(before, machine_state(is_confined())), IsEmpty());
}

// These run once as they are, and again by the confined program, which compares the folders too.
TEST(Remains, NothingWhenAProcessOfAGuestIsKilled) { expect_nothing_left_of_a_killed_guest(); }
TEST(Remains, NothingWhenAGuestsOwnerIsKilled) { expect_nothing_left_of_a_killed_owner(); }
TEST(Remains, NothingWhenAGuestHasEnded) {
  const auto before = machine_state(is_confined());
  auto session = start_guest_session();
  ASSERT_NE(session, nullptr);
  v1::ToWorker message;
  message.mutable_job();
  ASSERT_TRUE(session->send(message).ok());
  ASSERT_TRUE(session->receive(soon()).ok());
  const auto end = session->finish(soon());
  ASSERT_TRUE(end.ok()) << end.status();
  session.reset();
  EXPECT_THAT(changes(before, machine_state(is_confined())), IsEmpty());
}

TEST(Confined, RemainsAreLookedForInFoldersNobodyElseChanges) {
  if (is_confined()) GTEST_SKIP() << "is the confined program";
  const std::string output = run_confined(Confinement::kOwnFolders, "Remains.*");
  if (output.empty()) GTEST_SKIP() << "this machine allows no namespaces to confine with";
  EXPECT_THAT(output, HasSubstr("[  PASSED  ] 3 tests"));
  EXPECT_THAT(output, HasSubstr("\nexit 0"));
}

// In a chroot, as on a freshly installed system seen from outside.
TEST(Confined, GuestsRunAndLeaveNothingWhereNamespacesAreForbidden) {
  if (is_confined()) GTEST_SKIP() << "is the confined program";
  const std::string output = run_confined(Confinement::kNoNamespaces, "Remains.*:Forbidden.*");
  if (output.empty()) GTEST_SKIP() << "this machine allows no namespaces to confine with";
  EXPECT_THAT(output, HasSubstr("[  PASSED  ] 4 tests"));
  EXPECT_THAT(output, HasSubstr("\nexit 0"));
}

TEST(Forbidden, HostIsNotUsableAndSaysWhy) {
  const auto kernels = list_kernels();
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  EXPECT_FALSE(kernels->at(0).unix_usable);
  EXPECT_THAT(kernels->at(0).why_not, HasSubstr("Operation not permitted"));
  const auto chosen = choose_kernel("auto", {.congestion_controls = {"bbr"}, .routed = true});
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_EQ(chosen->name, "debian-uml");
}

TEST(Doctor, BootsAGuestAndNamesWhereCampaignsRun) {
  const auto findings = doctor({});
  ASSERT_EQ(findings.size(), 4u);
  EXPECT_EQ(findings[0].subject(), "host kernel");
  EXPECT_TRUE(findings[1].ok()) << findings[1].message();
  EXPECT_THAT(findings[1].message(), HasSubstr("boots in"));
  EXPECT_TRUE(findings[2].ok()) << findings[2].message();
  EXPECT_EQ(findings[3].subject(), "virtual clock");
  EXPECT_THAT(findings[3].message(), HasSubstr("kernels build")) << "no kernel of ours was named";
}

base::CommandOutput run_fixture(const std::string& test, const std::string& deadline = "60") {
  auto done = base::run_command({.argv = {HOPYARD_BUILD_DIR "/bin/guest_harness_fixture",
                                          "--deadline-s=" + deadline, "--gtest_filter=Harness." + test}},
                                std::chrono::seconds(90), 4u << 20);
  EXPECT_TRUE(done.ok()) << done.status();
  return done.value_or(base::CommandOutput());
}

TEST(GuestHarness, PassesOnHowTheTestsEnded) {
  EXPECT_EQ(run_fixture("Passes").exit.exit_code, 0);
  const auto failed = run_fixture("Fails");
  EXPECT_EQ(failed.exit.exit_code, 1);
  EXPECT_THAT(failed.output, HasSubstr("on purpose"));
  EXPECT_EQ(run_fixture("Leaves").exit.exit_code, 3);
  const auto crashed = run_fixture("Crashes");
  EXPECT_EQ(crashed.exit.exit_code, 128 + SIGSEGV);
  EXPECT_THAT(crashed.output, HasSubstr("ended by signal 11"));
}

TEST(GuestHarness, KernelMessagesStayOutOfTheOutput) {
  const auto passed = run_fixture("Passes");
  EXPECT_THAT(passed.output, Not(HasSubstr("umid")));
  EXPECT_THAT(passed.output, Not(HasSubstr("reboot")));
  EXPECT_THAT(passed.output, Not(HasSubstr("\r")));
}

TEST(GuestHarness, AllOutputArrives) {
  const auto done = run_fixture("PrintsALot");
  EXPECT_EQ(done.exit.exit_code, 0);
  for (const int i : {0, 10'000, 19'999}) EXPECT_THAT(done.output, HasSubstr(fmt::format("line {} of", i)));
}

TEST(GuestHarness, DeadlineEndsAHangingTest) {
  const auto hung = run_fixture("Hangs", "5");
  EXPECT_EQ(hung.exit.exit_code, 1);
  EXPECT_THAT(hung.output, HasSubstr("in time"));
}

TEST(GuestHarness, PanicIsAFailureWithTheConsole) {
  const auto panicked = run_fixture("KillsTheFirstProcess");
  EXPECT_EQ(panicked.exit.exit_code, 1);
  EXPECT_THAT(panicked.output, HasSubstr("did not get to the end"));
  EXPECT_THAT(panicked.output, HasSubstr("anic"));
}

TEST(GuestHarness, ProcessesLeftBehindDoNotHoldTheGuest) {
  EXPECT_EQ(run_fixture("LeavesAProcessBehind").exit.exit_code, 0);
}

TEST(GuestHarness, EnvironmentReachesTheTests) {
  ::setenv("HOPYARD_HARNESS", "a value = with spaces", 1);
  const auto done = run_fixture("SeesTheEnvironment");
  EXPECT_EQ(done.exit.exit_code, 0) << done.output;
}

}  // namespace
}  // namespace hopyard::execute

int main(int argc, char** argv) {
  if (::access(hopyard::execute::kDebianUml, X_OK) != 0) {
    fmt::print("SKIPPED: no guest can run here: {} is missing (Debian: apt install user-mode-linux)\n",
               hopyard::execute::kDebianUml);
    return 77;
  }
  // Some tests are for the program run again in confinement only, which names them.
  const char* wanted = std::getenv("GTEST_FILTER");  // a default here would take its place
  if (!hopyard::execute::is_confined()) {
    testing::GTEST_FLAG(filter) = (wanted != nullptr ? std::string(wanted) + ":" : "-") + "Forbidden.*";
  }
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}

// SPDX-License-Identifier: Apache-2.0
// hopyardd: opens the database, starts the runner and the service, and waits for a reason to end. Everything
// else is in the rooms.
#include <fcntl.h>
#include <grpc/support/log.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/lock.h"
#include "base/paths.h"
#include "base/service_manager.h"
#include "execute/order_file.h"
#include "fmt/format.h"
#include "rpc/server.h"
#include "rpc/verification.h"
#include "run/figures.h"
#include "run/log_line.h"
#include "run/machine.h"
#include "run/runner.h"
#include "run/tool_version.h"
#include "run/workshop.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"
#include "store/store.h"
#include "variant/catalogue.h"

namespace hopyard {
namespace {

using namespace std::chrono_literals;

// A daemon that is about to end may still hold the database.
constexpr auto kLockPatience = 5s;
// For a trial in flight to end by itself after the first SIGTERM.
constexpr auto kDrainPatience = 60s;

// How often a private daemon with nothing else to do looks whether its last client has gone.
constexpr auto kLookAtClients = 50ms;

struct Arguments {
  std::string socket;
  std::string db;
  std::string log_level = "info";
  std::string log_format = "text";
  bool exit_when_idle = false;
  rpc::TlsOptions tls;  // without an address: no TCP
};

// Every line is fields, so that a collector finds campaign and trial in it; set up once, before any thread.
bool log_as_json = false;

void note(spdlog::level::level_enum level, const run::LogFields& fields) {
  if (spdlog::should_log(level))
    spdlog::log(level, "{}", log_as_json ? run::as_json(fields) : run::as_text(fields));
}

void note_event(const std::string& campaign, const v1::CampaignEvent& event) {
  const auto level = event.has_started()       ? spdlog::level::debug
                     : run::is_bad_news(event) ? spdlog::level::warn
                                               : spdlog::level::info;
  note(level, run::log_fields(campaign, event));
}

void set_up_log(const Arguments& arguments) {
  log_as_json = arguments.log_format == "json";
  // A client that was refused is gRPC's to tell.
  ::gpr_set_log_function([](gpr_log_func_args* said) {
    const auto level = said->severity == GPR_LOG_SEVERITY_ERROR ? spdlog::level::warn : spdlog::level::debug;
    note(level, {{"event", "grpc"}, {"message", said->message}});
  });
  spdlog::set_default_logger(spdlog::stderr_logger_mt("hopyardd"));
  spdlog::set_level(spdlog::level::from_str(arguments.log_level == "warn" ? "warning" : arguments.log_level));
  if (log_as_json) spdlog::set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","pid":%P,%v})");
}

// Wakes the main thread from any other.
class Bell {
 public:
  Bell() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  int fd() const { return fd_.get(); }
  void ring() const { (void)!::eventfd_write(fd_.get(), 1); }
  void silence() const {
    eventfd_t count = 0;
    (void)!::eventfd_read(fd_.get(), &count);
  }

 private:
  base::Fd fd_;
};

// SIGTERM and SIGINT as a readable descriptor, blocked in every thread started from here on.
base::Fd signals_fd() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return base::Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

int take_signal(int fd) {
  signalfd_siginfo info{};
  return ::read(fd, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

// The rooms, in the order in which they need each other; taken down in the reverse order.
struct Daemon {
  base::FileLock lock;
  std::unique_ptr<store::Store> store;
  run::Machine machine;
  std::unique_ptr<run::Workshop> workshop;
  std::unique_ptr<run::Runner> runner;
  std::unique_ptr<rpc::Server> server;
};

absl::StatusOr<base::FileLock> lock_database(const Arguments& arguments) {
  const std::filesystem::path folder = std::filesystem::path(arguments.db).parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return base::errno_status("make folder", folder.native());
  const std::string note = fmt::format("process {}, which listens on {}", ::getpid(), arguments.socket);
  return base::FileLock::take(arguments.db + ".lock", note, kLockPatience);
}

absl::Status start(Daemon& daemon, const Arguments& arguments, const Bell& bell) {
  execute::remove_stale_orders();
  HOPYARD_ASSIGN_OR_RETURN(daemon.store, store::Store::open(arguments.db));
  daemon.workshop = std::make_unique<run::Workshop>(
      variant::BuilderOptions{}, variant::Catalogue::default_files(),
      [&machine = daemon.machine](const v1::GateJob& job, std::stop_token stop) {
        return machine.run_gate(job, stop);
      });
  store::Store& store = *daemon.store;
  run::RunnerOptions options{
      .tool_version = run::tool_version(HOPYARD_VERSION),
      .record_figures = [&store](const std::string& id,
                                 std::stop_token stop) { return run::record_figures(store, id, stop); },
      .verify = [&store](
                    const std::string& id,
                    const std::function<bool()>& stopped) { return rpc::verify_at_end(store, id, stopped); },
      .on_event = note_event,
      .on_idle = [&bell] { bell.ring(); }};
  HOPYARD_ASSIGN_OR_RETURN(
      daemon.runner, run::Runner::start(*daemon.store, *daemon.workshop, daemon.machine, std::move(options)));
  const rpc::Rooms rooms{*daemon.store, *daemon.runner, *daemon.workshop, daemon.machine};
  std::optional<rpc::TlsOptions> tls;
  if (!arguments.tls.address.empty()) tls = arguments.tls;
  HOPYARD_ASSIGN_OR_RETURN(daemon.server, rpc::Server::start({.path = arguments.socket}, rooms, tls));
  return absl::OkStatus();
}

// Until a signal comes, or nothing runs and whoever holds the other end of standard input has gone.
void wait_for_end(const Daemon& daemon, const Arguments& arguments, int signals, const Bell& bell) {
  bool leased = arguments.exit_when_idle;
  const auto watchdog = base::watchdog_patience();
  while (true) {
    // The runner's lock is asked for first: a daemon that hangs there is not alive.
    const bool idle = daemon.runner->idle();
    if (watchdog) base::tell_service_manager("WATCHDOG=1");
    pollfd fds[] = {{signals, POLLIN, 0}, {bell.fd(), POLLIN, 0}, {leased ? STDIN_FILENO : -1, POLLIN, 0}};
    const bool may_end = arguments.exit_when_idle && !leased && idle;
    if (may_end && daemon.server->connections() == 0) {
      note(spdlog::level::info, {{"event", "idle"}, {"message", "nothing runs and nobody asks: ending"}});
      return;
    }
    auto patience = may_end ? kLookAtClients : -1ms;
    if (watchdog && patience < 0ms)
      patience = std::max(std::chrono::duration_cast<std::chrono::milliseconds>(*watchdog / 3), 1ms);
    if (::poll(fds, 3, static_cast<int>(patience.count())) < 0) continue;
    if (fds[0].revents != 0 && take_signal(signals) != 0) return;
    if (fds[1].revents != 0) bell.silence();
    if (fds[2].revents != 0) leased = false;
  }
}

// A trial in flight may end; a second signal ends it at once.
void drain(run::Runner& runner, int signals) {
  if (runner.idle()) return;
  note(spdlog::level::info, {{"event", "draining"},
                             {"message", "the trial in flight may end, the rest waits for the next start"}});
  const Bell done;
  std::thread drainer([&] {
    runner.drain(kDrainPatience);
    done.ring();
  });
  pollfd fds[] = {{signals, POLLIN, 0}, {done.fd(), POLLIN, 0}};
  while (::poll(fds, 2, -1) < 0) {
  }
  if (fds[0].revents != 0) runner.stop_now();
  drainer.join();
}

int fail(const absl::Status& status) {
  const std::string message(status.message());
  note(spdlog::level::err, {{"event", "failed"}, {"message", message}});
  // Whoever started us reads why from standard output.
  fmt::print("{}\n", message);
  return absl::IsUnavailable(status) ? 69 : 1;
}

int serve(const Arguments& arguments) {
  auto lock = lock_database(arguments);
  if (!lock.ok()) return fail(lock.status());
  const base::Fd signals = signals_fd();
  const Bell bell;
  Daemon daemon{.lock = *std::move(lock)};
  if (const auto status = start(daemon, arguments, bell); !status.ok()) return fail(status);
  note(spdlog::level::info,
       {{"event", "listening"}, {"socket", arguments.socket}, {"database", arguments.db}});
  if (daemon.server->tls_port() != 0)
    note(spdlog::level::info, {{"event", "listening"},
                               {"address", arguments.tls.address},
                               {"port", fmt::format("{}", daemon.server->tls_port())}});
  fmt::print("listening on {}\n", arguments.socket);
  std::fflush(stdout);
  base::tell_service_manager("READY=1");
  wait_for_end(daemon, arguments, signals.get(), bell);
  base::tell_service_manager("STOPPING=1");
  drain(*daemon.runner, signals.get());
  daemon.server.reset();  // before the runner, which it speaks for
  daemon.runner.reset();
  daemon.store.reset();
  note(spdlog::level::info, {{"event", "stopped"}});
  // gRPC's threads are still there: nothing static may be destroyed under them.
  std::fflush(nullptr);
  std::quick_exit(0);
}

void add_tls(CLI::App& app, rpc::TlsOptions& tls) {
  auto* address = app.add_option("--tls-listen", tls.address,
                                 "listen on TCP as well, host:port, for clients with a certificate");
  const auto add_file = [&](const char* name, std::string& file, const char* help) {
    auto* option = app.add_option(name, file, help)->type_name("FILE")->needs(address);
    address->needs(option);
  };
  add_file("--tls-certificate", tls.certificate_file, "the server's certificate with its chain, PEM");
  add_file("--tls-key", tls.key_file, "its key, PEM");
  add_file("--tls-client-ca", tls.client_ca_file, "certificates of who signs clients, PEM");
}

int main_of(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Runs campaigns, keeps their evidence, and answers over a Unix-domain socket.", "hopyardd");
  app.set_version_flag("--version", HOPYARD_VERSION);
  app.add_option("--socket", arguments.socket, "where to listen; default: the database's own socket");
  app.add_option("--db", arguments.db, "the database; default: $XDG_STATE_HOME/hopyard/hopyard.db");
  app.add_option("--log-level", arguments.log_level, "what to log on standard error")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}))
      ->capture_default_str();
  app.add_option("--log-format", arguments.log_format, "key=value text, or JSON, an object a line")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  add_tls(app, arguments.tls);
  app.add_flag("--exit-when-idle", arguments.exit_when_idle,
               "end once standard input is at its end, no campaign is left to run and nobody asks");
  CLI11_PARSE(app, argc, argv);
  if (arguments.db.empty()) arguments.db = base::default_database();
  // Under its one true name: two names would be two locks.
  arguments.db = std::filesystem::weakly_canonical(std::filesystem::absolute(arguments.db));
  if (arguments.socket.empty()) arguments.socket = base::default_socket(arguments.db);
  arguments.socket = std::filesystem::absolute(arguments.socket).lexically_normal();
  set_up_log(arguments);
  return serve(arguments);
}

}  // namespace
}  // namespace hopyard

int main(int argc, char** argv) {
  hopyard::base::hold_standard_descriptors();
  // Whoever read what we log may go; campaigns go on.
  ::signal(SIGPIPE, SIG_IGN);
  try {
    return hopyard::main_of(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hopyardd: %s\n", error.what());
    return 1;
  }
}

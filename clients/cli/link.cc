// SPDX-License-Identifier: Apache-2.0
// Looks for a socket that answers; else starts hopyardd in a session of its own.
#include "cli/link.h"

#include <fcntl.h>
#include <grpc/grpc.h>
#include <grpcpp/grpcpp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/clock.h"
#include "base/lock.h"
#include "base/paths.h"
#include "cli/terminal.h"
#include "fmt/format.h"

extern char** environ;

namespace hopyard::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kStartPatience = 20s;  // a daemon that migrates a large database
constexpr auto kEndPatience = 3s;
constexpr auto kSpeakPatience = 2s;
constexpr int kAttempts = 3;

bool listens(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  // Non-blocking: a daemon that accepts nothing any more lets its queue fill up, and would hold us for ever.
  const base::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
         errno == EAGAIN;
}

// Nothing if the daemon does not speak: one that is ending may still accept.
std::unique_ptr<v1::Hopyard::Stub> connect_to(const std::string& target,
                                              const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  // Kept up until the end of the program: its shut-down can wait ten seconds for a poller (gRPC 1.51).
  static const bool kept = (grpc_init(), true);
  (void)kept;
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);  // the daemon bounds its answers
  const auto channel = grpc::CreateCustomChannel(target, credentials, arguments);
  if (!channel->WaitForConnected(std::chrono::system_clock::now() + kSpeakPatience)) return nullptr;
  return v1::Hopyard::NewStub(channel);
}

struct Started {
  base::Fd lease;  // the daemon's standard input
  base::Fd words;  // its standard output
  base::Fd pidfd;
};

// A session of its own, so that neither the terminal's hang-up nor its Ctrl-C reaches it.
absl::StatusOr<Started> spawn(const std::vector<std::string>& words, const std::string& log) {
  HOPYARD_ASSIGN_OR_RETURN(const base::Fd log_file,
                           base::open_file(log, O_WRONLY | O_CREAT | O_APPEND, 0600));
  HOPYARD_ASSIGN_OR_RETURN(base::Pipe lease, base::make_pipe());
  HOPYARD_ASSIGN_OR_RETURN(base::Pipe output, base::make_pipe());
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, lease.read.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output.write.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, log_file.get(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return base::errno_status("start", words[0], error);
  base::Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return Started{std::move(lease.write), std::move(output.read), std::move(pidfd)};
}

// The daemon says "listening on …" or why it cannot, in one line.
absl::StatusOr<std::string> first_line(int fd) {
  const base::Deadline deadline(kStartPatience);
  std::string line;
  char byte = 0;
  while (true) {
    pollfd entry{fd, POLLIN, 0};
    if (::poll(&entry, 1, deadline.poll_ms()) == 0) return absl::DeadlineExceededError("it says nothing");
    const ssize_t got = ::read(fd, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || byte == '\n') return line;
    line += byte;
  }
}

// Whatever the umask: what is measured is nobody else's to write.
absl::Status make_private_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return base::errno_status("make folder", folder.native());
  return absl::OkStatus();
}

absl::StatusOr<Started> start_daemon(const Options& options) {
  const std::string program = base::program_dir() + "/hopyardd";
  std::error_code error;
  if (!std::filesystem::exists(program, error))
    return absl::NotFoundError(fmt::format("start daemon: {}: not beside this program", program));
  HOPYARD_RETURN_IF_ERROR(make_private_folder(std::filesystem::path(options.db).parent_path()));
  const std::string log = options.db + ".log";
  HOPYARD_ASSIGN_OR_RETURN(
      Started started,
      spawn({program, "--exit-when-idle", "--db", options.db, "--socket", options.socket}, log));
  const auto line = first_line(started.words.get());
  if (line.ok() && line->starts_with("listening")) return started;
  const std::string cause = !line.ok()      ? std::string(line.status().message())
                            : line->empty() ? "it ended"
                                            : *line;
  return absl::UnavailableError(fmt::format("start daemon: {}: {} (its log: {})", program, cause, log));
}

void print_problems(const v1::Problems& problems) {
  for (const auto& problem : problems.problems()) {
    const std::string right = problem.expected().empty() ? "" : "; expected " + problem.expected();
    say(fmt::format("{}:{}:{}: {}{}\n", problem.file(), problem.line(), problem.column(), problem.message(),
                    right));
  }
  if (problems.more() > 0) say(fmt::format("and {} more problems\n", problems.more()));
}

}  // namespace

absl::StatusOr<Link> Link::open_elsewhere(const Options& options) {
  grpc::SslCredentialsOptions tls;
  HOPYARD_ASSIGN_OR_RETURN(tls.pem_root_certs, base::read_file(options.tls_ca));
  HOPYARD_ASSIGN_OR_RETURN(tls.pem_private_key, base::read_file(options.tls_key));
  HOPYARD_ASSIGN_OR_RETURN(tls.pem_cert_chain, base::read_file(options.tls_certificate));
  Link link;
  link.stub_ = connect_to(options.connect, grpc::SslCredentials(tls));
  if (link.stub_ != nullptr) return link;
  return absl::UnavailableError(
      fmt::format("connect: {}: no daemon that knows our certificate, and whose we know, answers there",
                  options.connect));
}

absl::StatusOr<Link> Link::open(const Options& options, WithoutDaemon without) {
  if (!options.connect.empty()) return open_elsewhere(options);
  const bool may_start = without == WithoutDaemon::kStart ||
                         (without == WithoutDaemon::kStartUnlessNamed && !options.socket_given);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Link link;
    if (!listens(options.socket)) {
      if (!may_start)
        return absl::UnavailableError(
            fmt::format("no daemon listens on {}; start one with: hopyardd --db {} --socket {}",
                        options.socket, options.db, options.socket));
      const absl::Status started = link.start_private(options);
      if (!started.ok()) return absl::UnavailableError(started.message());
    }
    link.stub_ = connect_to("unix:" + options.socket, grpc::InsecureChannelCredentials());
    if (link.stub_ != nullptr) return link;
  }
  struct stat info {};
  const bool foreign = ::stat(options.socket.c_str(), &info) == 0 && info.st_uid != ::getuid();
  return absl::UnavailableError(
      fmt::format("connect: {}: the daemon there {}", options.socket,
                  foreign ? "is another user's, and answers only them" : "does not answer"));
}

// One at a time: of several commands started at once only the first starts a daemon.
absl::Status Link::start_private(const Options& options) {
  HOPYARD_RETURN_IF_ERROR(make_private_folder(std::filesystem::path(options.socket).parent_path()));
  HOPYARD_ASSIGN_OR_RETURN(
      const base::FileLock lock,
      base::FileLock::take(options.socket + ".start", "another command that starts it", kStartPatience));
  if (listens(options.socket)) return absl::OkStatus();
  HOPYARD_ASSIGN_OR_RETURN(Started started, start_daemon(options));
  lease_ = std::move(started.lease);
  pidfd_ = std::move(started.pidfd);
  return absl::OkStatus();
}

Link::~Link() {
  stub_.reset();
  if (!lease_.valid()) return;
  lease_.reset();
  pollfd entry{pidfd_.get(), POLLIN, 0};
  if (wait_) ::poll(&entry, 1, static_cast<int>(std::chrono::milliseconds(kEndPatience).count()));
}

int report(const grpc::Status& status) {
  v1::Problems problems;
  if (status.error_code() == grpc::StatusCode::INVALID_ARGUMENT && !status.error_details().empty() &&
      problems.ParseFromString(status.error_details())) {
    print_problems(problems);
    return kUsage;
  }
  say(fmt::format("hopyard: {}\n", status.error_message()));
  switch (status.error_code()) {
    case grpc::StatusCode::INVALID_ARGUMENT:
      return kUsage;
    case grpc::StatusCode::UNAVAILABLE:
      return kNoDaemon;
    default:
      return kFailed;
  }
}

int report(const absl::Status& status) {
  say(fmt::format("hopyard: {}\n", std::string(status.message())));
  return absl::IsUnavailable(status) ? kNoDaemon : absl::IsInvalidArgument(status) ? kUsage : kFailed;
}

std::string same_daemon(const Options& options) {
  std::string text;
  if (options.db != base::default_database()) text += " --db " + options.db;
  if (options.socket_given) text += " --socket " + options.socket;
  if (!options.connect.empty()) text = " --connect " + options.connect;
  return text;
}

}  // namespace hopyard::cli

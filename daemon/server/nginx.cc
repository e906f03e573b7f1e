// SPDX-License-Identifier: Apache-2.0
// Files, start, readiness by connecting, stop.
#include "server/nginx.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/text.h"
#include "fmt/format.h"
#include "server/config.h"
#include "server/memory_log.h"
#include "server/trace.h"

namespace hopyard::server {
namespace {

using namespace std::chrono_literals;

constexpr auto kReadinessInterval = 1ms;
constexpr size_t kLastWordsBytes = 4096;
constexpr size_t kLogLimitBytes = 16u << 20;

// bytes(range(256)) repeated: the fixture every response body is compared with.
absl::Status write_body(const std::string& path, uint64_t bytes) {
  HOPYARD_ASSIGN_OR_RETURN(base::Fd fd, base::open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0644));
  std::string chunk(65536, '\0');
  for (size_t i = 0; i < chunk.size(); ++i) chunk[i] = static_cast<char>(i % 256);
  for (uint64_t left = bytes; left > 0;) {
    const uint64_t n = std::min<uint64_t>(left, chunk.size());
    HOPYARD_RETURN_IF_ERROR(
        base::annotate(base::write_all(fd.get(), std::string_view(chunk).substr(0, n)), "write body", path));
    left -= n;
  }
  // Last-Modified and ETag come from here: fixed, so that response headers have one length everywhere.
  const timespec times[2] = {{1'600'000'000, 0}, {1'600'000'000, 0}};
  if (::futimens(fd.get(), times) != 0) return base::errno_status("set file time", path);
  return absl::OkStatus();
}

absl::Status write_files(const ServerSpec& spec, const std::string& config) {
  const std::string bodies = spec.directory + "/" + kBodiesFolder;
  for (const std::string& folder : {spec.directory, bodies}) {
    if (::mkdir(folder.c_str(), 0755) != 0) return base::errno_status("make folder", folder);
  }
  for (const uint64_t bytes : spec.body_bytes) {
    HOPYARD_RETURN_IF_ERROR(write_body(fmt::format("{}/{}", bodies, bytes), bytes));
  }
  const auto path = [&spec](const char* name) { return spec.directory + "/" + name; };
  HOPYARD_RETURN_IF_ERROR(base::write_file(path(kCertificateFile), spec.certificate->certificate_pem));
  HOPYARD_RETURN_IF_ERROR(base::write_file(path(kKeyFile), spec.certificate->key_pem, 0600));
  // A server that dies before it logs has an empty log, not none.
  HOPYARD_RETURN_IF_ERROR(base::write_file(path(kLogFile), ""));
  return base::write_file(path(kConfigFile), config);
}

// Half a body's size: a response in records of 1 KiB takes less than 0.3 of it, in larger ones less. nginx
// fills all of it when it starts, and a guest has not more memory to give.
size_t log_bytes_for(const ServerSpec& spec) {
  constexpr uint64_t kAlways = 128u << 10, kForARequest = 16u << 10, kMost = 32u << 20;
  uint64_t bytes = kAlways;
  for (const uint64_t body_bytes : spec.body_bytes) bytes += kForARequest + body_bytes / 2;
  return std::min(bytes, kMost);
}

// Runs `function` in the server's namespace: children and sockets made there stay there.
template <typename Function>
auto in_namespace(const ServerSpec& spec, Function function) {
  return spec.ns != nullptr ? spec.ns->run(function) : function();
}

std::string output_path(const ServerSpec& spec) { return spec.directory + "/output"; }

// nginx checks its configuration before it does anything else: there is no need to have it checked first.
absl::StatusOr<base::Child> start_child(const ServerSpec& spec) {
  HOPYARD_ASSIGN_OR_RETURN(const base::Fd output,
                           base::open_file(output_path(spec), O_WRONLY | O_CREAT | O_TRUNC, 0600));
  base::ChildOptions options;
  options.argv = {spec.nginx_path, "-p", spec.directory + "/", "-c", kConfigFile, "-e", kLogFile};
  options.environment = std::vector<std::string>{"PATH=/usr/bin:/bin", "LC_ALL=C"};
  options.working_directory = spec.directory;
  options.stdout_fd = options.stderr_fd = output.get();
  return in_namespace(spec, [&options] { return base::Child::start(options); });
}

// True once a connection was accepted into the listening socket's queue.
absl::StatusOr<bool> try_connect(const ServerSpec& spec) {
  return in_namespace(spec, [&spec]() -> absl::StatusOr<bool> {
    const base::Endpoint& endpoint = spec.listen.endpoint;
    base::Fd fd(::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd.valid()) return base::errno_status("make socket", spec.listen.text);
    if (::connect(fd.get(), endpoint.get(), endpoint.length) == 0) return true;
    if (errno == ECONNREFUSED || errno == ENOENT) return false;
    return base::errno_status("connect", spec.listen.text);
  });
}

// What a server that does not serve said: on its output, where a refused configuration is named, or in its
// log.
std::string last_words(const ServerSpec& spec) {
  const auto output = base::read_file(output_path(spec), kLogLimitBytes);
  if (output.ok() && !output->empty()) return std::string(base::cut_utf8(*output, kLastWordsBytes));
  const auto log = base::read_file(spec.directory + "/" + kLogFile, kLogLimitBytes);
  return log.ok() ? parse_log(*log).errors : std::string(log.status().message());
}

absl::Status wait_until_ready(const ServerSpec& spec, base::Child& child) {
  const base::Deadline deadline(spec.start_timeout);
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool ready, try_connect(spec));
    if (ready) return absl::OkStatus();
    // Woken by its death, else after the interval: nginx tells nobody when it begins to listen.
    if (const auto ended = child.wait(kReadinessInterval); ended.ok()) {
      return absl::AbortedError(fmt::format("start nginx: {}: ended with {}: {}", spec.nginx_path,
                                            ended->describe(), last_words(spec)));
    }
    if (deadline.passed()) {
      return absl::AbortedError(
          fmt::format("start nginx: {}: does not accept connections: {}", spec.nginx_path, last_words(spec)));
    }
  }
}

v1::ServerEvidence evidence_of(const base::ChildExit& exit, const std::string& config) {
  v1::ServerEvidence evidence;
  evidence.set_exit_code(exit.exit_code);
  evidence.set_signal(exit.signal);
  evidence.set_user_cpu_ns(exit.user_cpu_ns);
  evidence.set_system_cpu_ns(exit.system_cpu_ns);
  evidence.set_max_rss_bytes(exit.max_rss_bytes);
  evidence.set_config(config);
  return evidence;
}

}  // namespace

absl::StatusOr<Listen> listen_ipv4(const std::string& address, uint16_t port) {
  HOPYARD_ASSIGN_OR_RETURN(const base::Endpoint endpoint, base::ipv4_endpoint(address, port));
  return Listen{fmt::format("{}:{}", address, port), endpoint};
}

absl::StatusOr<Listen> listen_unix(const std::string& path) {
  HOPYARD_ASSIGN_OR_RETURN(const base::Endpoint endpoint, base::unix_endpoint(path));
  return Listen{"unix:../" + path.substr(path.rfind('/') + 1), endpoint};
}

NginxServer::NginxServer(ServerSpec spec, std::string config, base::Child child)
    : spec_(std::move(spec)), config_(std::move(config)), child_(std::move(child)) {}

absl::StatusOr<NginxServer> NginxServer::start(ServerSpec spec) {
  base::adopt_orphans();
  auto started = try_start(std::move(spec));
  if (!started.ok()) base::end_orphans();
  return started;
}

absl::StatusOr<NginxServer> NginxServer::try_start(ServerSpec spec) {
  std::string config = render_config(spec.settings, {.listen = spec.listen.text,
                                                     .send_buffer_bytes = spec.send_buffer_bytes,
                                                     .log_bytes = log_bytes_for(spec)});
  HOPYARD_RETURN_IF_ERROR(write_files(spec, config));
  HOPYARD_ASSIGN_OR_RETURN(base::Child child, start_child(spec));
  HOPYARD_RETURN_IF_ERROR(wait_until_ready(spec, child));
  return NginxServer(std::move(spec), std::move(config), std::move(child));
}

absl::StatusOr<v1::ServerEvidence> NginxServer::stop(std::chrono::nanoseconds grace) {
  const base::Deadline deadline(grace);
  const auto log = read_memory_log(child_.pid(), log_bytes_for(spec_), grace);
  HOPYARD_ASSIGN_OR_RETURN(const base::ChildExit exit, child_.stop(deadline.left(), SIGQUIT));
  const int left = base::end_orphans();
  v1::ServerEvidence evidence = evidence_of(exit, config_);
  HOPYARD_ASSIGN_OR_RETURN(const std::string notices,
                           base::read_file(spec_.directory + "/" + kLogFile, kLogLimitBytes));
  HOPYARD_RETURN_IF_ERROR(log.status());
  Trace trace = parse_log(*log);
  Trace said = parse_log(notices);
  evidence.set_nginx_version(said.nginx_version);
  if (left > 0) said.errors += fmt::format("processes left behind: {}\n", left);
  evidence.set_errors(said.errors);
  if (trace.connections.size() > 1) {
    return absl::InternalError(
        fmt::format("read server log: {}: {} connections made requests, one was expected", spec_.directory,
                    trace.connections.size()));
  }
  if (trace.connections.empty()) return evidence;
  for (auto& write : trace.connections.front().writes) *evidence.add_writes() = std::move(write);
  for (auto& event : trace.connections.front().fragments) *evidence.add_fragments() = std::move(event);
  return evidence;
}

}  // namespace hopyard::server

// SPDX-License-Identifier: Apache-2.0
// gRPC's own Unix listener does not look at the peer, so connections are accepted and judged here.
#include "rpc/listener.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>

#include "fmt/format.h"

namespace hopyard::rpc {
namespace {

absl::StatusOr<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    return absl::InvalidArgumentError(fmt::format("listen: {}: a socket path has 1 to {} bytes, this one {}",
                                                  path, sizeof address.sun_path - 1, path.size()));
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

absl::Status make_folder(const ListenerOptions& options) {
  const std::filesystem::path folder = std::filesystem::path(options.path).parent_path();
  std::error_code error;
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return absl::OkStatus();
  std::filesystem::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), options.folder_mode) != 0 && errno != EEXIST)
    return base::errno_status("make folder", folder.native());
  return absl::OkStatus();
}

// We hold the path's lock: a socket that lies there is a dead daemon's.
absl::Status remove_stale(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0)
    return errno == ENOENT ? absl::OkStatus() : base::errno_status("look at", path);
  if (!S_ISSOCK(info.st_mode))
    return absl::FailedPreconditionError(
        fmt::format("listen: {}: something that is no socket is there", path));
  if (::unlink(path.c_str()) != 0) return base::errno_status("remove stale socket", path);
  return absl::OkStatus();
}

absl::StatusOr<base::Fd> listen_at(const ListenerOptions& options) {
  HOPYARD_ASSIGN_OR_RETURN(const sockaddr_un address, address_of(options.path));
  base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return base::errno_status("make socket", options.path);
  // The mode is set before bind makes the file, so that there is no instant with a wider one.
  if (::fchmod(socket.get(), options.mode) != 0) return base::errno_status("set mode", options.path);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return base::errno_status("bind", options.path);
  if (::chmod(options.path.c_str(), options.mode) != 0) return base::errno_status("set mode", options.path);
  if (::listen(socket.get(), 64) != 0) return base::errno_status("listen", options.path);
  return socket;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::bind(const ListenerOptions& options) {
  HOPYARD_RETURN_IF_ERROR(address_of(options.path).status());
  HOPYARD_RETURN_IF_ERROR(make_folder(options));
  HOPYARD_ASSIGN_OR_RETURN(base::FileLock lock, base::FileLock::take(options.path + ".lock",
                                                                     fmt::format("process {}", ::getpid())));
  HOPYARD_RETURN_IF_ERROR(remove_stale(options.path));
  HOPYARD_ASSIGN_OR_RETURN(base::Fd socket, listen_at(options));
  HOPYARD_ASSIGN_OR_RETURN(base::Pipe stop, base::make_pipe());
  return std::unique_ptr<Listener>(
      new Listener(options, std::move(lock), std::move(socket), std::move(stop)));
}

Listener::~Listener() { stop(); }

void Listener::serve(Accepted accepted) {
  thread_ = std::thread([this, accepted = std::move(accepted)] { accept_loop(accepted); });
}

void Listener::stop() {
  stop_.write.reset();  // the loop sees the hang-up
  if (thread_.joinable()) thread_.join();
  if (!socket_.valid()) return;
  // The name goes before the socket: whoever still finds it is refused rather than left waiting.
  ::unlink(options_.path.c_str());
  socket_.reset();
}

void Listener::accept_loop(const Accepted& accepted) const {
  pollfd fds[] = {{socket_.get(), POLLIN, 0}, {stop_.read.get(), POLLIN, 0}};
  while (true) {
    if (::poll(fds, 2, -1) < 0) continue;  // EINTR
    if (fds[1].revents != 0) return;
    base::Fd connection(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection.valid() && allows(connection.get())) accepted(std::move(connection));
  }
}

bool Listener::allows(int connection) const {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == options_.allowed;
}

}  // namespace hopyard::rpc

// SPDX-License-Identifier: Apache-2.0
// Starting, talking to and ending one worker.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "execute/execution.h"
#include "execute/guest.h"
#include "execute/order_file.h"
#include "execute/worker_program.h"
#include "fmt/format.h"
#include "hopyard/v1/worker.pb.h"

namespace hopyard::execute {
namespace {

using base::Fd;

// Killing all of a guest takes the kernel a few ms; this is for a machine under load.
constexpr std::chrono::seconds kEndGrace{10};
// A worker reads its job as soon as it has said Hello.
constexpr std::chrono::seconds kTakeGrace{30};
constexpr off_t kLogTailBytes = 4096;

// When the first second of every virtual clock begins: any moment would do, as long as it is always the same.
constexpr int64_t kVirtualStartNs = 1'800'000'000'000'000'000;

template <typename Ends>
absl::StatusOr<base::Child> start_on_host(const std::string& worker, const Ends& ends) {
  base::ChildOptions options;
  options.argv = {worker, "--host"};
  options.stdin_fd = ends.in;
  options.stdout_fd = ends.out;
  options.stderr_fd = ends.log;
  options.parent_death_signal = 0;   // would come with the end of this thread; the guard watches the pipe
  options.new_process_group = true;  // a terminal's Ctrl-C is not for the worker
  return base::Child::start(options);
}

template <typename Ends>
GuestSpec guest_spec(const KernelOption& kernel, const std::string& worker, const Ends& ends) {
  GuestSpec spec;
  spec.kernel = kernel.program;
  spec.kernel_options = kernel.boot_options;
  spec.init_path = worker;
  spec.init_args = {"--guest-init"};
  spec.serial_in = ends.in;
  spec.serial_out = ends.out;
  spec.console_fd = ends.log;
  spec.keeper = {worker, "--keep-guest"};
  return spec;
}

// A guest of one trial needs less memory than one of many, and less of it is quicker to set up.
uint32_t memory_mib_for(const v1::ToWorker& message) {
  constexpr uint64_t kFewBytes = 16u << 20;
  uint64_t body_bytes = 0;
  for (const auto& trial : message.job().trials()) {
    for (const auto& request : trial.workload().requests()) body_bytes += request.body_bytes();
  }
  return body_bytes <= kFewBytes ? 256 : GuestSpec().memory_mib;
}

// Everything by which one guest could differ from the next is fixed.
std::vector<std::string> virtual_clock_options(uint64_t seed) {
  return {"time-travel=inf-cpu", fmt::format("time-travel-start={}", kVirtualStartNs), "norandmaps",
          fmt::format("random.fixed_seed={}", seed)};
}

// Writing to a worker that has ended must be an error, whatever the program does about SIGPIPE.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec now{};
    if (!was_pending_) ::sigtimedwait(&pipe_, nullptr, &now);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

absl::Status ended(const absl::Status& status) {
  return absl::UnavailableError(
      fmt::format("talk to worker: it has ended: {}", std::string(status.message())));
}

}  // namespace

WorkerSession::WorkerSession(base::Child guard, Fd to_worker, Fd from_worker, Fd log)
    : guard_(std::move(guard)),
      to_worker_(std::move(to_worker)),
      from_worker_(std::move(from_worker)),
      log_(std::move(log)) {
  ::fcntl(to_worker_.get(), F_SETFL, O_NONBLOCK);  // a worker that reads nothing must not hold us
}

WorkerSession::~WorkerSession() {
  // The guard ends the others first and then itself; killed outright it would leave that to the kernel, which
  // does it a moment later.
  to_worker_.reset();
  (void)guard_.wait(kEndGrace);
}

absl::StatusOr<std::unique_ptr<WorkerSession>> WorkerSession::start(const KernelOption& kernel,
                                                                    base::Deadline deadline,
                                                                    std::stop_token stop) {
  const auto starter = [&kernel](const std::string& worker, const Ends& ends) {
    return kernel.program.empty() ? start_on_host(worker, ends)
                                  : start_guest(guest_spec(kernel, worker, ends));
  };
  return start_with(kernel, starter, deadline, std::move(stop));
}

absl::StatusOr<std::unique_ptr<WorkerSession>> WorkerSession::start_virtual(const KernelOption& kernel,
                                                                            const v1::ToWorker& message,
                                                                            uint64_t seed,
                                                                            base::Deadline deadline,
                                                                            std::stop_token stop) {
  HOPYARD_ASSIGN_OR_RETURN(const OrderFile order, OrderFile::make(message.SerializeAsString()));
  const auto starter = [&](const std::string& worker, const Ends& ends) {
    GuestSpec spec = guest_spec(kernel, worker, ends);
    spec.init_args.push_back(order.path());
    spec.memory_mib = memory_mib_for(message);
    for (auto& option : virtual_clock_options(seed)) spec.kernel_options.push_back(std::move(option));
    return start_guest(spec);
  };
  // The guest has read its order when it says Hello.
  return start_with(kernel, starter, deadline, std::move(stop));
}

absl::StatusOr<std::unique_ptr<WorkerSession>> WorkerSession::start_with(const KernelOption& kernel,
                                                                         const Starter& starter,
                                                                         base::Deadline deadline,
                                                                         std::stop_token stop) {
  HOPYARD_ASSIGN_OR_RETURN(const std::string worker, worker_program());
  HOPYARD_ASSIGN_OR_RETURN(base::Pipe down, base::make_pipe());
  HOPYARD_ASSIGN_OR_RETURN(base::Pipe up, base::make_pipe());
  Fd log(::memfd_create("worker-log", MFD_CLOEXEC));
  if (!log.valid()) return base::errno_status("memfd_create", "worker log");
  HOPYARD_ASSIGN_OR_RETURN(base::Child guard,
                           starter(worker, Ends{down.read.get(), up.write.get(), log.get()}));
  std::unique_ptr<WorkerSession> session(
      new WorkerSession(std::move(guard), std::move(down.write), std::move(up.read), std::move(log)));
  up.write.reset();  // so that the worker's end is seen
  const absl::Status greeted = [&] {
    const std::stop_callback cancel(stop, [&session] { (void)session->cancel(); });
    return session->await_hello(deadline);
  }();
  if (greeted.ok()) return session;
  session->to_worker_.reset();
  (void)session->guard_.wait(kEndGrace);
  return absl::Status(greeted.code(), fmt::format("start worker: {} {}: {}\n{}", kernel.name, kernel.release,
                                                  std::string(greeted.message()), session->log_tail()));
}

absl::Status WorkerSession::await_hello(base::Deadline deadline) {
  HOPYARD_ASSIGN_OR_RETURN(v1::FromWorker message, receive(deadline));
  if (message.has_fatal()) return absl::FailedPreconditionError(message.fatal().reason());
  if (!message.has_hello()) return absl::DataLossError("hello: first message: not a Hello");
  hello_ = std::make_unique<v1::Hello>(std::move(*message.mutable_hello()));
  return absl::OkStatus();
}

absl::Status WorkerSession::send(const v1::ToWorker& message) {
  const WithoutSigpipe guarded;
  const absl::Status sent =
      base::write_frame(to_worker_.get(), message.SerializeAsString(), base::Deadline(kTakeGrace));
  return sent.ok() || absl::IsInvalidArgument(sent) ? sent : ended(sent);
}

// Where the machine forbids namespaces, helpers of a killed guest may go on holding its end of the pipe: the
// guard's own end then tells that nothing more comes.
absl::Status WorkerSession::await_bytes(base::Deadline deadline) const {
  if (decoder_.pending_bytes() > 0) return absl::OkStatus();
  pollfd events[] = {{from_worker_.get(), POLLIN, 0}, {guard_.pidfd(), POLLIN, 0}};
  while (::poll(events, 2, deadline.poll_ms()) < 0) {
    if (errno != EINTR) return base::errno_status("poll", "worker");
  }
  const bool only_its_end = events[0].revents == 0 && events[1].revents != 0;
  return only_its_end ? absl::OutOfRangeError("read frame: stream: its guard has ended") : absl::OkStatus();
}

absl::StatusOr<v1::FromWorker> WorkerSession::receive(base::Deadline deadline) {
  if (const absl::Status bytes = await_bytes(deadline); !bytes.ok()) return ended(bytes);
  const auto frame = base::read_frame(from_worker_.get(), decoder_, deadline);
  if (absl::IsOutOfRange(frame.status()) || absl::IsDataLoss(frame.status())) return ended(frame.status());
  if (!frame.ok()) return frame.status();
  v1::FromWorker message;
  if (!message.ParseFromString(*frame)) {
    return absl::DataLossError("talk to worker: frame: not a FromWorker message");
  }
  return message;
}

absl::Status WorkerSession::cancel() {
  // By pidfd: the number may be somebody else's once another thread has reaped.
  if (::syscall(SYS_pidfd_send_signal, guard_.pidfd(), SIGTERM, nullptr, 0) != 0 && errno != ESRCH) {
    return base::errno_status("signal", "worker's guard");
  }
  return absl::OkStatus();
}

absl::StatusOr<SessionEnd> WorkerSession::finish(base::Deadline deadline) {
  auto exit = guard_.wait(std::max(deadline.left(), std::chrono::nanoseconds(0)));
  if (absl::IsDeadlineExceeded(exit.status())) {
    to_worker_.reset();
    exit = guard_.wait(kEndGrace);
    if (absl::IsDeadlineExceeded(exit.status())) exit = guard_.stop(std::chrono::seconds(0), SIGKILL);
  }
  if (!exit.ok()) return exit.status();
  return SessionEnd{*exit, log_tail()};
}

std::string WorkerSession::log_tail() const {
  const off_t size = ::lseek(log_.get(), 0, SEEK_END);
  std::string text(static_cast<size_t>(std::min(size, kLogTailBytes)), '\0');
  const ssize_t n = ::pread(log_.get(), text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(static_cast<size_t>(std::max<ssize_t>(n, 0)));
  return text;
}

}  // namespace hopyard::execute

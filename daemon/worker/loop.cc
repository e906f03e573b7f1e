// SPDX-License-Identifier: Apache-2.0
// One job over frames.
#include "worker/loop.h"

#include <sys/utsname.h>

#include "base/clock.h"
#include "base/frames.h"
#include "base/text.h"
#include "lab/capabilities.h"

namespace hopyard::worker {
namespace {

absl::Status send(int out, const v1::FromWorker& message) {
  return base::write_frame(out, message.SerializeAsString());
}

// A job may wait for a campaign's turn; whoever sends it ends the worker by closing the pipe.
constexpr std::chrono::hours kPatience{24 * 365};

absl::StatusOr<v1::ToWorker> receive(int in) {
  base::FrameDecoder decoder;
  HOPYARD_ASSIGN_OR_RETURN(const std::string frame, base::read_frame(in, decoder, base::Deadline(kPatience)));
  return parse_order(frame);
}

absl::Status say_hello(int out, const v1::Hello& hello) {
  v1::FromWorker first;
  *first.mutable_hello() = hello;
  return send(out, first);
}

// A step that cannot be sent is no reason to end a trial: the result will not get through either.
void send_step(int out, const char* name) {
  v1::FromWorker message;
  message.mutable_step()->set_name(name);
  (void)send(out, message);
}

absl::Status run_job(int out, const v1::Job& job, const Work& work) {
  Work::Steps steps;
  if (job.tell_steps()) steps = [out](const char* name) { send_step(out, name); };
  for (const v1::TrialSpec& spec : job.trials()) {
    v1::FromWorker started;
    started.mutable_started()->set_trial_id(spec.trial_id());
    HOPYARD_RETURN_IF_ERROR(send(out, started));
    v1::FromWorker finished;
    *finished.mutable_result() = work.trial(spec, steps);
    HOPYARD_RETURN_IF_ERROR(send(out, finished));
  }
  return absl::OkStatus();
}

absl::Status run_gate(int out, const v1::GateJob& job, const Work& work) {
  v1::FromWorker answer;
  *answer.mutable_gate() = work.gate(job);
  return send(out, answer);
}

absl::Status obey(int out, const v1::ToWorker& message, const Work& work) {
  switch (message.message_case()) {
    case v1::ToWorker::kJob:
      return run_job(out, message.job(), work);
    case v1::ToWorker::kGate:
      return run_gate(out, message.gate(), work);
    case v1::ToWorker::MESSAGE_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("read job: message: asks for nothing this worker knows");
}

absl::Status answer(int out, const absl::StatusOr<v1::ToWorker>& message, const Work& work) {
  const absl::Status done = message.ok() ? obey(out, *message, work) : message.status();
  if (!done.ok()) {
    (void)send_fatal(out, done);  // if this fails too, `done` is the better reason
    return done;
  }
  v1::FromWorker last;
  last.mutable_done();
  return send(out, last);
}

}  // namespace

absl::StatusOr<v1::ToWorker> parse_order(const std::string& bytes) {
  v1::ToWorker message;
  if (!message.ParseFromString(bytes)) return absl::DataLossError("read job: frame: not a ToWorker message");
  return message;
}

absl::Status send_fatal(int out, const absl::Status& why) {
  v1::FromWorker message;
  message.mutable_fatal()->set_reason(base::printable(std::string(why.message())));
  return send(out, message);
}

absl::Status serve(int in, int out, const v1::Hello& hello, const Work& work) {
  HOPYARD_RETURN_IF_ERROR(say_hello(out, hello));
  const auto message = receive(in);
  if (absl::IsOutOfRange(message.status())) return message.status();  // nobody is there any more
  return answer(out, message, work);
}

absl::Status serve_order(const absl::StatusOr<v1::ToWorker>& order, int out, const v1::Hello& hello,
                         const Work& work) {
  HOPYARD_RETURN_IF_ERROR(say_hello(out, hello));
  return answer(out, order, work);
}

v1::Hello make_hello(bool guest) {
  utsname names{};
  ::uname(&names);
  v1::Hello hello;
  hello.set_kernel_release(names.release);
  hello.set_kernel_version(names.version);
  hello.set_guest(guest);
  for (const auto& name : lab::allowed_congestion_controls()) hello.add_congestion_controls(name);
  hello.set_boot_ns(base::monotonic_ns());
  return hello;
}

}  // namespace hopyard::worker

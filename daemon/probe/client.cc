// SPDX-License-Identifier: Apache-2.0
// The steps of a run and the event loop they share.
#include "probe/client.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/text.h"
#include "hopyard/v1/campaign.pb.h"
#include "hopyard/v1/result.pb.h"
#include "probe/evidence.h"
#include "probe/h1.h"
#include "probe/h2.h"

namespace hopyard::probe {
namespace {

std::string seconds(std::chrono::nanoseconds duration) {
  return absl::StrCat(std::chrono::duration<double>(duration).count(), " s");
}

std::string_view alpn_of(const v1::Workload& workload) {
  return workload.protocol() == "h2" ? "h2" : "http/1.1";
}

// Room for records of 1 KiB, and for the handshake.
size_t expected_records(const v1::Workload& workload) {
  uint64_t bytes = 0;
  for (const v1::Request& request : workload.requests()) bytes += request.body_bytes();
  return static_cast<size_t>(bytes / 1024 + 256);
}

}  // namespace

Client::Client(ProbeSpec spec)
    : spec_(std::move(spec)),
      sink_([this](std::span<const uint8_t> plaintext, int64_t ns) { return receive(plaintext, ns); }) {}

absl::Status Client::perform() {
  const absl::Status status = attempt();
  if (!status.ok() && channel_) {
    // The server may be told why by an alert or a GOAWAY; its own end is no longer waited for.
    (void)give_output();
    (void)channel_->flush();
  }
  return status;
}

absl::Status Client::attempt() {
  HOPYARD_RETURN_IF_ERROR(set_up());
  HOPYARD_RETURN_IF_ERROR(channel_->connect(spec_.endpoint, base::Deadline(spec_.deadlines.connect).at_ns()));
  HOPYARD_RETURN_IF_ERROR(handshake());
  HOPYARD_RETURN_IF_ERROR(settle());
  if (spec_.settled) spec_.settled();
  HOPYARD_RETURN_IF_ERROR(exchange());
  if (spec_.completed) spec_.completed();
  return finish();
}

absl::Status Client::set_up() {
  const v1::Workload& workload = *spec_.workload;
  if (workload.protocol() != "h1" && workload.protocol() != "h2") {
    return absl::InvalidArgumentError(
        absl::StrCat("read workload: protocol '", workload.protocol(), "': not h1 or h2"));
  }
  HOPYARD_ASSIGN_OR_RETURN(schedule_, Schedule::make(workload));
  for (const v1::Request& request : workload.requests()) {
    meters_.emplace_back(request.name(), workload.protocol(), request.body_bytes());
  }
  if (workload.protocol() == "h2") {
    HOPYARD_ASSIGN_OR_RETURN(session_, H2Session::make(meters_));
  } else {
    session_ = std::make_unique<H1Session>(meters_);
  }
  // Queued now: a server may speak before it has our Finished, and the answer must come after our SETTINGS.
  HOPYARD_RETURN_IF_ERROR(session_->start());
  HOPYARD_ASSIGN_OR_RETURN(TlsEngine engine, TlsEngine::make(kHostName, alpn_of(workload)));
  channel_.emplace(std::move(spec_.socket), std::move(engine), expected_records(workload), spec_.read_pause);
  return absl::OkStatus();
}

absl::Status Client::closed_early(std::string_view attempt) const {
  return absl::UnavailableError(absl::StrCat(std::string(attempt), ": server: ", channel_->closed_how()));
}

template <typename Done>
absl::Status Client::step_until(std::string_view attempt, int64_t until_ns, Done done) {
  while (!done()) {
    HOPYARD_ASSIGN_OR_RETURN(const Channel::Step step, channel_->step(until_ns, sink_));
    if (step == Channel::Step::closed) return done() ? absl::OkStatus() : closed_early(attempt);
    if (!done() && channel_->now_ns() >= until_ns) {
      return absl::DeadlineExceededError(absl::StrCat(std::string(attempt), ": server: no end in time"));
    }
  }
  return absl::OkStatus();
}

absl::Status Client::handshake() {
  const int64_t until_ns = base::Deadline(spec_.deadlines.handshake).at_ns();
  HOPYARD_RETURN_IF_ERROR(channel_->start_handshake());
  HOPYARD_RETURN_IF_ERROR(
      step_until("handshake", until_ns, [&] { return channel_->handshake_done_ns() != 0; }));
  const std::string chosen = channel_->engine().alpn();
  if (chosen != alpn_of(*spec_.workload)) {
    return absl::AbortedError(absl::StrCat("handshake: server: chose ALPN '", chosen, "', offered ",
                                           std::string(alpn_of(*spec_.workload))));
  }
  return absl::OkStatus();
}

absl::Status Client::settle() {
  if (spec_.workload->protocol() == "h1") {
    settled_ns_ = channel_->handshake_done_ns();
    return absl::OkStatus();
  }
  const int64_t until_ns = base::Deadline(spec_.deadlines.settle).at_ns();
  HOPYARD_RETURN_IF_ERROR(give_output());
  HOPYARD_RETURN_IF_ERROR(step_until("settle HTTP/2", until_ns, [&] {
    // Our acknowledgement must have gone, too.
    return session_->settled() && channel_->queued_bytes() == channel_->taken_bytes();
  }));
  settled_ns_ = base::monotonic_ns();
  return absl::OkStatus();
}

absl::Status Client::exchange() {
  exchanging_ = true;
  const auto all_complete = [&] {
    return std::all_of(meters_.begin(), meters_.end(),
                       [](const ResponseMeter& meter) { return meter.complete(); });
  };
  HOPYARD_RETURN_IF_ERROR(dispatch());
  while (!all_complete()) {
    const int64_t until_ns = next_event_ns();
    HOPYARD_ASSIGN_OR_RETURN(const Channel::Step step, channel_->step(until_ns, sink_));
    note_written();
    if (all_complete()) break;
    if (step == Channel::Step::closed) return closed_early("exchange");
    HOPYARD_RETURN_IF_ERROR(check_deadlines());
    HOPYARD_RETURN_IF_ERROR(dispatch());
  }
  return absl::OkStatus();
}

absl::Status Client::finish() {
  const int64_t until_ns = base::Deadline(spec_.deadlines.shutdown).at_ns();
  exchanging_ = false;
  HOPYARD_RETURN_IF_ERROR(session_->finish());
  HOPYARD_RETURN_IF_ERROR(give_output());
  HOPYARD_RETURN_IF_ERROR(channel_->close());
  while (base::monotonic_ns() < until_ns) {
    HOPYARD_ASSIGN_OR_RETURN(const Channel::Step step, channel_->step(until_ns, sink_));
    if (step != Channel::Step::moved) break;
  }
  return absl::OkStatus();
}

absl::Status Client::receive(std::span<const uint8_t> plaintext, int64_t decrypted_ns) {
  HOPYARD_RETURN_IF_ERROR(session_->receive(plaintext, decrypted_ns));
  HOPYARD_RETURN_IF_ERROR(give_output());
  if (!exchanging_) return absl::OkStatus();
  schedule_->observe(meters_, decrypted_ns);
  // A request triggered by this record goes out before the next record is opened.
  return dispatch();
}

absl::Status Client::dispatch() {
  while (session_->can_request()) {
    const auto index = schedule_->take_due(meters_, channel_->now_ns());
    if (!index) break;
    HOPYARD_RETURN_IF_ERROR(send(*index));
  }
  return absl::OkStatus();
}

absl::Status Client::send(size_t index) {
  ResponseMeter& meter = meters_[index];
  if (const int64_t stall_ns = schedule_->stall_ns(index); stall_ns > 0) {
    base::sleep_until(base::monotonic_ns() + stall_ns);
  }
  if (schedule_->is_later(index) && spec_.before_request) spec_.before_request(meter.role());
  HOPYARD_RETURN_IF_ERROR(session_->request(index));
  HOPYARD_ASSIGN_OR_RETURN(const auto bytes, session_->output());
  meter.started(base::monotonic_ns(), schedule_->awaited_bytes(index, meters_));
  HOPYARD_RETURN_IF_ERROR(channel_->seal(bytes));
  session_->handed_over(base::monotonic_ns());
  unwritten_.push_back({index, channel_->queued_bytes()});
  HOPYARD_RETURN_IF_ERROR(channel_->flush());
  note_written();
  return absl::OkStatus();
}

absl::Status Client::give_output() {
  if (!channel_->engine().handshake_done()) return absl::OkStatus();
  HOPYARD_ASSIGN_OR_RETURN(const auto bytes, session_->output());
  if (bytes.empty()) return absl::OkStatus();
  HOPYARD_RETURN_IF_ERROR(channel_->seal(bytes));
  session_->handed_over(base::monotonic_ns());
  return channel_->flush();
}

void Client::note_written() {
  while (!unwritten_.empty() && unwritten_.front().queued_bytes <= channel_->taken_bytes()) {
    meters_[unwritten_.front().index].written(channel_->last_taken_ns());
    unwritten_.pop_front();
  }
}

int64_t Client::next_event_ns() const {
  int64_t next = std::numeric_limits<int64_t>::max();
  for (const ResponseMeter& meter : meters_) {
    if (!meter.is_started() || meter.complete()) continue;
    next = std::min(next, meter.start_ns() + spec_.deadlines.request.count());
  }
  // Where a response must end first, time alone makes no request due.
  if (!session_->can_request()) return next;
  return std::min(next, schedule_->next_timer_ns(meters_).value_or(next));
}

absl::Status Client::check_deadlines() const {
  const int64_t now_ns = channel_->now_ns();
  for (const ResponseMeter& meter : meters_) {
    if (!meter.is_started() || meter.complete()) continue;
    if (now_ns < meter.start_ns() + spec_.deadlines.request.count()) continue;
    return absl::DeadlineExceededError(absl::StrCat(
        "await response: ", meter.role(), ": not complete within ", seconds(spec_.deadlines.request), ", ",
        meter.body_bytes(), " of ", meter.expected_bytes(), " body bytes came"));
  }
  return absl::OkStatus();
}

void Client::fill(v1::ClientEvidence& out) const {
  if (channel_) fill_connection(*channel_, out);
  if (session_) fill_frames(session_->frames(), out);
  fill_responses(meters_, out);
  out.set_settled_ns(settled_ns_);
}

v1::ClientEvidence run(ProbeSpec spec) {
  v1::ClientEvidence evidence;
  Client client(std::move(spec));
  const absl::Status status = client.perform();
  client.fill(evidence);
  if (!status.ok()) evidence.set_error(base::printable(std::string(status.message())));
  return evidence;
}

}  // namespace hopyard::probe

// SPDX-License-Identifier: Apache-2.0
// The worker's side of the pipe: one job in, one message per trial out. Knows the messages, not how a trial
// is run, and not what the descriptors are.
#pragma once

#include <functional>

#include "base/status.h"
#include "hopyard/v1/worker.pb.h"

namespace hopyard::worker {

struct Work {
  // Told the name of each part of a trial as it begins.
  using Steps = std::function<void(const char* name)>;
  std::function<v1::TrialResult(const v1::TrialSpec&, const Steps&)> trial;
  std::function<v1::GateResult(const v1::GateJob&)> gate;
};

// Says hello, takes one message, does what it asks, says that it is done. A message that cannot be understood
// or done is answered with Fatal and returned as an error. Errors of the descriptors are returned; the end of
// `in` before a message is OUT_OF_RANGE.
absl::Status serve(int in, int out, const v1::Hello& hello, const Work& work);
// The same with the message at hand from the start, be it good or an error.
absl::Status serve_order(const absl::StatusOr<v1::ToWorker>& order, int out, const v1::Hello& hello,
                         const Work& work);

// A ToWorker's bytes. DATA_LOSS if they are not.
absl::StatusOr<v1::ToWorker> parse_order(const std::string& bytes);

// Tells the other side why nothing more comes.
absl::Status send_fatal(int out, const absl::Status& why);

// This kernel, now.
v1::Hello make_hello(bool guest);

}  // namespace hopyard::worker

// SPDX-License-Identifier: Apache-2.0
// Any bytes, cut any way, give the frames that a plain walk over the whole stream finds; what parses as a
// message is the same message after it was written and parsed again.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/frames.h"
#include "hopyard/v1/worker.pb.h"

namespace {

using hopyard::base::kMaxFrameBytes;

struct Walk {
  std::vector<std::string> payloads;
  bool broken = false;  // a length over the limit
};

Walk walk(const std::string& stream) {
  Walk out;
  size_t at = 0;
  while (stream.size() - at >= 4) {
    size_t length = 0;
    for (size_t i = 0; i < 4; ++i) length = length * 256 + static_cast<unsigned char>(stream[at + i]);
    out.broken = length > kMaxFrameBytes;
    if (out.broken || stream.size() - at - 4 < length) break;
    out.payloads.push_back(stream.substr(at + 4, length));
    at += 4 + length;
  }
  return out;
}

void require(bool holds) {
  if (!holds) std::abort();
}

template <typename Message>
void require_stable(const std::string& payload) {
  Message first;
  if (!first.ParseFromString(payload)) return;
  const std::string written = first.SerializeAsString();
  Message second;
  require(second.ParseFromString(written));
  // Not the bytes: a map's order is free. Unknown fields stay.
  require(second.ByteSizeLong() == written.size());
  require(second.message_case() == first.message_case());
  require(second.DebugString() == first.DebugString());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider input(data, size);
  std::vector<size_t> cuts(input.ConsumeIntegralInRange<size_t>(1, 8));
  for (size_t& cut : cuts) cut = input.ConsumeIntegralInRange<size_t>(1, 5000);
  const std::string stream = input.ConsumeRemainingBytesAsString();
  const Walk expected = walk(stream);

  hopyard::base::FrameDecoder decoder;
  bool broken = false;
  size_t seen = 0;
  for (size_t at = 0, turn = 0; at < stream.size() && !broken; ++turn) {
    const size_t step = std::min(cuts[turn % cuts.size()], stream.size() - at);
    broken = !decoder.feed({stream.data() + at, step}).ok();
    at += step;
    while (auto payload = decoder.next()) {
      require(seen < expected.payloads.size() && *payload == expected.payloads[seen]);
      ++seen;
      require_stable<hopyard::v1::ToWorker>(*payload);
      require_stable<hopyard::v1::FromWorker>(*payload);
    }
    broken = broken || !decoder.feed({}).ok();  // a later frame of the same bytes may be the broken one
  }
  require(seen == expected.payloads.size() && broken == expected.broken);
  return 0;
}

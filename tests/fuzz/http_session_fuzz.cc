// SPDX-License-Identifier: Apache-2.0
// Any decrypted bytes, cut any way, are survived by both HTTP sessions, and no milestone goes backwards.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstdlib>
#include <memory>

#include "hopyard/v1/result.pb.h"
#include "probe/h1.h"
#include "probe/h2.h"

namespace {

using namespace hopyard::probe;

constexpr size_t kMaxPlaintext = 16384;

void require(bool holds) {
  if (!holds) std::abort();
}

// A later milestone may be missing, but neither come without nor before the one in front of it.
void require_order(std::initializer_list<int64_t> instants) {
  int64_t before = 1;
  bool missing = false;
  for (const int64_t ns : instants) {
    require(ns == 0 || (!missing && ns >= before));
    missing = ns == 0;
    if (ns != 0) before = ns;
  }
}

void check(const ResponseMeter& meter) {
  hopyard::v1::Response out;
  meter.fill(out);
  require_order({out.first_decrypted_ns(), out.first_body_ns(), out.body_1024_ns(), out.body_4096_ns(),
                 out.body_8192_ns()});
  require(out.body_bytes() <= out.content_length() + kMaxPlaintext);
}

// An HTTP/2 frame with a right header, so that the search gets past it.
std::string frame(FuzzedDataProvider& input) {
  const auto type = input.ConsumeIntegralInRange<uint8_t>(0, 10);
  const auto flags = input.ConsumeIntegral<uint8_t>();
  const char stream = input.PickValueInArray<char>({0, 1, 3, 5});
  const std::string payload = input.ConsumeRandomLengthString(kMaxPlaintext);
  const std::string header = {static_cast<char>(payload.size() >> 16),
                              static_cast<char>(payload.size() >> 8),
                              static_cast<char>(payload.size()),
                              static_cast<char>(type),
                              static_cast<char>(flags),
                              0,
                              0,
                              0,
                              stream};
  return header + payload;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider input(data, size);
  const bool h2 = input.ConsumeBool();
  std::vector<ResponseMeter> meters;
  meters.emplace_back("bulk", h2 ? "h2" : "h1", 20000);
  meters.emplace_back("late", h2 ? "h2" : "h1", 10);
  std::unique_ptr<HttpSession> session;
  if (h2) {
    session = *H2Session::make(meters);
  } else {
    session = std::make_unique<H1Session>(meters);
  }
  require(session->start().ok() && session->request(0).ok());
  if (h2) require(session->request(1).ok());
  require(session->output().ok());
  int64_t now_ns = 1;
  session->handed_over(now_ns);
  while (input.remaining_bytes() > 0) {
    const std::string piece =
        h2 && input.ConsumeBool() ? frame(input) : input.ConsumeRandomLengthString(kMaxPlaintext);
    ++now_ns;
    if (!session->receive(std::span(reinterpret_cast<const uint8_t*>(piece.data()), piece.size()), now_ns)
             .ok())
      break;
    require(session->output().ok());
    session->handed_over(now_ns);
  }
  for (const ResponseMeter& meter : meters) check(meter);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Any bytes, cut any way, give the records that a plain walk over the whole stream finds, and the same
// refusal.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstdlib>

#include "probe/record_reader.h"

namespace {

using hopyard::probe::kMaxRecordBytes;
using hopyard::probe::kRecordHeaderBytes;

struct Walk {
  std::vector<size_t> ends;  // of complete records
  bool refused = false;
};

Walk walk(const std::vector<uint8_t>& stream) {
  Walk out;
  size_t at = 0;
  while (stream.size() - at >= kRecordHeaderBytes) {
    const size_t length = stream[at + 3] * 256u + stream[at + 4];
    const bool good = stream[at] >= 20 && stream[at] <= 23 && stream[at + 1] == 3 && stream[at + 2] >= 1 &&
                      stream[at + 2] <= 3 && length >= 1 && length + kRecordHeaderBytes <= kMaxRecordBytes;
    out.refused = !good;
    if (!good || stream.size() - at < kRecordHeaderBytes + length) break;
    at += kRecordHeaderBytes + length;
    out.ends.push_back(at);
  }
  return out;
}

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider input(data, size);
  const size_t read_bytes = input.ConsumeIntegralInRange<size_t>(1, 70000);
  std::vector<size_t> cuts(input.ConsumeIntegralInRange<size_t>(1, 8));
  for (size_t& cut : cuts) cut = input.ConsumeIntegralInRange<size_t>(1, 20000);
  const std::vector<uint8_t> stream = input.ConsumeRemainingBytes<uint8_t>();
  const Walk expected = walk(stream);

  hopyard::probe::RecordReader reader(read_bytes);
  size_t at = 0;
  size_t begin = 0;
  size_t seen = 0;
  bool refused = false;
  for (size_t turn = 0; at < stream.size() && !refused; ++turn) {
    const auto room = reader.room();
    require(room.size() >= read_bytes);
    const size_t step = std::min({cuts[turn % cuts.size()], room.size(), stream.size() - at});
    std::copy_n(stream.begin() + static_cast<ptrdiff_t>(at), step, room.begin());
    reader.commit(step);
    at += step;
    for (;;) {
      const auto next = reader.next();
      refused = !next.ok();
      if (refused || !*next) break;
      require(seen < expected.ends.size() && begin + (*next)->size() == expected.ends[seen]);
      require(std::equal((*next)->begin(), (*next)->end(), stream.begin() + static_cast<ptrdiff_t>(begin)));
      begin = expected.ends[seen++];
    }
  }
  require(seen == expected.ends.size() && refused == expected.refused);
  if (refused) require(!reader.next().ok());
  return 0;
}

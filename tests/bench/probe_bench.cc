// SPDX-License-Identifier: Apache-2.0
// What the measuring client costs: records rebuilt, bodies checked, and whole transfers over a Unix socket,
// where nothing but the two programs limits it.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "hopyard/v1/campaign.pb.h"
#include "hopyard/v1/result.pb.h"
#include "probe/meter.h"
#include "probe/probe.h"
#include "probe/record_reader.h"
#include "unit/probe/tls_server.h"

namespace hopyard::probe {
namespace {

void RebuildRecords(benchmark::State& state) {
  const auto length = static_cast<size_t>(state.range(0));
  std::string record = {0x17, 3, 3, static_cast<char>(length >> 8), static_cast<char>(length)};
  record.resize(kRecordHeaderBytes + length, 'x');
  std::string stream;
  while (stream.size() < 65536) stream += record;
  RecordReader reader;
  for (auto _ : state) {
    const auto room = reader.room();
    std::copy(stream.begin(), stream.end(), room.begin());
    reader.commit(stream.size());
    for (auto next = reader.next(); next.ok() && *next; next = reader.next())
      benchmark::DoNotOptimize((*next)->data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * stream.size()));
}
BENCHMARK(RebuildRecords)->Arg(1041)->Arg(4113)->Arg(16401);

// Comparing with the fixture and hashing: what every record's body costs beside its decryption.
void CheckBody(benchmark::State& state) {
  const std::string body = fixture(16384);
  for (auto _ : state) {
    ResponseMeter meter("body", "h1", body.size());
    (void)meter.head(200, body.size());
    benchmark::DoNotOptimize(
        meter.body(std::span(reinterpret_cast<const uint8_t*>(body.data()), body.size())));
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * body.size()));
}
BENCHMARK(CheckBody);

// One connection and 4 MiB a turn, in records of the given size. `transfer` is from request to completion,
// `open` from a record's last byte to its plaintext, at the median.
void Transfer(benchmark::State& state) {
  constexpr uint64_t kBytes = 4 << 20;
  const auto record_bytes = static_cast<size_t>(state.range(0));
  v1::Workload workload;
  workload.set_protocol("h1");
  workload.add_requests()->set_name("body");
  workload.mutable_requests(0)->set_body_bytes(kBytes);
  const std::string body = response_head(kBytes) + fixture(kBytes);
  double transfer_ns = 0;
  std::vector<int64_t> open_ns;
  for (auto _ : state) {
    TlsServer server({}, [&](ServerConnection& connection) {
      connection.read_request();
      connection.write(body, record_bytes);
      connection.read_some();
    });
    const v1::ClientEvidence evidence =
        run({.workload = &workload, .endpoint = server.endpoint(), .socket = server.client_socket()});
    if (!evidence.error().empty()) state.SkipWithError(evidence.error().c_str());
    const v1::Response& response = evidence.responses(0);
    transfer_ns += static_cast<double>(response.complete_ns() - response.request_start_ns());
    int64_t before_ns = 0;
    for (const v1::TlsRecord& record : evidence.records()) {
      // Records of one read wait for each other; what each costs is from the end of the one in front.
      if (record.content() == v1::DATA) {
        open_ns.push_back(record.decrypted_ns() - std::max(before_ns, record.received_ns()));
      }
      before_ns = record.decrypted_ns();
    }
  }
  std::sort(open_ns.begin(), open_ns.end());
  state.counters["transfer_MiB/s"] = 4.0 * static_cast<double>(state.iterations()) / (transfer_ns / 1e9);
  state.counters["open_us"] = static_cast<double>(open_ns[open_ns.size() / 2]) / 1e3;
}
BENCHMARK(Transfer)->Arg(1024)->Arg(4096)->Arg(16384)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hopyard::probe

// SPDX-License-Identifier: Apache-2.0
// What a path costs: set-up, tear-down until the kernel has reported its end, and the snapshots of a trial.
// Outside a guest without fq and netem, which many kernels lack; --with-qdiscs asks for them.
#include <benchmark/benchmark.h>
#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/clock.h"
#include "lab/path.h"
#include "unit/lab/own_network.h"
#include "unit/lab/tcp.h"

namespace hopyard::lab {
namespace {

bool with_qdiscs = false;

RoutedSpec spec() {
  if (!with_qdiscs) return {.qdiscs = false};
  return {.rtt = std::chrono::milliseconds(20), .rate_bps = 20'000'000, .limit_packets = 10'000};
}

struct Cost {
  int64_t set_up_ns;
  int64_t tear_down_ns;
};

absl::StatusOr<Cost> measure() {
  const int64_t started = base::monotonic_ns();
  HOPYARD_ASSIGN_OR_RETURN(RoutedPath path, RoutedPath::make(spec()));
  const int64_t made = base::monotonic_ns();
  HOPYARD_ASSIGN_OR_RETURN(const bool gone,
                           std::move(path).tear_down(base::Deadline(std::chrono::seconds(20))));
  if (!gone) return absl::DeadlineExceededError("tear down: path: not reported gone");
  return Cost{made - started, base::monotonic_ns() - made};
}

double median_ms(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return static_cast<double>(values[values.size() / 2]) / 1e6;
}

// As long as a short trial: the kernel takes the path before this one apart on its own time, and a trial does
// not begin at once either.
void pass_a_trials_time() { ::poll(nullptr, 0, 100); }

// `part` is what the benchmark's time is; the other half runs, too, untimed.
void run(benchmark::State& state, int64_t Cost::*part) {
  std::vector<int64_t> samples;
  for (auto _ : state) {
    const auto cost = measure();
    if (!cost.ok()) return state.SkipWithError(std::string(cost.status().message()).c_str());
    samples.push_back((*cost).*part);
    pass_a_trials_time();
    state.SetIterationTime(static_cast<double>(samples.back()) / 1e9);
  }
  state.counters["median_ms"] = median_ms(samples);
}

void set_up(benchmark::State& state) { run(state, &Cost::set_up_ns); }
void tear_down(benchmark::State& state) { run(state, &Cost::tear_down_ns); }

// The server's socket and all four qdiscs, as before a request.
void snapshot(benchmark::State& state) {
  const auto fail = [&](const absl::Status& status) {
    state.SkipWithError(std::string(status.message()).c_str());
  };
  const auto path = RoutedPath::make(spec());
  if (!path.ok()) return fail(path.status());
  const auto listener = testing_support::listen_at_server(*path);
  if (!listener.ok()) return fail(listener.status());
  const auto connection = testing_support::connect_across(*path, *listener);
  if (!connection.ok()) return fail(connection.status());
  const uint16_t client_port = testing_support::local_port(connection->client.get());
  for (auto _ : state) {
    const auto socket = path->snapshot_connection(Side::kServer, client_port, listener->port);
    const auto qdiscs = path->snapshot_qdiscs();
    if (!socket.ok()) return fail(socket.status());
    if (!qdiscs.ok()) return fail(qdiscs.status());
  }
}

BENCHMARK(set_up)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(60);
BENCHMARK(tear_down)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(60);
BENCHMARK(snapshot)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace hopyard::lab

int main(int argc, char** argv) {
  const absl::Status entered = hopyard::testing_support::enter_own_network();
  if (!entered.ok()) {
    std::fprintf(stderr, "path_bench: %s\n", std::string(entered.message()).c_str());
    return 1;
  }
  hopyard::lab::with_qdiscs = argc > 1 && std::strcmp(argv[1], "--with-qdiscs") == 0;
  if (hopyard::lab::with_qdiscs) std::rotate(argv + 1, argv + 2, argv + argc--);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}

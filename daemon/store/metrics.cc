// SPDX-License-Identifier: Apache-2.0
// See metrics.h.
#include "store/metrics.h"

#include <array>

#include "hopyard/v1/campaign.pb.h"
#include "hopyard/v1/result.pb.h"

namespace hopyard::store {
namespace {

struct Milestone {
  const char* name;
  int64_t (v1::Response::*instant)() const;
  uint64_t body_bytes;  // only responses at least this large have it
  bool h2_only;
};

constexpr std::array<Milestone, 7> kMilestones = {{
    {"first_decrypted_ns", &v1::Response::first_decrypted_ns, 0, false},
    {"first_body_ns", &v1::Response::first_body_ns, 1, false},
    {"body_1024_ns", &v1::Response::body_1024_ns, 1024, false},
    {"body_4096_ns", &v1::Response::body_4096_ns, 4096, false},
    {"body_8192_ns", &v1::Response::body_8192_ns, 8192, false},
    {"first_data_frame_ns", &v1::Response::first_data_frame_ns, 0, true},
    {"complete_ns", &v1::Response::complete_ns, 0, false},
}};

// From the connection's start, for the first response: what a client that only knows a URL would count.
constexpr std::array<Milestone, 2> kFromConnect = {{
    {"connect_to_first_decrypted_ns", &v1::Response::first_decrypted_ns, 0, false},
    {"connect_to_complete_ns", &v1::Response::complete_ns, 0, false},
}};

constexpr const char* kStartFromFirst = "start_from_first_ns";
constexpr const char* kCompleteFromFirst = "complete_from_first_ns";

}  // namespace

std::vector<std::string> metric_names(const v1::Workload& workload) {
  std::vector<std::string> names;
  for (int i = 0; i < workload.requests_size(); ++i) {
    const v1::Request& request = workload.requests(i);
    const std::string prefix = workload.requests_size() > 1 ? request.name() + "." : "";
    for (const Milestone& milestone : kMilestones) {
      if (request.body_bytes() < milestone.body_bytes) continue;
      if (milestone.h2_only && workload.protocol() != "h2") continue;
      names.push_back(prefix + milestone.name);
    }
    if (i == 0) {
      for (const Milestone& milestone : kFromConnect) names.push_back(prefix + milestone.name);
      continue;
    }
    names.push_back(prefix + kStartFromFirst);
    names.push_back(prefix + kCompleteFromFirst);
  }
  return names;
}

std::vector<Sample> trial_samples(const v1::ClientEvidence& client) {
  std::vector<Sample> samples;
  for (int i = 0; i < client.responses_size(); ++i) {
    const v1::Response& response = client.responses(i);
    if (response.request_start_ns() == 0) continue;
    const std::string prefix = client.responses_size() > 1 ? response.role() + "." : "";
    for (const Milestone& milestone : kMilestones) {
      const int64_t instant = (response.*milestone.instant)();
      if (instant != 0) samples.push_back({prefix + milestone.name, instant - response.request_start_ns()});
    }
    for (const Milestone& milestone : kFromConnect) {
      const int64_t instant = (response.*milestone.instant)();
      if (i > 0 || instant == 0 || client.connect_start_ns() == 0) continue;
      samples.push_back({prefix + milestone.name, instant - client.connect_start_ns()});
    }
    const int64_t first = client.responses(0).request_start_ns();
    if (i == 0 || first == 0) continue;
    samples.push_back({prefix + kStartFromFirst, response.request_start_ns() - first});
    if (response.complete_ns() == 0) continue;
    samples.push_back({prefix + kCompleteFromFirst, response.complete_ns() - first});
  }
  return samples;
}

}  // namespace hopyard::store

// SPDX-License-Identifier: Apache-2.0
// Which durations of a trial are figures, and what they are called. Pure; knows no table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hopyard::v1 {
class ClientEvidence;
class Workload;
}  // namespace hopyard::v1

namespace hopyard::store {

// Names of all figures a trial of this workload can show, in the order in which people read them. The times
// of v_response, from their own request's write; with more than one request, "role." in front. Later
// responses also have start_from_first_ns and complete_from_first_ns, from the first request's write; the
// first one has connect_to_first_decrypted_ns and connect_to_complete_ns, from just before connect(2).
std::vector<std::string> metric_names(const v1::Workload& workload);

struct Sample {
  std::string metric;
  int64_t value_ns;
};

// What one trial shows; milestones that did not happen are left out.
std::vector<Sample> trial_samples(const v1::ClientEvidence& client);

}  // namespace hopyard::store

// SPDX-License-Identifier: Apache-2.0
// What exists outside the campaigns of these tests, and a short good campaign to start from.
#pragma once

#include <string>

#include "plan/reader.h"

namespace hopyard::plan {

inline Known known() {
  return {{"stock", "static4k", "adaptive", "dyn_rec"},
          {"host", "debian-uml", "uml-6.12"},
          {"uml-6.12"},
          {{"dyn_rec",
            {"ssl_dyn_rec_enable", "ssl_dyn_rec_size_lo", "ssl_dyn_rec_size_hi", "ssl_dyn_rec_threshold",
             "ssl_dyn_rec_timeout"}}}};
}

inline constexpr char kSmall[] = R"(name: small
question: What is seen?
repetitions: 3
cases:
  - {name: C, variant: stock}
  - {name: F, variant: static4k}
paths:
  - {name: clean, kind: routed, rtt: 20ms, rate: 20mbit, loss: 0.1%, limit: 10000}
  - {name: bare, kind: routed}
workloads:
  - name: h1-1k
    protocol: h1
    requests: [{name: body, body: 1k}]
  - name: h2-two
    protocol: h2
    requests: [{name: bulk, body: 1MiB}, {name: later, body: 4k, after: {request: bulk, body: 32k, pause: 1.5s}}]
)";

inline v1::CampaignText small() {
  v1::CampaignText text;
  text.set_file("small.yaml");
  text.set_yaml(kSmall);
  return text;
}

}  // namespace hopyard::plan

// SPDX-License-Identifier: Apache-2.0
// What the tests of whole runs share: workloads from text, short deadlines, views of the evidence.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "hopyard/v1/campaign.pb.h"
#include "hopyard/v1/result.pb.h"
#include "probe/probe.h"
#include "tls_server.h"

namespace hopyard::probe {

// Long enough for a busy machine, short enough for tests that must reach them to choose their own.
inline constexpr Deadlines kPatient = {.connect = std::chrono::seconds(30),
                                       .handshake = std::chrono::seconds(30),
                                       .settle = std::chrono::seconds(30),
                                       .request = std::chrono::seconds(30),
                                       .shutdown = std::chrono::seconds(30)};

inline v1::Workload workload_from(const std::string& text) {
  v1::Workload out;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &out)) << text;
  return out;
}

// A run against `server`; `adjust` may add callbacks.
inline v1::ClientEvidence run_against(const TlsServer& server, const std::string& workload_text,
                                      Deadlines deadlines = kPatient,
                                      const std::function<void(ProbeSpec&)>& adjust = {}) {
  const v1::Workload workload = workload_from(workload_text);
  ProbeSpec spec{.workload = &workload,
                 .endpoint = server.endpoint(),
                 .socket = server.client_socket(),
                 .deadlines = deadlines};
  if (adjust) adjust(spec);
  return run(std::move(spec));
}

inline std::vector<v1::TlsRecord> records_of(const v1::ClientEvidence& evidence, v1::RecordContent content) {
  std::vector<v1::TlsRecord> out;
  for (const v1::TlsRecord& record : evidence.records()) {
    if (record.content() == content) out.push_back(record);
  }
  return out;
}

}  // namespace hopyard::probe

// SPDX-License-Identifier: Apache-2.0
// Which TLS records a variant's promise and a case's settings mean, and which there were. Pure arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hopyard/v1/worker.pb.h"

namespace hopyard::trial {

// nginx's output buffer: the case's ssl_buffer_size or the default.
uint64_t buffer_bytes(const v1::TrialSpec& spec);

// The largest plaintext a record may carry once an early budget is spent: the variant's fragment or nginx's
// output buffer, whichever is smaller, in bytes.
uint32_t record_bound_bytes(const v1::TrialSpec& spec);

// Plaintext sizes, in order, of `total_bytes` (head and body) sent on a fresh connection: nginx hands over
// buffers of ssl_buffer_size bytes, each cut at the end of the early budget and then into fragments; with
// dynamic records, buffers of what the ramp allows.
std::vector<uint32_t> expected_h1_records(const v1::TrialSpec& spec, uint64_t total_bytes);

// Plaintext sizes, in order, of the records that carried application data.
std::vector<uint32_t> data_records(const v1::ClientEvidence& client);

// SSL_write calls that wrote nothing.
uint64_t blocked_writes(const v1::ServerEvidence& server);

// "8 x 1024, 8192, 7 x 16384, 239"
std::string describe_records(const std::vector<uint32_t>& sizes);

}  // namespace hopyard::trial

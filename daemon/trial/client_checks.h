// SPDX-License-Identifier: Apache-2.0
// What must hold of the responses, the TLS records and the server's writes of one trial. Pure: evidence in,
// checks out.
#pragma once

#include "hopyard/v1/result.pb.h"
#include "hopyard/v1/worker.pb.h"
#include "trial/check_list.h"

namespace hopyard::trial {

// TLS 1.3 with AES-GCM (RFC 8446, 5.2): the 16-byte tag and the inner content type, and the 5-byte header.
inline constexpr uint32_t kSealOverheadBytes = 17;
inline constexpr uint32_t kRecordHeaderBytes = 5;

// The client finished; status, length and SHA-256 of every response; TLS version, cipher and ALPN.
void check_responses(const v1::TrialSpec& spec, const v1::ClientEvidence& client, CheckList& checks);
// Sizes and overhead of every record.
void check_records(const v1::TrialSpec& spec, const v1::ClientEvidence& client, CheckList& checks);
// Writes against decrypted bytes, fragment settings and transitions, and a clean exit.
void check_server(const v1::TrialSpec& spec, const v1::ClientEvidence& client,
                  const v1::ServerEvidence& server, CheckList& checks);

}  // namespace hopyard::trial

// SPDX-License-Identifier: Apache-2.0
// Verifies a campaign, in the service's messages. Decides nothing.
#pragma once

#include <functional>
#include <string>

#include "base/status.h"
#include "hopyard/v1/service.pb.h"

namespace hopyard::store {
class Store;
}

namespace hopyard::rpc {

using VerifySink = std::function<void(const v1::VerifyEvent&)>;

// `ref` as in Store. Progress and findings go to `sink`, the result is returned. CANCELLED once `stopped` is
// true.
absl::StatusOr<v1::Verification> verify_now(const store::Store& store, const std::string& ref,
                                            const VerifySink& sink, const std::function<bool()>& stopped);

// What a campaign's end asks for once its figures are recorded: it is verified, and what came out is stored.
absl::StatusOr<v1::Verification> verify_at_end(store::Store& store, const std::string& campaign,
                                               const std::function<bool()>& stopped);

}  // namespace hopyard::rpc

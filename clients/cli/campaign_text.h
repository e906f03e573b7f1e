// SPDX-License-Identifier: Apache-2.0
// A campaign file and the options that change it, as the service takes them.
#pragma once

#include "base/status.h"
#include "cli/command.h"
#include "hopyard/v1/service.pb.h"

namespace hopyard::cli {

// INVALID_ARGUMENT if the file cannot be read.
absl::StatusOr<v1::CampaignText> campaign_text(const CampaignOptions& options);

}  // namespace hopyard::cli

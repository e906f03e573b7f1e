// SPDX-License-Identifier: Apache-2.0
// A campaign file or an extension's, and the options beside it, as the service takes them.
#pragma once

#include "base/status.h"
#include "cli/command.h"
#include "hopyard/v1/service.pb.h"

namespace hopyard::cli {

// INVALID_ARGUMENT if the file cannot be read.
absl::StatusOr<v1::CampaignText> campaign_text(const CampaignOptions& options);

// The same of an extension; its file is optional.
absl::StatusOr<v1::ExtensionText> extension_text(const ExtensionOptions& options);

}  // namespace hopyard::cli

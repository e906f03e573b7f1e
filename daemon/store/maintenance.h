// SPDX-License-Identifier: Apache-2.0
// The database as a file: is it sound, a copy of it, a view of it as text. Each opens a connection of its
// own, so that nothing else waits.
#pragma once

#include <string>
#include <string_view>

#include "store/store.h"

namespace hopyard::store {

// As Store::check.
absl::StatusOr<v1::CheckDatabaseResponse> check_database(const std::string& path);
// As Store::export_copy.
absl::Status copy_database(const std::string& path, const std::string& target);
// As Store::export_rows, of a whole id.
absl::Status export_view(const std::string& path, std::string_view campaign_id, v1::ExportFormat format,
                         std::string_view view, const Sink& sink);

}  // namespace hopyard::store

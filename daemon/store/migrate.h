// SPDX-License-Identifier: Apache-2.0
// Makes a database file, or brings an older one to the present schema. Knows no row.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "store/sqlite.h"

namespace hopyard::store {

// Of the file's header (user_version, application_id). Raise the version with every change of tables or
// views, and add the step to migrate.cc.
inline constexpr int kSchemaVersion = 3;
inline constexpr int kApplicationId = 0x484f5059;  // "HOPY"

// The writer's connection: WAL, every commit on the disk before it returns, foreign keys enforced.
absl::StatusOr<std::unique_ptr<Connection>> open_database(const std::string& path);

}  // namespace hopyard::store

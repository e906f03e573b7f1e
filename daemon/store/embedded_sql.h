// SPDX-License-Identifier: Apache-2.0
// The SQL that makes a database: tables of version 1, what each later version changes, and the present views.
#pragma once

namespace hopyard::store {

extern const char kSchemaSql[];
extern const char kSchema2Sql[];
extern const char kViewsSql[];

}  // namespace hopyard::store

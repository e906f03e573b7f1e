// SPDX-License-Identifier: Apache-2.0
// See pool.h.
#include "store/pool.h"

namespace hopyard::store {
namespace {

constexpr size_t kMostBytes = 2u << 20;  // as much as SQLite keeps of pages

}  // namespace

absl::StatusOr<int64_t> Pool::number(Connection& connection, std::string_view text) {
  const std::string key(text);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  Statement find = connection.prepare(find_);
  HOPYARD_ASSIGN_OR_RETURN(const bool found, find.bind(text).step());
  if (found) {
    remember(text, find.integer(0));
    return find.integer(0);
  }
  HOPYARD_RETURN_IF_ERROR(connection.prepare(insert_).bind(text).run());
  return connection.last_insert_rowid();
}

void Pool::forget() {
  known_.clear();
  known_bytes_ = 0;
}

void Pool::remember(std::string_view text, int64_t number) {
  if (known_bytes_ > kMostBytes) forget();
  known_bytes_ += text.size() + 64;  // about what an entry costs beside its text
  known_.emplace(text, number);
}

}  // namespace hopyard::store

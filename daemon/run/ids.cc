// SPDX-License-Identifier: Apache-2.0
// Date, name and a few random digits make an id.
#include "run/ids.h"

#include <ctime>
#include <random>

#include "fmt/chrono.h"
#include "fmt/format.h"

namespace hopyard::run {

std::string new_campaign_id(std::string_view name, int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::random_device random;
  return fmt::format("{:%Y%m%d-%H%M%S}-{}-{:04x}", fmt::gmtime(seconds), name, random() & 0xffffu);
}

std::string trial_id(std::string_view campaign_id, uint32_t index) {
  return fmt::format("{}.{:05}", campaign_id, index);
}

}  // namespace hopyard::run

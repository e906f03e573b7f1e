// SPDX-License-Identifier: Apache-2.0
// Finds the log among a process's mappings by the words nginx begins it with.
#include "server/memory_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "fmt/format.h"

namespace hopyard::server {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kLookAgain = 1ms;

struct Range {
  uint64_t begin = 0, end = 0;
};

// The range of a line of /proc/PID/maps; nothing if it is not writable.
Range writable_range(const std::string& line) {
  Range range;
  const char* const end = line.data() + line.size();
  const auto first = std::from_chars(line.data(), end, range.begin, 16);
  if (first.ptr == end) return {};
  const auto second = std::from_chars(first.ptr + 1, end, range.end, 16);
  return std::string_view(second.ptr, end).starts_with(" rw") ? range : Range{};
}

// Those that may hold a log of so many bytes and what nginx has beside it, for we hold as much when we read
// one. Empty once the process has no memory any more.
std::vector<Range> ranges_of(pid_t pid, size_t log_bytes) {
  constexpr size_t kMostBesideBytes = 64u << 20;
  const auto maps = base::read_file(fmt::format("/proc/{}/maps", pid));
  std::vector<Range> ranges;
  std::istringstream lines(maps.ok() ? *maps : "");
  for (std::string line; std::getline(lines, line);) {
    const Range range = writable_range(line);
    const uint64_t bytes = range.end - range.begin;
    if (bytes >= log_bytes && bytes - log_bytes <= kMostBesideBytes) ranges.push_back(range);
  }
  return ranges;
}

// Bytes of the range; fewer where it has gone.
std::string read_range(const base::Fd& memory, const Range& range) {
  std::string bytes(range.end - range.begin, '\0');
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t n = ::pread(memory.get(), bytes.data() + have, bytes.size() - have,
                              static_cast<off_t>(range.begin + have));
    if (n <= 0) break;
    have += static_cast<size_t>(n);
  }
  bytes.resize(have);
  return bytes;
}

// The state is the first word after the name, which stands in parentheses.
bool sleeps(pid_t pid) {
  const auto stat = base::read_file(fmt::format("/proc/{}/stat", pid));
  const size_t name_end = stat.ok() ? stat->rfind(") ") : std::string::npos;
  return name_end == std::string::npos || stat->compare(name_end + 2, 1, "R") != 0;
}

}  // namespace

absl::StatusOr<std::string> find_memory_log(const std::string& memory, size_t log_bytes) {
  const size_t begin = memory.find(fmt::format("MEMLOG {} ", log_bytes));
  if (begin == std::string::npos || memory.size() - begin < log_bytes) return "";
  std::string_view log = std::string_view(memory).substr(begin, log_bytes);
  // Filled with spaces, behind its own first line. Once full it begins anew, over what it had: then there is
  // no space behind the last line's end.
  log = log.substr(0, log.find_last_not_of(' ') + 1);
  if (log.size() == log_bytes || log.back() != '\n') {
    return absl::OutOfRangeError(fmt::format("read server log: more than {} bytes", log_bytes));
  }
  return std::string(log.substr(log.find('\n') + 1));
}

absl::StatusOr<std::string> read_memory_log(pid_t pid, size_t log_bytes, std::chrono::nanoseconds patience) {
  for (const base::Deadline deadline(patience); !sleeps(pid) && !deadline.passed();) {
    base::sleep_until(base::monotonic_ns() + kLookAgain.count());
  }
  const auto memory = base::open_file(fmt::format("/proc/{}/mem", pid), O_RDONLY);
  if (absl::IsNotFound(memory.status())) return "";
  HOPYARD_RETURN_IF_ERROR(memory.status());
  for (const Range& range : ranges_of(pid, log_bytes)) {
    HOPYARD_ASSIGN_OR_RETURN(std::string log, find_memory_log(read_range(*memory, range), log_bytes));
    if (!log.empty()) return log;
  }
  return "";
}

}  // namespace hopyard::server

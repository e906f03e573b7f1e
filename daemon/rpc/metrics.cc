// SPDX-License-Identifier: Apache-2.0
// One family after another: help, type, samples.
#include "rpc/metrics.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "absl/strings/ascii.h"
#include "base/fd.h"
#include "fmt/format.h"
#include "google/protobuf/descriptor.h"

namespace hopyard::rpc {
namespace {

void family(std::string& text, const char* name, const char* type, const char* help) {
  text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void alone(std::string& text, const char* name, const char* help, double value) {
  family(text, name, "gauge", help);
  text += fmt::format("{} {}\n", name, value);
}

// Every state, also where no campaign is in it: a series that comes and goes is hard to draw.
void add_states(std::string& text, const std::vector<v1::CampaignStatus>& campaigns) {
  std::map<int, uint64_t> counts;
  for (const auto& campaign : campaigns) ++counts[campaign.state()];
  family(text, "hopyard_campaigns", "gauge", "Campaigns in the database, by state.");
  const auto* states = v1::CampaignState_descriptor();
  for (int i = 0; i < states->value_count(); ++i) {
    const auto* state = states->value(i);
    if (state->number() == v1::CAMPAIGN_STATE_UNSPECIFIED) continue;
    text += fmt::format("hopyard_campaigns{{state=\"{}\"}} {}\n", absl::AsciiStrToLower(state->name()),
                        counts[state->number()]);
  }
}

void add_trials(std::string& text, const std::vector<v1::CampaignStatus>& campaigns) {
  uint64_t planned = 0, passed = 0, failed = 0, invalid = 0;
  for (const auto& campaign : campaigns) {
    planned += campaign.trials();
    passed += campaign.passed();
    failed += campaign.failed();
    invalid += campaign.invalid();
  }
  family(text, "hopyard_trials", "gauge", "Planned trials in the database.");
  text += fmt::format("hopyard_trials {}\n", planned);
  family(text, "hopyard_outcomes_total", "counter", "Trials with an outcome, by verdict.");
  text += fmt::format("hopyard_outcomes_total{{verdict=\"passed\"}} {}\n", passed);
  text += fmt::format("hopyard_outcomes_total{{verdict=\"failed\"}} {}\n", failed);
  text += fmt::format("hopyard_outcomes_total{{verdict=\"invalid\"}} {}\n", invalid);
}

uint64_t size_of(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

// Field 22 of /proc/self/stat, in ticks since the boot; fields are counted behind the name's last
// parenthesis.
double start_unix_s() {
  std::ifstream stat("/proc/self/stat");
  std::string text{std::istreambuf_iterator<char>(stat), {}};
  std::ifstream boot("/proc/stat");
  double boot_s = 0;
  for (std::string key; boot >> key;) {
    if (key == "btime" && boot >> boot_s) break;
  }
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number) fields >> field;
  return boot_s + std::strtod(field.c_str(), nullptr) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

ProcessFigures process_figures(const std::string& database) {
  ProcessFigures figures;
  uint64_t total_pages = 0, resident_pages = 0;
  std::ifstream("/proc/self/statm") >> total_pages >> resident_pages;
  figures.resident_bytes = resident_pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  std::error_code error;
  const std::filesystem::directory_iterator fds("/proc/self/fd", error);
  if (!error) figures.open_fds = static_cast<uint64_t>(std::distance(begin(fds), end(fds)));
  figures.start_unix_s = start_unix_s();
  figures.database_bytes = size_of(database) + size_of(database + "-wal");
  struct statvfs disk {};
  if (::statvfs(database.c_str(), &disk) == 0)
    figures.disk_free_bytes = static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize;
  return figures;
}

std::string metrics_text(const std::vector<v1::CampaignStatus>& campaigns, const ProcessFigures& process) {
  std::string text;
  add_states(text, campaigns);
  add_trials(text, campaigns);
  alone(text, "hopyard_database_bytes", "Size of the database with its log.",
        static_cast<double>(process.database_bytes));
  alone(text, "hopyard_disk_free_bytes", "Free where the database lies.",
        static_cast<double>(process.disk_free_bytes));
  alone(text, "process_resident_memory_bytes", "Resident memory of the daemon.",
        static_cast<double>(process.resident_bytes));
  alone(text, "process_open_fds", "Open file descriptors of the daemon.",
        static_cast<double>(process.open_fds));
  alone(text, "process_start_time_seconds", "Start of the daemon since the epoch.", process.start_unix_s);
  return text;
}

}  // namespace hopyard::rpc

// SPDX-License-Identifier: Apache-2.0
// Reads /proc, the links and the folders.
#include "unit/execute/machine.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/clock.h"
#include "base/fd.h"
#include "fmt/format.h"

namespace hopyard::execute {
namespace {

namespace fs = std::filesystem;

// The fields of /proc/<pid>/stat behind the name: state, parent, …
std::vector<std::string> stat_fields(pid_t pid, std::string* name = nullptr) {
  const std::string text = base::read_file(fmt::format("/proc/{}/stat", pid)).value_or("");
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (close == std::string::npos) return {};
  if (name != nullptr) *name = text.substr(open + 1, close - open - 1);
  std::istringstream rest(text.substr(close + 1));
  return {std::istream_iterator<std::string>(rest), {}};
}

constexpr size_t kState = 0;
constexpr size_t kParent = 1;
constexpr size_t kStartTime = 19;

bool runs(const Process& process) {
  const auto fields = stat_fields(process.pid);
  return fields.size() > kStartTime && fields[kStartTime] == process.start_time && fields[kState] != "Z" &&
         fields[kState] != "X";
}

std::string names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, "\n"));
}

std::string text_of(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address == nullptr) return text;
  if (address->sa_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
  } else if (address->sa_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text, sizeof text);
  }
  return text;
}

std::string links_and_addresses() {
  std::string text;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return "unreadable";
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    text += fmt::format("{} {} {:#x} {}\n", one->ifa_name, ::if_nametoindex(one->ifa_name), one->ifa_flags,
                        text_of(one->ifa_addr));
  }
  ::freeifaddrs(all);
  return text;
}

std::string network_sysctls() {
  std::vector<std::string> lines;
  std::error_code error;
  for (const char* folder : {"/proc/sys/net/core", "/proc/sys/net/ipv4", "/proc/sys/net/ipv4/conf/all"}) {
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (!entry.is_regular_file(error)) continue;
      lines.push_back(entry.path().string() + "=" + base::read_file(entry.path()).value_or("unreadable"));
    }
  }
  std::sort(lines.begin(), lines.end());
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::set<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::set<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

// A mount whose folder somebody has removed is marked, and is no other mount for that.
std::string mounts() {
  std::string text = base::read_file("/proc/self/mountinfo").value_or("unreadable");
  constexpr std::string_view kRemoved = "//deleted";
  for (size_t at; (at = text.find(kRemoved)) != std::string::npos;) text.erase(at, kRemoved.size());
  return text;
}

}  // namespace

std::vector<Process> descendants(pid_t pid) {
  std::multimap<pid_t, Process> by_parent;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string number = entry.path().filename();
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    Process process{std::stoi(number), "", ""};
    const auto fields = stat_fields(process.pid, &process.name);
    if (fields.size() <= kStartTime) continue;  // has ended meanwhile
    process.start_time = fields[kStartTime];
    by_parent.emplace(std::stoi(fields[kParent]), process);
  }
  std::vector<Process> found;
  std::vector<pid_t> parents = {pid};
  for (size_t i = 0; i < parents.size(); ++i) {
    const auto [first, last] = by_parent.equal_range(parents[i]);
    for (auto child = first; child != last; ++child) {
      found.push_back(child->second);
      parents.push_back(child->second.pid);
    }
  }
  return found;
}

std::vector<std::string> still_running(const std::vector<Process>& processes) {
  const base::Deadline deadline(std::chrono::seconds(1));
  std::vector<std::string> left;
  do {
    left.clear();
    for (const auto& process : processes) {
      if (runs(process)) left.push_back(fmt::format("{} {}", process.pid, process.name));
    }
    ::sched_yield();
  } while (!left.empty() && !deadline.passed());
  return left;
}

MachineState machine_state(bool folders) {
  MachineState state;
  state["links and addresses"] = links_and_addresses();
  state["sysctls"] = network_sysctls();
  state["modules"] = fs::exists("/sys/module") ? names_in("/sys/module") : "";
  state["mounts"] = mounts();
  state["network namespaces"] = names_in("/run/netns");
  if (folders) {
    for (const char* folder : {"/tmp", "/run", "/dev/shm"}) state[folder] = names_in(folder);
  }
  return state;
}

std::vector<std::string> changes(const MachineState& before, const MachineState& after) {
  std::vector<std::string> found;
  for (const auto& [name, text] : before) {
    const auto old_lines = lines_of(text);
    const auto new_lines = lines_of(after.at(name));
    for (const auto& line : old_lines) {
      if (new_lines.count(line) == 0) found.push_back(fmt::format("{}: gone: {}", name, line));
    }
    for (const auto& line : new_lines) {
      if (old_lines.count(line) == 0) found.push_back(fmt::format("{}: new: {}", name, line));
    }
  }
  return found;
}

}  // namespace hopyard::execute

// SPDX-License-Identifier: Apache-2.0
// apt-get with every folder it writes moved below our own.
#include "variant/debian_archive.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/fd.h"
#include "fmt/format.h"
#include "variant/command.h"
#include "variant/work_place.h"

namespace hopyard::variant {
namespace {

constexpr const char* kKeyring = "/usr/share/keyrings/debian-archive-keyring.gpg";

// "VERSION_CODENAME=bookworm" of os-release.
std::string release_codename() {
  const auto text = base::read_file("/etc/os-release");
  if (!text.ok()) return "";
  constexpr std::string_view kKey = "\nVERSION_CODENAME=";
  const size_t at = text->find(kKey);
  if (at == std::string::npos) return "";
  const size_t begin = at + kKey.size();
  return text->substr(begin, text->find('\n', begin) - begin);
}

// apt reports progress as "dlstatus:1:23.4:Retrieving file 1 of 1".
LineSink percentages(Progress progress, const ProgressSink& sink) {
  return [progress, &sink](std::string_view line) mutable {
    if (!sink || !line.starts_with("dlstatus:")) return;
    line.remove_prefix(line.find(':') + 1);
    line.remove_prefix(std::min(line.size(), line.find(':') + 1));
    uint32_t percent = 0;
    std::from_chars(line.data(), line.data() + line.size(), percent);
    if (progress.total != 0 && progress.done == percent) return;
    progress.done = percent;
    progress.total = 100;
    sink(progress);
  };
}

bool is_source(const DebianItem& item) { return item.version.empty(); }

// Lists of sources and of packages are kept apart: few ever need the second, which is large.
std::string lists_of(const DebianItem& item) {
  return is_source(item) ? item.release : item.release + "-packages";
}

std::vector<std::string> download_words(const DebianItem& item) {
  if (is_source(item)) return {"source", "--download-only", "--tar-only", item.name};
  return {"download", fmt::format("{}={}", item.name, item.version)};
}

}  // namespace

std::vector<std::string> archive_roots(std::string_view output, std::string_view codename) {
  const std::set<std::string_view> suites = {codename, "stable", "oldstable", "testing", "unstable", "sid"};
  std::vector<std::string> roots;
  while (!output.empty()) {
    const size_t end = std::min(output.find('\n'), output.size());
    std::string_view line = output.substr(0, end);
    output.remove_prefix(std::min(end + 1, output.size()));
    constexpr std::string_view kDists = "/dists/";
    const size_t dists = line.find(kDists);
    if (!line.starts_with('\'') || dists == std::string_view::npos) continue;
    const std::string root(line.substr(1, dists - 1));
    line.remove_prefix(dists + kDists.size());
    const size_t slash = line.find('/');
    if (slash == std::string_view::npos || !suites.contains(line.substr(0, slash))) continue;
    if (!line.substr(slash).starts_with("/main/binary-")) continue;
    if (std::find(roots.begin(), roots.end(), root) == roots.end()) roots.push_back(root);
  }
  return roots;
}

std::vector<std::string> DebianArchive::apt_get(const DebianItem& item,
                                                const std::vector<std::string>& arguments) const {
  const std::string lists = lists_of(item);
  std::vector<std::string> argv = {
      "apt-get",
      "-o",
      fmt::format("Dir::Etc::SourceList={}/{}.list", folder_, lists),
      "-o",
      "Dir::Etc::SourceParts=/dev/null",
      "-o",
      fmt::format("Dir::State::Lists={}/{}-lists", folder_, lists),
      "-o",
      fmt::format("Dir::Cache={}/cache", folder_),
      "-o",
      "APT::Sandbox::User=",  // root's apt would go to a user who cannot write here
      "-o",
      "APT::Status-Fd=1",
      "-o",
      "Acquire::Retries=3",
      "-o",
      "Acquire::Languages=none"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

absl::Status DebianArchive::configure(const std::string& root, const DebianItem& item) const {
  const std::string lists = lists_of(item);
  HOPYARD_RETURN_IF_ERROR(make_folders(folder_ + "/cache"));
  HOPYARD_RETURN_IF_ERROR(make_folders(fmt::format("{}/{}-lists", folder_, lists)));
  // Without the file apt falls back to the keys the machine trusts.
  const std::string option = ::access(kKeyring, R_OK) == 0 ? fmt::format("[signed-by={}] ", kKeyring) : "";
  const char* const kind = is_source(item) ? "deb-src" : "deb";
  return base::write_file(fmt::format("{}/{}.list", folder_, lists),
                          fmt::format("{} {}{} {} main\n", kind, option, root, item.release));
}

absl::Status DebianArchive::fetch_from(const std::string& root, const DebianItem& item,
                                       const std::string& target, const Progress& progress,
                                       const ProgressSink& sink, const std::stop_token& stop) const {
  HOPYARD_RETURN_IF_ERROR(configure(root, item));
  Command download{.attempt = fmt::format("download {} of Debian {} from {}", item.name, item.release, root),
                   .argv = apt_get(item, download_words(item)),
                   .working_directory = target,
                   .inherit_environment = true};
  // The lists of an earlier fetch mostly serve; only if they do not are they brought up to date.
  if (run(download, stop, percentages(progress, sink)).ok()) return absl::OkStatus();
  Progress lists = progress;
  const std::string list = is_source(item) ? "sources" : "packages";
  lists.message = fmt::format("reading Debian {}'s list of {} at {}", item.release, list, root);
  if (sink) sink(lists);
  const Command update{.attempt = fmt::format("read Debian {}'s list of {} at {}", item.release, list, root),
                       .argv = apt_get(item, {"update", "-o", "APT::Update::Error-Mode=any"}),
                       .working_directory = target,
                       .inherit_environment = true};
  HOPYARD_RETURN_IF_ERROR(run(update, stop, percentages(lists, sink)));
  return run(download, stop, percentages(progress, sink));
}

absl::Status DebianArchive::fetch(const DebianItem& item, const std::string& target, Progress progress,
                                  const ProgressSink& sink, const std::stop_token& stop) const {
  // Needs neither lists nor root, and understands every way in which sources can be configured.
  std::string uris;
  HOPYARD_RETURN_IF_ERROR(make_folders(folder_ + "/empty-lists"));
  HOPYARD_RETURN_IF_ERROR(
      run({.attempt = "ask apt for this machine's mirror",
           .argv = {"apt-get", "--print-uris", "-o", fmt::format("Dir::State::Lists={}/empty-lists", folder_),
                    "-o", fmt::format("Dir::Cache={}/cache", folder_), "-o", "APT::Sandbox::User=", "update"},
           .inherit_environment = true},
          stop, [&uris](std::string_view line) { uris.append(line).append("\n"); }));
  const auto roots = archive_roots(uris, release_codename());
  if (roots.empty())
    return absl::NotFoundError("ask apt for this machine's mirror: no Debian archive is configured");
  absl::Status status;
  for (const auto& root : roots) {
    status = fetch_from(root, item, target, progress, sink, stop);
    if (status.ok() || stop.stop_requested()) return status;
  }
  return status;
}

}  // namespace hopyard::variant

// SPDX-License-Identifier: Apache-2.0
// The places a tarball may come from, tried in order; what arrives is hashed before it enters the cache.
#include "variant/sources.h"

#include <filesystem>

#include "base/digest.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "variant/command.h"
#include "variant/debian_archive.h"
#include "variant/work_place.h"

namespace hopyard::variant {
namespace fs = std::filesystem;
namespace {

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::string text(const absl::Status& status) { return std::string(status.message()); }

absl::Status download(const std::string& url, const std::string& target, const std::stop_token& stop) {
  Command command{.attempt = "download " + url, .inherit_environment = true};
  if (find_program("curl").ok())
    command.argv = {"curl", "-fsSL", "--connect-timeout", "20", "-o", target, url};
  else if (find_program("wget").ok())
    command.argv = {"wget", "-q", "--connect-timeout=20", "--tries=2", "-O", target, url};
  else
    return absl::NotFoundError(command.attempt + ": neither curl nor wget is installed");
  return run(command, stop);
}

}  // namespace

absl::Status verify_tarball(const Pin& pin, const std::string& path) {
  HOPYARD_ASSIGN_OR_RETURN(const std::string seen, base::sha256_file_hex(path));
  if (seen == pin.sha256) return absl::OkStatus();
  return absl::DataLossError(
      fmt::format("verify: {}: its SHA-256 is {}, but pin {} wants {}", path, seen, pin.name, pin.sha256));
}

std::string Sources::cached_path(const Pin& pin) const {
  return fmt::format("{}/sources/{}/{}", cache_dir_, pin.sha256, pin.file);
}

absl::StatusOr<std::string> Sources::at_hand(const Pin& pin) const {
  if (!pin.path.empty() && exists(pin.path)) {
    HOPYARD_RETURN_IF_ERROR(verify_tarball(pin, pin.path));
    return pin.path;
  }
  const std::string cached = cached_path(pin);
  if (!exists(cached)) return absl::NotFoundError(fmt::format("find: {}: not in the cache", pin.file));
  const absl::Status status = verify_tarball(pin, cached);
  if (absl::IsDataLoss(status))
    return absl::DataLossError(text(status) + "; remove the file to have it fetched again");
  HOPYARD_RETURN_IF_ERROR(status);
  return cached;
}

absl::Status Sources::check_at_hand(const Pin& pin) const {
  const absl::Status status = at_hand(pin).status();
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

absl::StatusOr<std::string> Sources::tarball(const Pin& pin, const std::string& variant,
                                             const ProgressSink& sink, const std::stop_token& stop) const {
  if (auto found = at_hand(pin); !absl::IsNotFound(found.status())) return found;
  HOPYARD_RETURN_IF_ERROR(fetch(pin, variant, sink, stop));
  return cached_path(pin);
}

absl::Status Sources::fetch(const Pin& pin, const std::string& variant, const ProgressSink& sink,
                            const std::stop_token& stop) const {
  Progress progress{.variant = variant, .step = "fetch", .message = pin.file};
  // One fetch at a time for the whole cache: apt's lists are shared.
  HOPYARD_ASSIGN_OR_RETURN(const WorkPlace place, WorkPlace::enter(cache_dir_, "fetch", stop, [&] {
                             if (sink) sink({variant, "fetch", "waiting for another fetch"});
                           }));
  if (at_hand(pin).ok()) return absl::OkStatus();
  if (sink) sink(progress);
  std::vector<std::string> failures;
  const auto arrived = [&](const absl::Status& status) {
    const std::string file = place.folder() + "/" + pin.file;
    absl::Status verdict = status.ok() ? verify_tarball(pin, file) : status;
    if (verdict.ok()) verdict = place.publish(pin.file, cached_path(pin));
    if (!verdict.ok()) failures.push_back(text(verdict));
    return verdict.ok();
  };
  if (!pin.path.empty()) failures.push_back(fmt::format("open: {}: no such file", pin.path));
  if (!pin.debian_release.empty()) {
    const DebianArchive archive(cache_dir_ + "/apt");
    const DebianItem item{pin.debian_source.empty() ? pin.debian_package : pin.debian_source,
                          pin.debian_version, pin.debian_release};
    if (arrived(archive.fetch(item, place.folder(), progress, sink, stop))) return absl::OkStatus();
  }
  for (const auto& url : pin.urls) {
    progress.message = fmt::format("{} from {}", pin.file, url);
    if (sink && !stop.stop_requested()) sink(progress);
    if (arrived(download(url, place.folder() + "/" + pin.file, stop))) return absl::OkStatus();
  }
  if (stop.stop_requested()) return absl::CancelledError("fetch: " + pin.file + ": stopped on request");
  return absl::NotFoundError(
      fmt::format("fetch: {} (pin {}): no place has it; it may also be put at {}\n  {}", pin.file, pin.name,
                  cached_path(pin), fmt::join(failures, "\n  ")));
}

}  // namespace hopyard::variant

// SPDX-License-Identifier: Apache-2.0
// Source tarballs and packages from Debian's archive, any release, as an ordinary user: a private apt folder
// whose mirror is the machine's own. Trusts apt with signatures; does not know pins' hashes.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "variant/progress.h"

namespace hopyard::variant {

// The archive roots that can serve any Debian release ("http://mirror/debian"), from the output of
// `apt-get --print-uris update`: those that give this machine's main component, best first, none twice.
std::vector<std::string> archive_roots(std::string_view print_uris_output, std::string_view codename);

// A source package's upstream tarballs, or one binary package of the given version.
struct DebianItem {
  std::string name;
  std::string version;  // of a binary package; empty: a source package, whatever version there is
  std::string release;  // "trixie"
};

class DebianArchive {
 public:
  // `folder` keeps lists and settings from one fetch to the next.
  explicit DebianArchive(std::string folder) : folder_(std::move(folder)) {}

  // Downloads the item's files into `target` (an existing folder). `progress` is called with step and variant
  // already set.
  absl::Status fetch(const DebianItem& item, const std::string& target, Progress progress,
                     const ProgressSink& sink, const std::stop_token& stop) const;

 private:
  absl::Status configure(const std::string& root, const DebianItem& item) const;
  std::vector<std::string> apt_get(const DebianItem& item, const std::vector<std::string>& arguments) const;
  absl::Status fetch_from(const std::string& root, const DebianItem& item, const std::string& target,
                          const Progress& progress, const ProgressSink& sink,
                          const std::stop_token& stop) const;
  std::string folder_;
};

}  // namespace hopyard::variant

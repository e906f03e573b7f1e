// SPDX-License-Identifier: Apache-2.0
// Source tarballs from Debian's archive, any release, as an ordinary user: a private apt folder whose mirror
// is the machine's own. Trusts apt with signatures; does not know pins' hashes.
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

class DebianArchive {
 public:
  // `folder` keeps lists and settings from one fetch to the next.
  explicit DebianArchive(std::string folder) : folder_(std::move(folder)) {}

  // Downloads the source package's upstream tarballs into `target` (an existing folder). `progress` is called
  // with step and variant already set.
  absl::Status fetch(const std::string& source, const std::string& release, const std::string& target,
                     Progress progress, const ProgressSink& sink, const std::stop_token& stop) const;

 private:
  absl::Status configure(const std::string& root, const std::string& release) const;
  std::vector<std::string> apt_get(const std::string& release,
                                   const std::vector<std::string>& arguments) const;
  absl::Status fetch_from(const std::string& root, const std::string& source, const std::string& release,
                          const std::string& target, const Progress& progress, const ProgressSink& sink,
                          const std::stop_token& stop) const;
  std::string folder_;
};

}  // namespace hopyard::variant

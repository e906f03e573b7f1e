// SPDX-License-Identifier: Apache-2.0
// Commands on what was measured.
#include <unistd.h>

#include <cstdio>
#include <map>

#include "cli/command.h"
#include "cli/comparison_text.h"
#include "cli/link.h"
#include "cli/output.h"
#include "cli/summary_text.h"
#include "fmt/format.h"

namespace hopyard::cli {
namespace {

const std::map<std::string, v1::ExportFormat> kFormats = {
    {"jsonl", v1::JSONL}, {"csv", v1::CSV}, {"sqlite", v1::SQLITE}};

std::string replay_text(const v1::ReplayResponse& response) {
  std::string text;
  if (response.first_difference().empty()) {
    text = fmt::format("{}  the same\n", response.replayed_digest());
  } else {
    text = fmt::format("{}  stored\n{}  replayed\nfirst difference, stored | replayed: {}\n",
                       response.stored_digest(), response.replayed_digest(), response.first_difference());
  }
  for (const auto& difference : response.differences()) text += difference + "\n";
  return text;
}

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdout) std::fclose(file);
  }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

int write_chunks(grpc::ClientReader<v1::ExportChunk>& reader, std::FILE* file, const std::string& name) {
  for (v1::ExportChunk chunk; reader.Read(&chunk);) {
    if (std::fwrite(chunk.data().data(), 1, chunk.data().size(), file) != chunk.data().size())
      return report(base::errno_status("write", name));
  }
  if (std::fflush(file) != 0) return report(base::errno_status("write", name));
  const auto result = reader.Finish();
  return result.ok() ? static_cast<int>(kDone) : report(result);
}

}  // namespace

int summary(const Options& options, const std::string& id, const std::string& from) {
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::CampaignRef ref;
  ref.set_campaign_id(id);
  v1::SummaryResponse response;
  grpc::ClientContext context;
  if (const auto result = link->stub().Summary(&context, ref, &response); !result.ok()) return report(result);
  const TimesFrom times = from == kFromConnect ? TimesFrom::kConnect : TimesFrom::kRequest;
  fmt::print("{}", options.json ? json(response) : summary_text(response, times));
  return kDone;
}

int diagnostics(const Options& options, const std::string& id) {
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::CampaignRef ref;
  ref.set_campaign_id(id);
  v1::DiagnosticsResponse response;
  grpc::ClientContext context;
  if (const auto result = link->stub().Diagnostics(&context, ref, &response); !result.ok())
    return report(result);
  fmt::print("{}", options.json ? json(response) : diagnostics_text(response));
  return kDone;
}

int compare(const Options& options, const std::string& id, const std::string& pair) {
  const size_t comma = pair.find(',');
  if (comma == std::string::npos || comma == 0 || comma + 1 == pair.size())
    return report(absl::InvalidArgumentError(fmt::format("--pair {}: expected two cases, like C,D", pair)));
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::CompareRequest request;
  request.set_campaign_id(id);
  request.set_case_a(pair.substr(0, comma));
  request.set_case_b(pair.substr(comma + 1));
  v1::CompareResponse response;
  grpc::ClientContext context;
  if (const auto result = link->stub().Compare(&context, request, &response); !result.ok())
    return report(result);
  fmt::print("{}", options.json ? json(response) : compare_text(response, request));
  return kDone;
}

int replay(const Options& options, const std::string& trial_id) {
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::TrialRequest request;
  request.set_trial_id(trial_id);
  v1::ReplayResponse response;
  grpc::ClientContext context;
  if (const auto result = link->stub().Replay(&context, request, &response); !result.ok())
    return report(result);
  const bool same = response.first_difference().empty();
  if (options.json)
    fmt::print("{}", json(response));
  else
    fmt::print("{}", replay_text(response));
  return same ? kDone : kFailed;
}

int export_rows(const Options& options, const ExportOptions& what) {
  const v1::ExportFormat format = kFormats.at(what.format);
  if (format == v1::SQLITE && what.output.empty() && ::isatty(STDOUT_FILENO) == 1)
    return report(absl::InvalidArgumentError(
        "export: a database does not go to a terminal; name a file with --output"));
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  const File file(what.output.empty() ? stdout : std::fopen(what.output.c_str(), "wbxe"));
  if (file == nullptr) return report(base::errno_status("make file", what.output));
  v1::ExportRequest request;
  request.set_campaign_id(what.id);
  request.set_view(what.view);
  request.set_format(format);
  grpc::ClientContext context;
  const auto reader = link->stub().Export(&context, request);
  const int code = write_chunks(*reader, file.get(), what.output.empty() ? "standard output" : what.output);
  if (code != kDone && !what.output.empty()) ::unlink(what.output.c_str());  // ours: made by this very call
  return code;
}

}  // namespace hopyard::cli

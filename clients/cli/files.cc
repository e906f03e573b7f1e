// SPDX-License-Identifier: Apache-2.0
// Commands that give a campaign as a file: rows, a copy of the database, a report.
#include <unistd.h>

#include <map>

#include "cli/command.h"
#include "cli/link.h"
#include "cli/new_file.h"
#include "cli/terminal.h"
#include "fmt/format.h"

namespace hopyard::cli {
namespace {

const std::map<std::string, v1::ExportFormat> kFormats = {
    {"jsonl", v1::JSONL}, {"csv", v1::CSV}, {"sqlite", v1::SQLITE}};

absl::Status write_chunks(grpc::ClientReader<v1::ExportChunk>& reader, NewFile& file) {
  for (v1::ExportChunk chunk; reader.Read(&chunk);) HOPYARD_RETURN_IF_ERROR(file.write(chunk.data()));
  return absl::OkStatus();
}

// What `ask` streams becomes the file; an interrupt ends both and leaves nothing.
template <typename Ask>
int give_file(const Options& options, const std::string& name, Ask ask) {
  auto file = NewFile::make(name);
  if (!file.ok()) return report(file.status());
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  grpc::ClientContext context;
  const InterruptWatch watch([&] { context.TryCancel(); });
  const auto reader = ask(link->stub(), &context);
  if (const auto written = write_chunks(*reader, *file); !written.ok()) {
    context.TryCancel();
    return report(written);
  }
  if (const auto result = reader->Finish(); !result.ok()) return report(result);
  const auto published = file->publish();
  return published.ok() ? static_cast<int>(kDone) : report(published);
}

}  // namespace

int export_rows(const Options& options, const ExportOptions& what) {
  v1::ExportRequest request;
  request.set_campaign_id(what.id);
  request.set_view(what.view);
  request.set_format(kFormats.at(what.format));
  const bool to_output = what.output.empty() || what.output == "-";
  if (request.format() == v1::SQLITE && to_output && ::isatty(STDOUT_FILENO) == 1)
    return report(absl::InvalidArgumentError(
        "export: a database does not go to a terminal; name a file with --output"));
  return give_file(options, what.output, [&](v1::Hopyard::Stub& stub, grpc::ClientContext* context) {
    return stub.Export(context, request);
  });
}

int write_report(const Options& options, const ReportOptions& what) {
  v1::CampaignRef request;
  request.set_campaign_id(what.id);
  return give_file(options, what.output, [&](v1::Hopyard::Stub& stub, grpc::ClientContext* context) {
    return stub.Report(context, request);
  });
}

}  // namespace hopyard::cli

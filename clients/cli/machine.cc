// SPDX-License-Identifier: Apache-2.0
// Commands on this machine: what can run, what is built, whether the database is sound.
#include <cstdio>

#include "cli/command.h"
#include "cli/link.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace hopyard::cli {
namespace {

bool any_ready(const v1::ListKernelsResponse& response) {
  for (const auto& kernel : response.kernels()) {
    if (kernel.state() == "ready") return true;
  }
  return false;
}

std::string variant_text(const v1::VariantStatus& variant) {
  std::string text = fmt::format("{}  {}\n{}\n", variant.name(), variant.state(), variant.note());
  text += fmt::format("sha256 {}\n", variant.sha256());
  if (!variant.nginx_path().empty()) text += variant.nginx_path() + "\n";
  for (const auto& input : variant.inputs()) text += "  " + input + "\n";
  Table table({{"gate"}, {"outcome"}, {"expected"}, {"seen"}});
  for (const auto& check : variant.gate())
    table.add({check.name(), v1::Outcome_Name(check.outcome()), check.expected(), check.seen()});
  return table.empty() ? text : text + table.text();
}

grpc::Status list_variants(Link& link, v1::ListVariantsResponse& response) {
  grpc::ClientContext context;
  return link.stub().ListVariants(&context, {}, &response);
}

std::string step_text(const v1::BuildEvent& event) {
  const std::string far = event.total() > 0 ? fmt::format(" {}/{}", event.done(), event.total()) : "";
  return fmt::format("{}: {}{}: {}", event.variant(), event.step(), far, event.message());
}

int show_build(const Options& options, grpc::ClientContext& context,
               grpc::ClientReader<v1::BuildEvent>& reader) {
  const InterruptWatch interrupt([&context] { context.TryCancel(); });
  const bool terminal = stderr_is_terminal();
  for (v1::BuildEvent event; reader.Read(&event);) {
    if (options.json) {
      fmt::print("{}", json_line(event));
    } else if (event.step() == "ready") {
      if (terminal) say("\r\x1b[K");
      fmt::print("{}\n", step_text(event));
    } else if (terminal) {
      say(fmt::format("\r\x1b[K{:.{}}", step_text(event), terminal_width() - 1));
    } else {
      say(fmt::format("{}\n", step_text(event)));
    }
    std::fflush(stdout);
  }
  if (terminal) say("\r\x1b[K");
  const auto result = reader.Finish();
  return result.ok() ? static_cast<int>(kDone) : report(result);
}

std::string kernel_text(const v1::KernelStatus& kernel) {
  std::string text = fmt::format("{}  {}\n", kernel.name(), kernel.state());
  if (!kernel.release().empty()) text += fmt::format("release {}\n", kernel.release());
  text += fmt::format("virtual clock: {}\ncongestion controls: {}\n", kernel.virtual_clock() ? "yes" : "no",
                      fmt::join(kernel.congestion_controls(), ", "));
  if (!kernel.program().empty()) text += kernel.program() + "\n";
  for (const auto& input : kernel.inputs()) text += "  " + input + "\n";
  return text;
}

}  // namespace

int doctor(const Options& options) {
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::DoctorResponse response;
  v1::ListKernelsResponse kernels;
  grpc::ClientContext first, second;
  if (const auto result = link->stub().Doctor(&first, {}, &response); !result.ok()) return report(result);
  if (const auto result = link->stub().ListKernels(&second, {}, &kernels); !result.ok())
    return report(result);
  if (options.json) fmt::print("{}", json(response));
  for (const auto& finding : response.findings()) {
    if (!options.json)
      fmt::print("{}  {}: {}\n", finding.ok() ? "ok  " : "MISS", finding.subject(), finding.message());
  }
  return any_ready(kernels) ? kDone : kFailed;
}

int variants_list(const Options& options) {
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::ListVariantsResponse response;
  if (const auto result = list_variants(*link, response); !result.ok()) return report(result);
  if (options.json) {
    fmt::print("{}", json(response));
    return kDone;
  }
  Table table({{"variant"}, {"state"}, {"sha256"}, {"note"}});
  for (const auto& one : response.variants())
    table.add({one.name(), one.state(), one.sha256().substr(0, 16), one.note()});
  fmt::print("{}", table.text());
  return kDone;
}

int variants_show(const Options& options, const std::string& name) {
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::ListVariantsResponse response;
  if (const auto result = list_variants(*link, response); !result.ok()) return report(result);
  for (const auto& one : response.variants()) {
    if (one.name() != name) continue;
    fmt::print("{}", options.json ? json(one) : variant_text(one));
    return kDone;
  }
  return report(absl::InvalidArgumentError(fmt::format("variants show: {}: no such variant", name)));
}

int variants_build(const Options& options, const std::vector<std::string>& names) {
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::BuildVariantsRequest request;
  for (const auto& name : names) request.add_names(name);
  grpc::ClientContext context;
  return show_build(options, context, *link->stub().BuildVariants(&context, request));
}

int kernels_build(const Options& options, const std::vector<std::string>& names) {
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::BuildKernelsRequest request;
  for (const auto& name : names) request.add_names(name);
  grpc::ClientContext context;
  return show_build(options, context, *link->stub().BuildKernels(&context, request));
}

int kernels_show(const Options& options, const std::string& name) {
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::ListKernelsResponse response;
  grpc::ClientContext context;
  if (const auto result = link->stub().ListKernels(&context, {}, &response); !result.ok())
    return report(result);
  for (const auto& one : response.kernels()) {
    if (one.name() != name) continue;
    fmt::print("{}", options.json ? json(one) : kernel_text(one));
    return kDone;
  }
  return report(absl::InvalidArgumentError(fmt::format("kernels show: {}: no such kernel", name)));
}

int kernels_list(const Options& options) {
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::ListKernelsResponse response;
  grpc::ClientContext context;
  if (const auto result = link->stub().ListKernels(&context, {}, &response); !result.ok())
    return report(result);
  if (options.json) {
    fmt::print("{}", json(response));
    return kDone;
  }
  Table table({{"kernel"}, {"release"}, {"virtual clock"}, {"state"}});
  for (const auto& one : response.kernels())
    table.add({one.name(), one.release(), one.virtual_clock() ? "yes" : "no", one.state()});
  fmt::print("{}", table.text());
  return kDone;
}

int db_check(const Options& options) {
  auto link = Link::open(options, WithoutDaemon::kStartUnlessNamed);
  if (!link.ok()) return report(link.status());
  v1::CheckDatabaseResponse response;
  grpc::ClientContext context;
  if (const auto result = link->stub().CheckDatabase(&context, {}, &response); !result.ok())
    return report(result);
  if (options.json) {
    fmt::print("{}", json(response));
  } else {
    for (const auto& problem : response.problems()) fmt::print("{}\n", problem);
    fmt::print("{}: {} campaigns, {} trials, {}\n", options.db, response.campaigns(), response.trials(),
               response.problems().empty() ? "sound" : "NOT sound");
  }
  return response.problems().empty() ? kDone : kFailed;
}

int metrics(const Options& options) {
  auto link =
      Link::open(options, WithoutDaemon::kFail);  // a daemon started for it would have nothing to tell
  if (!link.ok()) return report(link.status());
  v1::MetricsResponse response;
  grpc::ClientContext context;
  if (const auto result = link->stub().Metrics(&context, {}, &response); !result.ok()) return report(result);
  fmt::print("{}", options.json ? json(response) : response.text());
  return kDone;
}

}  // namespace hopyard::cli

// SPDX-License-Identifier: Apache-2.0
// The command line: names, options, help. Each command is a function of command.h.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>

#include "base/fd.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "fmt/format.h"

namespace hopyard::cli {
namespace {

// Everything the command line fills in, and the command it chose.
struct Invocation {
  Options options;
  CampaignOptions campaign;
  ExtensionOptions extension;
  ExportOptions exported;
  ReportOptions reported;
  std::string id = "last";
  bool diagnostics = false;
  std::string pair;
  std::string from = kFromRequest;
  std::string name;
  std::vector<std::string> names;
  std::function<int()> command;
};

void add_global(CLI::App& app, Invocation& in) {
  app.add_flag("--json", in.options.json, "proto JSON on standard output; JSON lines for streams");
  app.add_option("--db", in.options.db, "the database; default: $XDG_STATE_HOME/hopyard/hopyard.db")
      ->type_name("PATH");
  auto* socket =
      app.add_option("--socket", in.options.socket, "the daemon's socket; default: the database's own")
          ->type_name("PATH");
  auto* connect = app.add_option("--connect", in.options.connect, "a daemon elsewhere, over mutual TLS")
                      ->type_name("HOST:PORT")
                      ->envname("HOPYARD_CONNECT")
                      ->excludes(socket);
  const auto add_file = [&](const char* name, const char* variable, std::string& file, const char* help) {
    connect->needs(app.add_option(name, file, help)->type_name("FILE")->envname(variable)->needs(connect));
  };
  add_file("--tls-certificate", "HOPYARD_TLS_CERTIFICATE", in.options.tls_certificate,
           "our certificate, PEM, for --connect");
  add_file("--tls-key", "HOPYARD_TLS_KEY", in.options.tls_key, "its key, PEM");
  add_file("--tls-ca", "HOPYARD_TLS_CA", in.options.tls_ca, "who signs the daemon's certificate, PEM");
}

// CLI11 takes -1 for 2^64 - 1 and 010 for eight.
std::string whole_number(const std::string& text) {
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  if (digits && (text == "0" || text.find_first_not_of('0') == 0)) return "";
  return fmt::format("{}: expected a whole number, 0 or more, in decimal digits", text);
}

// A campaign file with the options that change it.
void add_campaign(CLI::App& command, CampaignOptions& campaign, bool runs) {
  command.add_option("file", campaign.file, "campaign file (YAML)")->required()->type_name("FILE");
  command.add_option("--set", campaign.set, "change a value: dotted.key=value; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--repetitions", campaign.repetitions, "repetitions of every cell")
      ->type_name("N")
      ->check(whole_number);
  command.add_option("--seed", campaign.seed, "seed of order and loss")->type_name("N")->check(whole_number);
  command.add_option("--kernel", campaign.kernel, "kernel to run on; see kernels list")->type_name("NAME");
  command.add_option("--clock", campaign.clock, "real or virtual")->type_name("CLOCK");
  if (runs)
    command
        .add_option("--jobs", campaign.jobs,
                    "workers at once; default: one, or on the virtual clock one for each processor")
        ->type_name("N")
        ->check(CLI::Range(1, 64));
}

CLI::App* add_command(CLI::App& app, Invocation& in, const char* name, const char* help,
                      std::function<int()> command) {
  CLI::App* added = app.add_subcommand(name, help);
  added->callback([&in, command = std::move(command)] { in.command = command; });
  return added;
}

void add_id(CLI::App* command, Invocation& in) {
  command->add_option("id", in.id, "a campaign's id, the beginning of one, or \"last\"")
      ->required()
      ->type_name("ID");
}

void add_campaign_commands(CLI::App& app, Invocation& in) {
  add_campaign(*add_command(app, in, "plan", "check a campaign file and say what it would run",
                            [&in] { return plan(in.options, in.campaign); }),
               in.campaign, false);
  add_campaign(*add_command(app, in, "run", "run a campaign and stay with it; starts a daemon if need be",
                            [&in] { return run(in.options, in.campaign); }),
               in.campaign, true);
  add_campaign(*add_command(app, in, "submit", "queue a campaign and print its id",
                            [&in] { return submit(in.options, in.campaign); }),
               in.campaign, true);
  add_id(add_command(app, in, "watch", "stay with a campaign until it ends",
                     [&in] { return watch(in.options, in.id); }),
         in);
  add_command(app, in, "list", "campaigns, newest first", [&in] { return list(in.options); });
  add_id(add_command(app, in, "show", "a campaign with its failed trials, or a trial with its checks",
                     [&in] { return show(in.options, in.id); }),
         in);
  add_id(add_command(app, in, "cancel", "end a campaign, keeping what was measured",
                     [&in] { return cancel(in.options, in.id); }),
         in);
  add_id(add_command(app, in, "resume", "run a campaign's trials that have no outcome",
                     [&in] { return resume(in.options, in.id); }),
         in);
}

void add_extend(CLI::App& app, Invocation& in) {
  CLI::App* command =
      add_command(app, in, "extend", "add blocks to an ended campaign, run them and stay with it",
                  [&in] { return extend(in.options, in.id, in.extension); });
  ExtensionOptions& extension = in.extension;
  add_id(command, in);
  command->add_option("file", extension.file, "one extension (YAML); options win over it")->type_name("FILE");
  command->add_option("--name", extension.name, "of the phase; default: extension-N")->type_name("NAME");
  command->add_option("--repetitions", extension.repetitions, "blocks to add")
      ->type_name("N")
      ->check(whole_number);
  command->add_option("--seed", extension.seed, "of their order and loss; default: the campaign's")
      ->type_name("N")
      ->check(whole_number);
  const auto names = [command](const char* option, std::vector<std::string>& into, const char* help) {
    command->add_option(option, into, help)->type_name("A,B")->delimiter(',')->allow_extra_args(false);
  };
  names("--cases", extension.cases, "run these cases only");
  names("--paths", extension.paths, "run these paths only");
  names("--workloads", extension.workloads, "run these workloads only");
  command->add_option("--jobs", extension.jobs, "workers at once from now on; default: as before")
      ->type_name("N")
      ->check(CLI::Range(1, 64));
  command->add_flag("--no-wait", extension.no_wait, "queue it, print its id and leave");
}

void add_figure_commands(CLI::App& app, Invocation& in) {
  CLI::App* medians = add_command(app, in, "summary", "a campaign's medians", [&in] {
    return in.diagnostics ? diagnostics(in.options, in.id) : summary(in.options, in.id, in.from);
  });
  add_id(medians, in);
  CLI::Option* from =
      medians->add_option("--from", in.from, "what times count from: request (the default) or connect")
          ->type_name("INSTANT")
          ->check(CLI::IsMember(std::vector<std::string>{kFromRequest, kFromConnect}));
  medians
      ->add_flag("--diagnostics", in.diagnostics,
                 "what may explain them: drops, retries, unsent bytes, and the trials without drops")
      ->excludes(from);
  CLI::App* pair = add_command(app, in, "compare", "paired differences between two cases",
                               [&in] { return compare(in.options, in.id, in.pair); });
  add_id(pair, in);
  pair->add_option("--pair", in.pair, "two cases; differences are second - first")
      ->required()
      ->type_name("A,B");
  add_id(add_command(app, in, "verify",
                     "derive a campaign's checks, verdicts and figures again from its evidence",
                     [&in] { return verify(in.options, in.id); }),
         in);
  CLI::App* again = add_command(app, in, "replay", "run a trial of the virtual clock again and compare",
                                [&in] { return replay(in.options, in.id); });
  again->add_option("trial", in.id, "a trial's id")->required()->type_name("TRIAL");
  CLI::App* rows = add_command(app, in, "export", "rows of a view, or a copy of the database",
                               [&in] { return export_rows(in.options, in.exported); });
  rows->add_option("id", in.exported.id, "a campaign's id, the beginning of one, or \"last\"")
      ->required()
      ->type_name("ID");
  rows->add_option("--format", in.exported.format, "jsonl, csv, or sqlite (the whole database)")
      ->check(CLI::IsMember({"jsonl", "csv", "sqlite"}))
      ->capture_default_str();
  rows->add_option("--view", in.exported.view, "the view whose rows to give")->capture_default_str();
  rows->add_option("--output,-o", in.exported.output, "a new file; default, and -: standard output")
      ->type_name("FILE");
  CLI::App* page = add_command(app, in, "report", "a campaign as one HTML file, to be read anywhere",
                               [&in] { return write_report(in.options, in.reported); });
  page->add_option("id", in.reported.id, "a campaign's id, the beginning of one, or \"last\"")
      ->required()
      ->type_name("ID");
  page->add_option("--output,-o", in.reported.output, "a new file, or - for standard output")
      ->required()
      ->type_name("FILE");
}

void add_machine_commands(CLI::App& app, Invocation& in) {
  add_command(app, in, "doctor", "what can run here, and what is missing",
              [&in] { return doctor(in.options); });
  CLI::App* variants = app.add_subcommand("variants", "server variants");
  variants->require_subcommand(1)->fallthrough();
  add_command(*variants, in, "list", "all variants and their states",
              [&in] { return variants_list(in.options); });
  CLI::App* build = add_command(*variants, in, "build", "build and gate variants; all, if none is named",
                                [&in] { return variants_build(in.options, in.names); });
  build->add_option("names", in.names, "variants")->type_name("NAME");
  CLI::App* one = add_command(*variants, in, "show", "one variant: its inputs and its gate",
                              [&in] { return variants_show(in.options, in.name); });
  one->add_option("name", in.name, "variant")->required()->type_name("NAME");
  CLI::App* kernels = app.add_subcommand("kernels", "kernels trials can run on");
  kernels->require_subcommand(1)->fallthrough();
  add_command(*kernels, in, "list", "all kernels and their states",
              [&in] { return kernels_list(in.options); });
  CLI::App* made = add_command(*kernels, in, "build", "build guest kernels; all, if none is named",
                               [&in] { return kernels_build(in.options, in.names); });
  made->add_option("names", in.names, "kernels")->type_name("NAME");
  CLI::App* shown = add_command(*kernels, in, "show", "one kernel: what it is and what it was built from",
                                [&in] { return kernels_show(in.options, in.name); });
  shown->add_option("name", in.name, "kernel")->required()->type_name("NAME");
  CLI::App* db = app.add_subcommand("db", "the database");
  db->require_subcommand(1)->fallthrough();
  add_command(*db, in, "check", "whether the database is sound", [&in] { return db_check(in.options); });
  add_command(app, in, "metrics", "the daemon's counters in Prometheus' text format",
              [&in] { return metrics(in.options); });
}

void settle(Options& options) {
  options.socket_given = !options.socket.empty();
  if (options.db.empty()) options.db = base::default_database();
  options.db = std::filesystem::absolute(options.db).lexically_normal();
  if (!options.socket_given) options.socket = base::default_socket(options.db);
  options.socket = std::filesystem::absolute(options.socket).lexically_normal();
}

int main_of(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (base::valid_utf8_prefix(argv[i]) == std::strlen(argv[i])) continue;
    say(fmt::format("hopyard: argument {}: not UTF-8\n", i));
    return kUsage;
  }
  Invocation in;
  CLI::App app("Measures what a client sees, and when, as a server's way of writing bytes changes.",
               "hopyard");
  app.require_subcommand(1)->fallthrough();
  app.set_version_flag("--version", HOPYARD_VERSION);
  add_global(app, in);
  add_campaign_commands(app, in);
  add_extend(app, in);
  add_figure_commands(app, in);
  add_machine_commands(app, in);
  for (CLI::App* command : app.get_subcommands({})) command->fallthrough();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsage;
  }
  settle(in.options);
  take_interrupts();
  return in.command();
}

// What was not written was not done, whatever else went well.
int flushed(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  say(fmt::format("hopyard: {}\n", std::string(base::errno_status("write", "standard output").message())));
  return kFailed;
}

}  // namespace
}  // namespace hopyard::cli

int main(int argc, char** argv) {
  using namespace hopyard;
  base::hold_standard_descriptors();
  int code = cli::kFailed;
  try {
    code = cli::main_of(argc, argv);
  } catch (const std::exception& error) {
    cli::say(fmt::format("hopyard: {}\n", error.what()));
  }
  // gRPC's threads are still there: nothing static may be destroyed under them.
  std::quick_exit(cli::flushed(code));
}

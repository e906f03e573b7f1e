// SPDX-License-Identifier: Apache-2.0
// What every command has: the options that hold everywhere, exit codes, and the way to the daemon. Commands
// know the service's messages, never the daemon's rooms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hopyard::cli {

// Kept names; scripts lean on them.
enum Exit : int {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,         // or an invalid campaign
  kTrialsFailed = 3,  // done, but trials failed or were invalid
  kNoDaemon = 69,     // EX_UNAVAILABLE
};

struct Options {
  bool json = false;
  std::string db;      // absolute
  std::string socket;  // given by the user, or the database's own
  bool socket_given = false;
  // A daemon elsewhere, over TCP with mutual TLS; without an address: the local one.
  std::string connect;          // "host:port"
  std::string tls_certificate;  // ours, and the three files as PEM
  std::string tls_key;
  std::string tls_ca;  // who signs the daemon's
};

struct CampaignOptions {
  std::string file;
  std::vector<std::string> set;
  std::optional<uint32_t> repetitions;
  std::optional<uint64_t> seed;
  std::optional<std::string> kernel;
  std::optional<std::string> clock;
  uint32_t jobs = 0;  // the daemon's choice
};

struct ExtensionOptions {
  std::string file;  // empty: options alone
  std::optional<std::string> name;
  std::optional<uint32_t> repetitions;
  std::optional<uint64_t> seed;
  std::vector<std::string> cases, paths, workloads;
  uint32_t jobs = 0;  // as before
  bool no_wait = false;
};

struct ExportOptions {
  std::string id;
  std::string format = "jsonl";
  std::string view = "v_trial";
  std::string output;  // empty or "-": standard output
};

struct ReportOptions {
  std::string id;
  std::string output;  // "-": standard output
};

// ---- campaigns.cc ----
int plan(const Options& options, const CampaignOptions& campaign);
int submit(const Options& options, const CampaignOptions& campaign);
int list(const Options& options);
int show(const Options& options, const std::string& id);
int cancel(const Options& options, const std::string& id);
int resume(const Options& options, const std::string& id);
// ---- run.cc ----
int run(const Options& options, const CampaignOptions& campaign);
int watch(const Options& options, const std::string& id);
int extend(const Options& options, const std::string& id, const ExtensionOptions& extension);
// ---- figures.cc ----
// `from`: what the times shown count from, one of the two.
inline constexpr char kFromRequest[] = "request";
inline constexpr char kFromConnect[] = "connect";
int summary(const Options& options, const std::string& id, const std::string& from);
int diagnostics(const Options& options, const std::string& id);
int compare(const Options& options, const std::string& id, const std::string& pair);
int replay(const Options& options, const std::string& trial_id);
// ---- verify.cc ----
// Exits with kFailed if something does not follow from the rest of the database.
int verify(const Options& options, const std::string& id);
// ---- files.cc ----
int export_rows(const Options& options, const ExportOptions& what);
int write_report(const Options& options, const ReportOptions& what);
// ---- machine.cc ----
int doctor(const Options& options);
int variants_list(const Options& options);
int variants_build(const Options& options, const std::vector<std::string>& names);
int variants_show(const Options& options, const std::string& name);
int kernels_list(const Options& options);
int kernels_build(const Options& options, const std::vector<std::string>& names);
int kernels_show(const Options& options, const std::string& name);
int db_check(const Options& options);
int metrics(const Options& options);

}  // namespace hopyard::cli

// SPDX-License-Identifier: Apache-2.0
// The database: campaigns, planned trials and the evidence of each, written once and read back. Knows nothing
// of how trials are run, nor what the figures mean. docs/schema.md says what is where.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "hopyard/v1/campaign.pb.h"
#include "hopyard/v1/result.pb.h"
#include "hopyard/v1/service.pb.h"
#include "hopyard/v1/worker.pb.h"

namespace hopyard::store {

// A campaign as submitted.
struct CampaignRow {
  std::string id;
  std::string file;                    // the file's name, for messages
  std::string text;                    // the YAML, byte for byte
  std::string text_sha256;             // hex, as plan::campaign_hash gives it
  std::vector<std::string> overrides;  // the caller's changes: "path=…", "--seed 7"
  v1::Campaign campaign;  // checked, with all changes applied; its name and clock are looked up by
  uint32_t jobs = 1;      // workers at once
  int64_t submitted_unix_ns = 0;
};

struct PlannedRow {
  std::string trial_id;      // unique in the database
  v1::PlannedTrial planned;  // without a phase: of the initial one
};

// A phase added to a campaign later.
struct ExtensionRow {
  std::string file;                  // the file's name, for messages; empty: options alone
  std::string text;                  // the YAML, byte for byte; may be empty
  std::string text_sha256;           // hex, as plan::extension_hash gives it
  std::vector<std::string> options;  // "--cases D,F"
  v1::Campaign campaign;             // the whole campaign, the new extension included
  uint32_t jobs = 0;                 // workers at once from now on; 0: as before
  int64_t added_unix_ns = 0;
};

// What a trial ran with, beyond what the worker reports itself.
struct Provenance {
  std::string execution;       // "host" or "guest"
  std::string kernel_release;  // from the worker's hello; the trial's own environment wins over it
  std::string tool_version;
  v1::ServerBuild build;
  std::vector<std::string> inputs;  // "nginx-1.26.3.tar.gz sha256:…", "patch 0001-… sha256:…", "flags …"
  std::string binary_sha256;        // of the nginx binary, hex
};

// Where one figure's samples come from. Kernels, clocks and executions are never pooled.
struct CellKey {
  std::string path;
  std::string workload;
  std::string metric;  // as in v1::CellFigure
  std::string kernel;  // release
  std::string clock;
  std::string execution;
};

// Samples of two cases, paired within a block: a_ns[i] and b_ns[i] are of block[i]. Only passed trials;
// blocks in which either case has none are left out. In order of blocks.
struct PairedSamples {
  CellKey key;
  std::vector<uint32_t> block;
  std::vector<double> a_ns;
  std::vector<double> b_ns;
};

// One cell's samples, passed trials only, in order of blocks.
struct CellSamples {
  CellKey key;
  std::string case_name;
  std::vector<uint32_t> block;
  std::vector<double> value_ns;
  std::vector<std::string> trial_id;
};

struct ReportRows;  // store/report_rows.h

// Takes one piece of an export; an error ends it and is returned as it is.
using Sink = std::function<absl::Status(std::string_view)>;

// Every function may be called from any thread. Errors read "attempt: database's path: cause":
//   RESOURCE_EXHAUSTED  the disk is full (or a file-size limit reached)
//   PERMISSION_DENIED   the database or its folder may not be written
//   UNAVAILABLE         another program held the database locked for five seconds
//   DATA_LOSS           the file is damaged, no SQLite database, or was removed while in use
//   FAILED_PRECONDITION written by a newer Hopyard, or another program's database
// and, of the arguments: NOT_FOUND, ALREADY_EXISTS, INVALID_ARGUMENT. A call that fails leaves nothing
// behind; what was committed before stays. A commit survives the end of the process, however it ends, and
// loss of power.
//
// `ref` is a campaign's id, an unambiguous prefix of one, or "last" (also empty): the campaign submitted
// last. `id` is a whole id.
class Store {
 public:
  // Creates (mode 0600, missing folders 0700) and migrates. Keeps connections open until destroyed, so that
  // other programs can read the file meanwhile.
  static absl::StatusOr<std::unique_ptr<Store>> open(const std::string& path);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const std::string& path() const;

  // ---- writing ----

  // The campaign (state QUEUED) and every planned trial, in one transaction. ALREADY_EXISTS for a known id.
  absl::Status add_campaign(const CampaignRow& campaign, const std::vector<PlannedRow>& planned);
  // A further phase, in one transaction: what was planned stays, `planned` (all of one new phase, in blocks
  // after every other) is added, the campaign is QUEUED. Figures that were recorded are dropped: they were of
  // fewer samples. FAILED_PRECONDITION if the campaign has not ended, ALREADY_EXISTS for a phase's name, a
  // trial or a block that it has.
  absl::Status extend_campaign(std::string_view id, const ExtensionRow& extension,
                               const std::vector<PlannedRow>& planned);
  // Ended states (DONE and beyond) set the time of finishing, others clear it.
  absl::Status set_state(std::string_view id, v1::CampaignState state, std::string_view reason);
  // Where the campaign's trials run: "host" or "guest", and the kernel's name as people say it.
  absl::Status set_execution(std::string_view id, std::string_view execution, std::string_view kernel);
  // The outcome of a planned trial with all its evidence, in one transaction. ALREADY_EXISTS if the trial has
  // an outcome, NOT_FOUND if it was not planned in this campaign; INVALID_ARGUMENT without a verdict, or if
  // evidence with a `seq` does not count 0, 1, 2 ….
  absl::Status record_trial(std::string_view id, const v1::TrialResult& result, const Provenance& provenance);
  // What came out when the campaign was verified; an earlier one is replaced. Leaving an ended state drops
  // it.
  absl::Status record_verification(std::string_view id, const v1::Verification& verification);
  // Figures behind v_pair and v_interaction; all earlier ones of the campaign are replaced.
  absl::Status record_figures(std::string_view id, const std::vector<v1::PairFigure>& pairs,
                              const std::vector<v1::InteractionFigure>& interactions);

  // ---- reading ----

  // The whole id. NOT_FOUND, or INVALID_ARGUMENT for an ambiguous prefix, naming some of what it could be.
  absl::StatusOr<std::string> resolve(std::string_view ref) const;
  absl::StatusOr<CampaignRow> campaign(std::string_view ref) const;
  absl::StatusOr<v1::CampaignStatus> status(std::string_view ref) const;
  // With how fast its trials ran; unlike the status alone it costs more the more trials there are.
  absl::StatusOr<v1::CampaignStatus> status_with_pace(std::string_view ref) const;
  absl::StatusOr<std::vector<v1::CampaignStatus>> list() const;  // newest first
  // The campaign's phases in order, with what came of their trials.
  absl::StatusOr<std::vector<v1::Phase>> phases(std::string_view ref) const;
  // All planned trials, in order of execution; and those without an outcome.
  absl::StatusOr<std::vector<PlannedRow>> planned(std::string_view ref) const;
  absl::StatusOr<std::vector<PlannedRow>> without_outcome(std::string_view ref) const;
  // Trials with an outcome, in order of execution.
  absl::StatusOr<std::vector<v1::TrialOutcome>> outcomes(std::string_view ref) const;
  // The server builds behind the outcomes so far, each once: {variant, its content hash}.
  absl::StatusOr<std::vector<std::pair<std::string, std::string>>> builds(std::string_view ref) const;
  // A planned trial and, if it has an outcome, the result as it was recorded.
  absl::StatusOr<v1::TrialResponse> trial(std::string_view trial_id) const;
  // What a trial with an outcome ran with. NOT_FOUND if it has none.
  absl::StatusOr<Provenance> provenance(std::string_view trial_id) const;
  // v_cell of one campaign; and the samples behind it.
  absl::StatusOr<std::vector<v1::CellFigure>> cells(std::string_view ref) const;
  absl::StatusOr<std::vector<CellSamples>> samples(std::string_view ref) const;
  // v_cell_diagnostic and v_cell_no_drop of one campaign, read at one state of the database; no status.
  absl::StatusOr<v1::DiagnosticsResponse> diagnostics(std::string_view ref) const;
  // For every path, workload and metric that both cases have. INVALID_ARGUMENT for a case the campaign has
  // not.
  absl::StatusOr<std::vector<PairedSamples>> paired_samples(std::string_view ref, std::string_view case_a,
                                                            std::string_view case_b) const;
  // What record_figures was given; empty if nothing.
  absl::StatusOr<std::vector<v1::PairFigure>> pairs(std::string_view ref, std::string_view case_a,
                                                    std::string_view case_b) const;
  // Of all pairs, those that were tested against a margin.
  absl::StatusOr<std::vector<v1::PairFigure>> equivalences(std::string_view ref) const;
  absl::StatusOr<std::vector<v1::InteractionFigure>> interactions(std::string_view ref) const;

  // One state of all that a report shows beside pairs and single trials.
  absl::StatusOr<ReportRows> report_rows(std::string_view ref) const;

  // ---- the file ----

  // Integrity, foreign keys, at most one outcome a planned trial, no evidence at odds with its verdict. What
  // is wrong is in the response; an error means that the check itself could not be made.
  absl::StatusOr<v1::CheckDatabaseResponse> check() const;
  // A compact copy that can be read without write access to its folder. ALREADY_EXISTS if `target` is there.
  absl::Status export_copy(const std::string& target) const;
  // One campaign's rows of a view as JSONL or CSV (RFC 4180, with a header line), in pieces of some KiB.
  // NOT_FOUND for an unknown view. Other calls go on meanwhile.
  absl::Status export_rows(std::string_view ref, v1::ExportFormat format, std::string_view view,
                           const Sink& sink) const;

 private:
  struct Parts;
  explicit Store(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace hopyard::store

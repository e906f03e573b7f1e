// SPDX-License-Identifier: Apache-2.0
// Store's functions: take the lock, call the room's parts, name attempt and file in errors.
#include "store/store.h"

#include <mutex>

#include "store/campaigns.h"
#include "store/evidence_reader.h"
#include "store/evidence_writer.h"
#include "store/figures.h"
#include "store/maintenance.h"
#include "store/migrate.h"
#include "store/phases.h"
#include "store/pool.h"
#include "store/report_rows.h"
#include "store/seal.h"
#include "store/sqlite.h"

namespace hopyard::store {

// Two connections, so that a long summary does not hold up the next trial's outcome. The writer is closed
// last: it folds the log into the database.
struct Store::Parts {
  std::string path;
  std::mutex write_mutex;
  Pools pools;
  Sealer sealer;
  std::unique_ptr<Connection> writer;
  std::mutex read_mutex;
  std::unique_ptr<Connection> reader;

  // Runs `change` in one transaction.
  template <typename Change>
  absl::Status write(std::string_view attempt, Change change) {
    const std::lock_guard lock(write_mutex);
    const absl::Status done = [&]() -> absl::Status {
      if (writer->has_moved()) return absl::DataLossError("the file was removed or replaced while in use");
      HOPYARD_ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(*writer));
      HOPYARD_RETURN_IF_ERROR(change(*writer));
      return transaction.commit();
    }();
    if (!done.ok()) pools.forget();
    return base::annotate(done, attempt, path);
  }

  // Runs `take` on one state of the database; it returns a StatusOr.
  template <typename Take>
  auto read(std::string_view attempt, Take take) -> decltype(take(*reader)) {
    const std::lock_guard lock(read_mutex);
    auto taken = [&]() -> decltype(take(*reader)) {
      HOPYARD_ASSIGN_OR_RETURN(const Transaction snapshot, Transaction::begin_read(*reader));
      return take(*reader);
    }();
    if (!taken.ok()) return base::annotate(taken.status(), attempt, path);
    return taken;
  }

  // The same, of the campaign that `reference` means.
  template <typename Take>
  auto read_of(std::string_view attempt, std::string_view reference, Take take)
      -> decltype(take(*reader, std::string())) {
    return read(attempt, [&](Connection& connection) -> decltype(take(*reader, std::string())) {
      HOPYARD_ASSIGN_OR_RETURN(const std::string id, resolve_reference(connection, reference));
      return take(connection, id);
    });
  }
};

Store::Store(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Store::~Store() = default;
const std::string& Store::path() const { return parts_->path; }

absl::StatusOr<std::unique_ptr<Store>> Store::open(const std::string& path) {
  auto parts = std::make_unique<Parts>();
  parts->path = path;
  auto writer = open_database(path);
  if (!writer.ok()) return base::annotate(writer.status(), "open database", path);
  parts->writer = *std::move(writer);
  auto reader = Connection::open(path, Access::kReadOnly);
  if (!reader.ok()) return base::annotate(reader.status(), "open database for reading", path);
  parts->reader = *std::move(reader);
  return std::unique_ptr<Store>(new Store(std::move(parts)));
}

absl::Status Store::add_campaign(const CampaignRow& campaign, const std::vector<PlannedRow>& planned) {
  return parts_->write("add campaign", [&](Connection& connection) {
    return insert_campaign(connection, parts_->pools, campaign, planned);
  });
}

absl::Status Store::extend_campaign(std::string_view id, const ExtensionRow& extension,
                                    const std::vector<PlannedRow>& planned) {
  return parts_->write("extend campaign", [&](Connection& connection) {
    return insert_extension(connection, parts_->pools, id, extension, planned);
  });
}

absl::Status Store::set_state(std::string_view id, v1::CampaignState state, std::string_view reason) {
  return parts_->write("set campaign state",
                       [&](Connection& connection) { return update_state(connection, id, state, reason); });
}

absl::Status Store::set_execution(std::string_view id, std::string_view execution, std::string_view kernel) {
  return parts_->write("set campaign execution", [&](Connection& connection) {
    return update_execution(connection, id, execution, kernel);
  });
}

absl::Status Store::record_trial(std::string_view id, const v1::TrialResult& result,
                                 const Provenance& provenance) {
  return parts_->write("record trial", [&](Connection& connection) {
    HOPYARD_RETURN_IF_ERROR(insert_result(connection, parts_->pools, id, result, provenance));
    return parts_->sealer.seal(connection, result.trial_id());
  });
}

absl::Status Store::record_figures(std::string_view id, const std::vector<v1::PairFigure>& pairs,
                                   const std::vector<v1::InteractionFigure>& interactions) {
  return parts_->write("record figures", [&](Connection& connection) {
    return replace_figures(connection, id, pairs, interactions);
  });
}

absl::Status Store::record_verification(std::string_view id, const v1::Verification& verification) {
  return parts_->write("record verification", [&](Connection& connection) {
    return insert_verification(connection, id, verification);
  });
}

absl::StatusOr<std::string> Store::resolve(std::string_view ref) const {
  return parts_->read("find campaign",
                      [&](Connection& connection) { return resolve_reference(connection, ref); });
}

absl::StatusOr<CampaignRow> Store::campaign(std::string_view ref) const {
  return parts_->read_of("read campaign", ref, [](Connection& connection, const std::string& id) {
    return read_campaign(connection, id);
  });
}

absl::StatusOr<v1::CampaignStatus> Store::status(std::string_view ref) const {
  return parts_->read_of("read campaign status", ref, [](Connection& connection, const std::string& id) {
    return read_status(connection, id);
  });
}

absl::StatusOr<v1::CampaignStatus> Store::status_with_pace(std::string_view ref) const {
  return parts_->read_of(
      "read campaign status", ref,
      [](Connection& connection, const std::string& id) -> absl::StatusOr<v1::CampaignStatus> {
        HOPYARD_ASSIGN_OR_RETURN(v1::CampaignStatus status, read_status(connection, id));
        HOPYARD_ASSIGN_OR_RETURN(const v1::Pace pace, read_pace(connection, id));
        if (pace.trials() > 0) *status.mutable_pace() = pace;
        return status;
      });
}

absl::StatusOr<std::vector<v1::CampaignStatus>> Store::list() const {
  return parts_->read("list campaigns", [](Connection& connection) { return read_statuses(connection); });
}

absl::StatusOr<std::vector<v1::Phase>> Store::phases(std::string_view ref) const {
  return parts_->read_of("read phases", ref, [](Connection& connection, const std::string& id) {
    return read_phases(connection, id);
  });
}

absl::StatusOr<std::vector<PlannedRow>> Store::planned(std::string_view ref) const {
  return parts_->read_of("read planned trials", ref, [](Connection& connection, const std::string& id) {
    return read_planned(connection, id, false);
  });
}

absl::StatusOr<std::vector<PlannedRow>> Store::without_outcome(std::string_view ref) const {
  return parts_->read_of(
      "read trials without outcome", ref,
      [](Connection& connection, const std::string& id) { return read_planned(connection, id, true); });
}

absl::StatusOr<std::vector<v1::TrialOutcome>> Store::outcomes(std::string_view ref) const {
  return parts_->read_of("read outcomes", ref, [](Connection& connection, const std::string& id) {
    return read_outcomes(connection, id);
  });
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> Store::builds(std::string_view ref) const {
  return parts_->read_of("read server builds", ref, [](Connection& connection, const std::string& id) {
    return read_builds(connection, id);
  });
}

absl::StatusOr<v1::TrialResponse> Store::trial(std::string_view trial_id) const {
  return parts_->read("read trial", [&](Connection& connection) -> absl::StatusOr<v1::TrialResponse> {
    v1::TrialResponse response;
    HOPYARD_ASSIGN_OR_RETURN(*response.mutable_planned(), read_planned_trial(connection, trial_id));
    HOPYARD_ASSIGN_OR_RETURN(auto result, read_result(connection, trial_id));
    if (result) *response.mutable_result() = *std::move(result);
    return response;
  });
}

absl::StatusOr<Provenance> Store::provenance(std::string_view trial_id) const {
  return parts_->read("read provenance",
                      [&](Connection& connection) { return read_provenance(connection, trial_id); });
}

absl::StatusOr<std::vector<v1::CellFigure>> Store::cells(std::string_view ref) const {
  return parts_->read_of(
      "read cells", ref,
      [](Connection& connection, const std::string& id) -> absl::StatusOr<std::vector<v1::CellFigure>> {
        HOPYARD_ASSIGN_OR_RETURN(const CampaignRow campaign, read_campaign(connection, id));
        return read_cells(connection, campaign);
      });
}

absl::StatusOr<v1::DiagnosticsResponse> Store::diagnostics(std::string_view ref) const {
  return parts_->read_of(
      "read diagnostics", ref,
      [](Connection& connection, const std::string& id) -> absl::StatusOr<v1::DiagnosticsResponse> {
        HOPYARD_ASSIGN_OR_RETURN(const CampaignRow campaign, read_campaign(connection, id));
        HOPYARD_ASSIGN_OR_RETURN(const auto cells, read_diagnostics(connection, campaign));
        HOPYARD_ASSIGN_OR_RETURN(const auto without, read_no_drop_cells(connection, campaign));
        v1::DiagnosticsResponse response;
        response.mutable_cells()->Assign(cells.begin(), cells.end());
        response.mutable_without_drops()->Assign(without.begin(), without.end());
        return response;
      });
}

absl::StatusOr<std::vector<CellSamples>> Store::samples(std::string_view ref) const {
  return parts_->read_of(
      "read samples", ref,
      [](Connection& connection, const std::string& id) -> absl::StatusOr<std::vector<CellSamples>> {
        HOPYARD_ASSIGN_OR_RETURN(const CampaignRow campaign, read_campaign(connection, id));
        return read_samples(connection, campaign);
      });
}

absl::StatusOr<std::vector<PairedSamples>> Store::paired_samples(std::string_view ref,
                                                                 std::string_view case_a,
                                                                 std::string_view case_b) const {
  return parts_->read_of(
      "read paired samples", ref,
      [&](Connection& connection, const std::string& id) -> absl::StatusOr<std::vector<PairedSamples>> {
        HOPYARD_ASSIGN_OR_RETURN(const CampaignRow campaign, read_campaign(connection, id));
        return read_paired_samples(connection, campaign, case_a, case_b);
      });
}

absl::StatusOr<std::vector<v1::PairFigure>> Store::pairs(std::string_view ref, std::string_view case_a,
                                                         std::string_view case_b) const {
  return parts_->read_of(
      "read pairs", ref,
      [&](Connection& connection, const std::string& id) -> absl::StatusOr<std::vector<v1::PairFigure>> {
        HOPYARD_ASSIGN_OR_RETURN(const CampaignRow campaign, read_campaign(connection, id));
        return read_pairs(connection, campaign, case_a, case_b);
      });
}

absl::StatusOr<std::vector<v1::PairFigure>> Store::equivalences(std::string_view ref) const {
  return parts_->read_of(
      "read equivalences", ref,
      [](Connection& connection, const std::string& id) -> absl::StatusOr<std::vector<v1::PairFigure>> {
        HOPYARD_ASSIGN_OR_RETURN(const CampaignRow campaign, read_campaign(connection, id));
        return read_equivalences(connection, campaign);
      });
}

absl::StatusOr<std::vector<v1::InteractionFigure>> Store::interactions(std::string_view ref) const {
  return parts_->read_of("read interactions", ref,
                         [](Connection& connection,
                            const std::string& id) -> absl::StatusOr<std::vector<v1::InteractionFigure>> {
                           HOPYARD_ASSIGN_OR_RETURN(const CampaignRow campaign,
                                                    read_campaign(connection, id));
                           return read_interactions(connection, campaign);
                         });
}

absl::StatusOr<ReportRows> Store::report_rows(std::string_view ref) const {
  return parts_->read_of("read rows of a report", ref, [](Connection& connection, const std::string& id) {
    return read_report_rows(connection, id);
  });
}

absl::StatusOr<v1::CheckDatabaseResponse> Store::check() const {
  auto checked = check_database(parts_->path);
  if (!checked.ok()) return base::annotate(checked.status(), "check database", parts_->path);
  return checked;
}

absl::Status Store::export_copy(const std::string& target) const {
  return base::annotate(copy_database(parts_->path, target), "copy database to", target);
}

absl::Status Store::export_rows(std::string_view ref, v1::ExportFormat format, std::string_view view,
                                const Sink& sink) const {
  HOPYARD_ASSIGN_OR_RETURN(const std::string id, resolve(ref));
  // The sink's own error stays as it is.
  absl::Status sunk;
  const Sink watched = [&](std::string_view piece) { return sunk = sink(piece); };
  const absl::Status exported = export_view(parts_->path, id, format, view, watched);
  return sunk.ok() ? base::annotate(exported, "export", parts_->path) : sunk;
}

}  // namespace hopyard::store

// SPDX-License-Identifier: Apache-2.0
// Picks the metrics worth a column and writes the table.
#include "cli/summary_text.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "cli/comparison_text.h"
#include "cli/output.h"
#include "cli/phase_text.h"
#include "cli/shown.h"
#include "cli/table.h"
#include "fmt/format.h"

namespace hopyard::cli {
namespace {

// A later request that goes out later gains nothing by being answered sooner.
constexpr Shown kFromFirst = {"complete_from_first_ns", "from first"};
constexpr Shown kTimesFromConnect[] = {{"connect_to_first_decrypted_ns", "first decrypted"},
                                       {"connect_to_complete_ns", "complete"}};

using Figures = google::protobuf::RepeatedPtrField<v1::CellFigure>;

// What stands in a table's columns.
struct Layout {
  std::vector<Shown> shown;
  bool failed = true;  // a column for the trials that failed or were invalid
  bool phases = false;
  bool kernels = false;
  bool p90 = false;
  bool p95 = false;
};

struct Row {
  std::string kernel, path, workload, role, case_name;
  uint32_t n = 0;
  uint32_t failed = 0;
  const v1::CellFigure* fullest = nullptr;               // the one whose n this is
  std::map<std::string, const v1::CellFigure*> figures;  // by metric without its role
};

// Where the trials ran: figures of different kernels, clocks and hosts stand apart.
template <typename Cell>
std::string kernel_of(const Cell& cell) {
  return fmt::format("{} {} {}", cell.kernel(), cell.execution(), cell.clock());
}

// In the order in which the daemon gives the figures, but with the cases of one response together.
std::vector<Row> rows_of(const Figures& figures) {
  std::vector<Row> rows;
  for (const auto& cell : figures) {
    const auto [role, metric] = split_metric(cell.metric());
    const auto same = [&, role = role](const Row& row) {
      return row.kernel == kernel_of(cell) && row.path == cell.path() && row.workload == cell.workload() &&
             row.role == role;
    };
    auto place = rows.end();
    for (auto row = rows.begin(); row != rows.end(); ++row) {
      if (!same(*row)) continue;
      place = row + 1;
      if (row->case_name == cell.case_name()) {
        place = row;
        break;
      }
    }
    if (place == rows.end() || !same(*place) || place->case_name != cell.case_name())
      place = rows.insert(place, Row{kernel_of(cell), cell.path(), cell.workload(), role, cell.case_name()});
    if (place->fullest == nullptr || cell.n() > place->n) place->fullest = &cell;
    place->n = std::max(place->n, cell.n());
    place->failed = std::max(place->failed, cell.failed());
    place->figures[metric] = &cell;
  }
  return rows;
}

std::string shown_ms(bool present, double ns) { return present ? milliseconds(ns) : "–"; }

template <typename Rows>
bool several_kernels(const Rows& rows) {
  for (const auto& row : rows) {
    if (kernel_of(row) != kernel_of(rows.Get(0))) return true;
  }
  return false;
}

// "20 + 30": the samples of each phase, in the order of the phases; 0 where a phase has none of the cell.
std::string n_by_phase(const Row& row, const Phases& phases) {
  std::string text;
  for (const auto& phase : phases) {
    uint32_t n = 0;
    for (const auto& part : row.fullest->phases()) {
      if (part.phase() == phase.name()) n = part.n();
    }
    text += fmt::format("{}{}", text.empty() ? "" : " + ", n);
  }
  return text;
}

// The columns that any of the figures fills.
std::vector<Shown> shown_of(const Figures& figures, TimesFrom from) {
  const auto filled = [&figures](const Shown& shown) {
    return std::any_of(figures.begin(), figures.end(), [&shown](const v1::CellFigure& cell) {
      return split_metric(cell.metric()).second == shown.metric;
    });
  };
  std::vector<Shown> all(std::begin(kShown), std::end(kShown));
  all.push_back(kFromFirst);
  if (from == TimesFrom::kConnect) all.assign(std::begin(kTimesFromConnect), std::end(kTimesFromConnect));
  std::vector<Shown> shown;
  std::copy_if(all.begin(), all.end(), std::back_inserter(shown), filled);
  return shown;
}

Layout layout_of(const Figures& figures, TimesFrom from, bool phases) {
  Layout layout{.shown = shown_of(figures, from), .phases = phases, .kernels = several_kernels(figures)};
  for (const auto& cell : figures) {
    layout.p90 |= cell.has_p90_ns();
    // Two times leave room for another percentile.
    layout.p95 |= cell.has_p95_ns() && from == TimesFrom::kConnect;
  }
  return layout;
}

bool shows_any(const Row& row, const Layout& layout) {
  return std::any_of(layout.shown.begin(), layout.shown.end(),
                     [&row](const Shown& shown) { return row.figures.contains(shown.metric); });
}

std::vector<std::string> cells_of(const Row& row, const Phases& phases, const Layout& layout) {
  std::vector<std::string> cells = {row.path, row.workload, row.role, row.case_name, std::to_string(row.n)};
  if (layout.phases) cells.push_back(n_by_phase(row, phases));
  if (layout.failed) cells.push_back(std::to_string(row.failed));
  if (layout.kernels) cells.insert(cells.begin(), row.kernel);
  for (const auto& shown : layout.shown) {
    const auto found = row.figures.find(shown.metric);
    const v1::CellFigure* figure = found == row.figures.end() ? nullptr : found->second;
    cells.push_back(shown_ms(figure != nullptr && figure->has_median_ns(), figure ? figure->median_ns() : 0));
    if (layout.p90)
      cells.push_back(shown_ms(figure != nullptr && figure->has_p90_ns(), figure ? figure->p90_ns() : 0));
    if (layout.p95)
      cells.push_back(shown_ms(figure != nullptr && figure->has_p95_ns(), figure ? figure->p95_ns() : 0));
  }
  return cells;
}

// Empty without figures.
std::string table_text(const Figures& figures, const Phases& phases, const Layout& layout) {
  std::vector<Table::Column> columns = {
      {"path"}, {"workload"}, {"response"}, {"case"}, {"n", Table::Align::kRight}};
  if (layout.phases) columns.push_back({"n by phase", Table::Align::kRight});
  if (layout.failed) columns.push_back({"failed", Table::Align::kRight});
  if (layout.kernels) columns.insert(columns.begin(), {"kernel"});
  for (const auto& shown : layout.shown) {
    columns.push_back({fmt::format("{} ms", shown.title), Table::Align::kRight});
    if (layout.p90) columns.push_back({"p90", Table::Align::kRight});
    if (layout.p95) columns.push_back({"p95", Table::Align::kRight});
  }
  Table table(columns);
  for (const auto& row : rows_of(figures)) {
    if (shows_any(row, layout)) table.add(cells_of(row, phases, layout));
  }
  return table.empty() ? "" : table.text();
}

std::string shown_count(bool present, uint64_t count) { return present ? std::to_string(count) : "–"; }

std::string counts_text(const v1::DiagnosticsResponse& diagnostics) {
  const bool kernels = several_kernels(diagnostics.cells());
  std::vector<Table::Column> columns = {{"path"},
                                        {"workload"},
                                        {"response"},
                                        {"case"},
                                        {"n", Table::Align::kRight},
                                        {"drops to server", Table::Align::kRight},
                                        {"to client", Table::Align::kRight},
                                        {"trials without", Table::Align::kRight},
                                        {"retries", Table::Align::kRight},
                                        {"unsent bytes", Table::Align::kRight}};
  if (kernels) columns.insert(columns.begin(), {"kernel"});
  Table table(columns);
  for (const auto& cell : diagnostics.cells()) {
    const bool counted = cell.has_drops_to_server() || cell.has_drops_to_client();
    std::vector<std::string> row = {
        cell.path(),
        cell.workload(),
        cell.role(),
        cell.case_name(),
        std::to_string(cell.n()),
        shown_count(cell.has_drops_to_server(), cell.drops_to_server()),
        shown_count(cell.has_drops_to_client(), cell.drops_to_client()),
        shown_count(counted, cell.without_drops()),
        fmt::format("{}", cell.median_ssl_write_retries()),
        cell.has_median_unsent_bytes() ? fmt::format("{}", cell.median_unsent_bytes()) : "–"};
    if (kernels) row.insert(row.begin(), kernel_of(cell));
    table.add(std::move(row));
  }
  return table.empty() ? "" : table.text();
}

}  // namespace

std::string summary_text(const v1::SummaryResponse& summary, TimesFrom from) {
  const v1::CampaignStatus& status = summary.status();
  std::string text = fmt::format("{}  {}\n{}\n{}\n", status.campaign_id(), state_name(status.state()),
                                 status.question(), progress_words(status));
  text += pace_words(status);
  if (!status.reason().empty()) text += status.reason() + "\n";
  if (status.has_verification()) text += "verified: " + verification_words(status.verification()) + "\n";
  text += counted_phases(status.phases());
  const Layout layout = layout_of(summary.cells(), from, status.phases_size() > 1);
  const std::string medians = table_text(summary.cells(), status.phases(), layout);
  const char* zero = from == TimesFrom::kConnect ? "the connection's start" : "each request's write";
  if (!medians.empty())
    text += fmt::format("\nMedians on the {} clock, from {}:\n{}", status.clock(), zero, medians);
  return text + comparisons_text(summary);
}

std::string diagnostics_text(const v1::DiagnosticsResponse& diagnostics) {
  const v1::CampaignStatus& status = diagnostics.status();
  std::string text =
      fmt::format("{}  {}\n{}\n", status.campaign_id(), state_name(status.state()), progress_words(status));
  const std::string counts = counts_text(diagnostics);
  if (!counts.empty()) {
    text +=
        "\nRouter drops until the last response was complete, retried writes, bytes unsent at dispatch:\n" +
        counts;
  }
  Layout layout = layout_of(diagnostics.without_drops(), TimesFrom::kRequest, /*phases=*/false);
  layout.failed = false;
  const std::string quiet = table_text(diagnostics.without_drops(), status.phases(), layout);
  if (!quiet.empty()) {
    text +=
        "\nMedians of lossy paths' trials in which the router dropped nothing. Selected by what happened to\n"
        "them: no controlled comparison, and no loss-free path.\n" +
        quiet;
  }
  return text;
}

}  // namespace hopyard::cli

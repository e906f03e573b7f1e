// SPDX-License-Identifier: Apache-2.0
// Chooses columns and words; the numbers come as they are.
#include "cli/comparison_text.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "cli/output.h"
#include "cli/shown.h"
#include "cli/table.h"
#include "fmt/format.h"

namespace hopyard::cli {
namespace {

std::string p_value(double p) { return fmt::format("{:.4f}", p); }

// "0.1": no more digits than the campaign's author wrote.
std::string margin(const v1::EquivalenceFigure& test) {
  return fmt::format("±{} ms", static_cast<double>(test.margin_ns()) / 1e6);
}

// Not shown is not the same as different.
std::string verdict(const v1::EquivalenceFigure& test) {
  return test.equivalent() ? "equivalent" : "not shown";
}

double larger_p(const v1::EquivalenceFigure& test) {
  return std::max(test.p_above_low(), test.p_below_high());
}

std::vector<Table::Column> difference_columns() {
  constexpr auto kRight = Table::Align::kRight;
  return {{"kernel"},
          {"clock"},
          {"path"},
          {"workload"},
          {"metric"},
          {"n", kRight},
          {"median ms", kRight},
          {"HL ms", kRight},
          {"95 % from", kRight},
          {"to", kRight},
          {"-", kRight},
          {"+", kRight},
          {"p", kRight}};
}

template <typename Figure>
std::vector<std::string> difference_row(const Figure& figure, double median_ns) {
  return {figure.kernel(),
          figure.clock(),
          figure.path(),
          figure.workload(),
          figure.metric(),
          std::to_string(figure.n()),
          milliseconds(median_ns),
          milliseconds(figure.hl_ns()),
          figure.has_ci_low_ns() ? milliseconds(figure.ci_low_ns()) : "–",
          figure.has_ci_high_ns() ? milliseconds(figure.ci_high_ns()) : "–",
          std::to_string(figure.negative()),
          std::to_string(figure.positive()),
          p_value(figure.p_value())};
}

// All pairs of a comparison are of the same two cases, so of one margin or none.
std::string pairs_table(const v1::CompareResponse& response) {
  auto columns = difference_columns();
  const bool tested = response.pairs(0).has_equivalence();
  if (tested) {
    columns.push_back({"within " + margin(response.pairs(0).equivalence())});
    columns.push_back({"p", Table::Align::kRight});
  }
  Table table(columns);
  for (const auto& pair : response.pairs()) {
    auto row = difference_row(pair, pair.median_diff_ns());
    if (tested) {
      row.push_back(verdict(pair.equivalence()));
      row.push_back(p_value(larger_p(pair.equivalence())));
    }
    table.add(std::move(row));
  }
  return table.text();
}

std::string contrast(const v1::InteractionFigure& one) {
  return fmt::format("({} - {}) - ({} - {})", one.both(), one.second(), one.first(), one.neither());
}

std::string interactions_table(const v1::CompareResponse& response) {
  std::string text;
  for (int i = 0; i < response.interactions_size();) {
    const std::string name = response.interactions(i).factorial();
    text += fmt::format("\nInteraction {}: {}\n", name, contrast(response.interactions(i)));
    Table table(difference_columns());
    for (; i < response.interactions_size() && response.interactions(i).factorial() == name; ++i)
      table.add(difference_row(response.interactions(i), response.interactions(i).median_ns()));
    text += table.text();
  }
  return text;
}

// Figures of one comparison and response, one for each shown metric.
template <typename Figure>
struct Line {
  std::string kernel, path, workload, role;
  std::string what;  // which comparison
  std::map<std::string, const Figure*> figures;
};

template <typename Figure, typename Figures, typename Name>
std::vector<Line<Figure>> lines_of(const Figures& figures, Name name) {
  std::vector<Line<Figure>> lines;
  for (const Figure& figure : figures) {
    const auto [role, metric] = split_metric(figure.metric());
    const Line<Figure> wanted{fmt::format("{} {} {}", figure.kernel(), figure.execution(), figure.clock()),
                              figure.path(),
                              figure.workload(),
                              role,
                              name(figure),
                              {}};
    const auto key = [](const Line<Figure>& line) {
      return std::tie(line.kernel, line.path, line.workload, line.role, line.what);
    };
    auto found =
        std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return key(line) == key(wanted); });
    if (found == lines.end()) found = lines.insert(lines.end(), wanted);
    found->figures[metric] = &figure;
  }
  return lines;
}

// `cell` words one figure.
template <typename Figure, typename Cell>
std::string lines_table(const std::vector<Line<Figure>>& lines, const std::string& title, Cell cell) {
  const bool kernels = std::any_of(lines.begin(), lines.end(),
                                   [&](const auto& line) { return line.kernel != lines.front().kernel; });
  std::vector<Table::Column> columns = {{"path"}, {"workload"}, {"response"}, {title}};
  if (kernels) columns.insert(columns.begin(), {"kernel"});
  for (const auto& shown : kShown) columns.push_back({shown.title});
  Table table(columns);
  for (const auto& line : lines) {
    std::vector<std::string> row = {line.path, line.workload, line.role, line.what};
    if (kernels) row.insert(row.begin(), line.kernel);
    for (const auto& shown : kShown) {
      const auto found = line.figures.find(shown.metric);
      row.push_back(found == line.figures.end() ? "–" : cell(*found->second));
    }
    table.add(std::move(row));
  }
  return table.text();
}

}  // namespace

std::string compare_text(const v1::CompareResponse& response, const v1::CompareRequest& request) {
  if (response.pairs().empty()) return "no block has a passed trial of both cases\n";
  return fmt::format("{} - {}, paired within blocks; {}\n", request.case_b(), request.case_a(),
                     progress_words(response.status())) +
         pairs_table(response) + interactions_table(response);
}

std::string comparisons_text(const v1::SummaryResponse& summary) {
  std::string text;
  if (!summary.equivalences().empty()) {
    const auto lines = lines_of<v1::PairFigure>(summary.equivalences(), [](const v1::PairFigure& pair) {
      return fmt::format("{} = {} {}", pair.case_a(), pair.case_b(), margin(pair.equivalence()));
    });
    text +=
        "\nEquivalence within the margin (two one-sided tests; \"not shown\" is not \"different\"):\n" +
        lines_table(lines, "cases", [](const v1::PairFigure& pair) {
          return fmt::format("{} (p {})", verdict(pair.equivalence()), p_value(larger_p(pair.equivalence())));
        });
  }
  if (!summary.interactions().empty()) {
    const auto lines = lines_of<v1::InteractionFigure>(
        summary.interactions(), [](const auto& one) { return one.factorial() + ": " + contrast(one); });
    text += "\nInteractions, Hodges-Lehmann ms:\n" +
            lines_table(lines, "factorial", [](const v1::InteractionFigure& one) {
              return fmt::format("{} (p {})", milliseconds(one.hl_ns()), p_value(one.p_value()));
            });
  }
  return text;
}

}  // namespace hopyard::cli

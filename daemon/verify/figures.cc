// SPDX-License-Identifier: Apache-2.0
// v_cell and v_pair, number by number.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "verify/estimators.h"
#include "verify/samples.h"

namespace hopyard::verify {
namespace {

using store::Statement;

using Numbers =
    std::map<std::string, std::vector<std::vector<std::optional<double>>>>;  // a view's rows by their names

// Whole, half and quarter nanoseconds are exact; p values are sums of many small numbers.
bool equal(std::string_view column, const std::optional<double>& a, const std::optional<double>& b) {
  constexpr double kRelative = 1e-9;
  if (!a || !b) return a.has_value() == b.has_value();
  if (*a == *b) return true;
  return column.starts_with("p_") && std::fabs(*a - *b) <= kRelative * std::max(std::fabs(*a), std::fabs(*b));
}

std::string text(const std::optional<double>& number) { return number ? fmt::format("{}", *number) : "none"; }

uint64_t compare(const char* view, const std::vector<const char*>& columns, Numbers& expected, Numbers& seen,
                 Findings& findings) {
  uint64_t compared = 0;
  for (auto& [name, rows] : expected) {
    auto& there = seen[name];
    std::sort(rows.begin(), rows.end());
    std::sort(there.begin(), there.end());
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i >= there.size()) {
        findings.add(view, name, "", "a row", "none", "its trials passed or were lost");
        continue;
      }
      for (size_t c = 0; c < columns.size(); ++c) {
        ++compared;
        if (!equal(columns[c], rows[i][c], there[i][c]))
          findings.add(view, name, columns[c], text(rows[i][c]), text(there[i][c]),
                       "computed from the evidence");
      }
    }
    if (there.size() > rows.size())
      findings.add(view, name, "", fmt::format("{} rows", rows.size()), fmt::format("{}", there.size()),
                   "computed from the evidence");
    seen.erase(name);
  }
  for (const auto& [name, rows] : seen)
    findings.add(view, name, "", "none", fmt::format("{} rows", rows.size()),
                 "nothing in the evidence makes it");
  return compared;
}

absl::StatusOr<Numbers> read(Statement& select, int names, int numbers) {
  Numbers rows;
  while (true) {
    HOPYARD_ASSIGN_OR_RETURN(const bool row, select.step());
    if (!row) return rows;
    std::string name;
    for (int i = 0; i < names; ++i) name += (i > 0 ? ", " : "") + select.text(i);
    std::vector<std::optional<double>> values;
    for (int i = names; i < names + numbers; ++i)
      values.push_back(select.is_null(i) ? std::nullopt : std::optional(select.real(i)));
    rows[name].push_back(std::move(values));
  }
}

std::string name_of(const std::vector<std::string>& parts) {
  std::string name;
  for (const std::string& part : parts) name += (name.empty() ? "" : ", ") + part;
  return name;
}

// Differences of one metric on one host, in order of blocks, and what they say.
struct Job {
  std::string name;
  std::vector<int64_t> differences;
  std::optional<int64_t> margin_ns;
  PairNumbers numbers;
  MarginNumbers margins;
};

void compute_one(Job& job) {
  job.numbers = pair_numbers(job.differences);
  if (job.margin_ns) job.margins = margin_numbers(job.differences, *job.margin_ns);
}

std::vector<std::optional<double>> numbers_of(const Job& job) {
  const PairNumbers& numbers = job.numbers;
  return {static_cast<double>(numbers.n),
          numbers.median,
          numbers.hodges_lehmann,
          numbers.low,
          numbers.high,
          static_cast<double>(numbers.negative),
          static_cast<double>(numbers.positive),
          numbers.p_value};
}

void add_margin(const Job& job, std::vector<std::optional<double>>& numbers) {
  if (!job.margin_ns) return numbers.resize(numbers.size() + 4);
  const auto [above, below] = job.margins;
  constexpr double kLevel = 0.05;
  numbers.insert(numbers.end(), {static_cast<double>(*job.margin_ns), above, below,
                                 std::max(above, below) < kLevel ? 1.0 : 0.0});
}

void compute(std::vector<Job>& jobs) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i; (i = next++) < jobs.size();) compute_one(jobs[i]);
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
}

}  // namespace

bool Samples::has_known_kernel(int64_t cell_no) const {
  for (const auto& [at, counted] : counted_) {
    if (at.cell_no == cell_no && !hosts_.at(at.host_no).kernel.empty()) return true;
  }
  return false;
}

// Trials that ended before their kernel was known are lost beside every kernel of their cell.
uint64_t Samples::lost_beside(const CellHost& at) const {
  uint64_t lost = 0;
  for (const auto& [other, counted] : counted_) {
    if (other.cell_no != at.cell_no) continue;
    if (other.host_no == at.host_no || hosts_.at(other.host_no).kernel.empty()) lost += counted.lost;
  }
  return lost;
}

absl::StatusOr<uint64_t> Samples::check_cells(store::Connection& connection, const Asked& asked,
                                              Findings& findings) const {
  Numbers expected;
  for (const auto& [at, counted] : counted_) {
    const Cell& cell = cells_.at(at.cell_no);
    const Host& host = hosts_.at(at.host_no);
    if (host.kernel.empty() && has_known_kernel(at.cell_no)) continue;
    const auto lost = static_cast<double>(lost_beside(at));
    for (const std::string& metric : cell.metrics) {
      std::vector<int64_t> values;
      if (const auto found = counted.values.find(metric); found != counted.values.end()) {
        for (const auto& [block, value] : found->second) values.push_back(value);
      }
      std::optional<double> least, most;
      if (!values.empty()) {
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        least = static_cast<double>(*low);
        most = static_cast<double>(*high);
      }
      expected[name_of({cell.path, cell.workload, cell.case_name, metric, host.kernel, host.clock,
                        host.execution})]
          .push_back({static_cast<double>(values.size()), lost, median_of(values), percentile_of(values, 90),
                      percentile_of(values, 95), percentile_of(values, 99), least, most});
    }
  }
  Statement select = connection.prepare(
      "SELECT path, workload, case_name, metric, COALESCE(kernel, ''), clock, execution, n, failed, "
      "median_ns,"
      " p90_ns, p95_ns, p99_ns, min_ns, max_ns FROM v_cell WHERE campaign_id = ?");
  select.bind(asked.id);
  HOPYARD_ASSIGN_OR_RETURN(Numbers seen, read(select, 7, 8));
  return compare("v_cell", {"n", "failed", "median_ns", "p90_ns", "p95_ns", "p99_ns", "min_ns", "max_ns"},
                 expected, seen, findings);
}

absl::StatusOr<uint64_t> Samples::check_pairs(store::Connection& connection, const Asked& asked,
                                              Findings& findings) const {
  std::map<std::string, size_t> place;  // of cases: pairs are made in the campaign's order
  for (size_t i = 0; i < asked.cases.size(); ++i) place[asked.cases[i].name] = i;
  std::vector<Job> jobs;
  for (const auto& [at_a, a] : counted_) {
    const Cell& cell = cells_.at(at_a.cell_no);
    for (const auto& [at_b, b] : counted_) {
      const Cell& other = cells_.at(at_b.cell_no);
      if (at_a.host_no != at_b.host_no || !cell.same_place(other) ||
          place[cell.case_name] >= place[other.case_name])
        continue;
      const Host& host = hosts_.at(at_a.host_no);
      for (const auto& [metric, values] : a.values) {
        const auto others = b.values.find(metric);
        if (others == b.values.end()) continue;
        Job job;
        job.name = name_of({cell.path, cell.workload, cell.case_name, other.case_name, metric, host.kernel,
                            host.clock, host.execution});
        job.margin_ns = asked.margin_ns(cell.case_name, other.case_name);
        for (const auto& [block, value] : values) {
          if (const auto pair = others->second.find(block); pair != others->second.end())
            job.differences.push_back(pair->second - value);
        }
        if (!job.differences.empty()) jobs.push_back(std::move(job));
      }
    }
  }
  compute(jobs);
  Numbers expected;
  for (const Job& job : jobs) {
    auto numbers = numbers_of(job);
    add_margin(job, numbers);
    expected[job.name].push_back(std::move(numbers));
  }
  Statement select = connection.prepare(
      "SELECT path, workload, case_a, case_b, metric, kernel, clock, execution, n, median_diff_ns, hl_ns, "
      "ci_low_ns,"
      " ci_high_ns, negative, positive, p_value, margin_ns, p_above_low, p_below_high, equivalent FROM v_pair"
      " WHERE campaign_id = ?");
  select.bind(asked.id);
  HOPYARD_ASSIGN_OR_RETURN(Numbers seen, read(select, 8, 12));
  return compare("v_pair",
                 {"n", "median_diff_ns", "hl_ns", "ci_low_ns", "ci_high_ns", "negative", "positive",
                  "p_value", "margin_ns", "p_above_low", "p_below_high", "equivalent"},
                 expected, seen, findings);
}

// The samples of a case where those of `cell` on its host are; nothing if there are none.
const Samples::Counted* Samples::of_case(const CellHost& at, const std::string& case_name) const {
  const Cell& cell = cells_.at(at.cell_no);
  for (const auto& [other, counted] : counted_) {
    const Cell& there = cells_.at(other.cell_no);
    if (other.host_no == at.host_no && there.case_name == case_name && there.same_place(cell))
      return &counted;
  }
  return nullptr;
}

absl::StatusOr<uint64_t> Samples::check_interactions(store::Connection& connection, const Asked& asked,
                                                     Findings& findings) const {
  std::vector<Job> jobs;
  for (const AskedFactorial& four : asked.factorials) {
    for (const auto& [at, neither] : counted_) {
      const Cell& cell = cells_.at(at.cell_no);
      const Host& host = hosts_.at(at.host_no);
      const Counted* first = of_case(at, four.first);
      const Counted* second = of_case(at, four.second);
      const Counted* both = of_case(at, four.both);
      if (cell.case_name != four.neither || first == nullptr || second == nullptr || both == nullptr)
        continue;
      for (const auto& [metric, values] : neither.values) {
        Job job;
        job.name = name_of({cell.path, cell.workload, four.name, four.neither, four.first, four.second,
                            four.both, metric, host.kernel, host.clock, host.execution});
        for (const auto& [block, value] : values) {
          const auto a = first->at(metric, block), b = second->at(metric, block),
                     ab = both->at(metric, block);
          if (a && b && ab) job.differences.push_back((*ab - *b) - (*a - value));
        }
        if (!job.differences.empty()) jobs.push_back(std::move(job));
      }
    }
  }
  compute(jobs);
  Numbers expected;
  for (const Job& job : jobs) expected[job.name].push_back(numbers_of(job));
  Statement select = connection.prepare(
      "SELECT path, workload, factorial, neither, first, second, both, metric, kernel, clock, execution, n,"
      " median_ns, hl_ns, ci_low_ns, ci_high_ns, negative, positive, p_value FROM v_interaction WHERE "
      "campaign_id = ?");
  select.bind(asked.id);
  HOPYARD_ASSIGN_OR_RETURN(Numbers seen, read(select, 11, 8));
  return compare("v_interaction",
                 {"n", "median_ns", "hl_ns", "ci_low_ns", "ci_high_ns", "negative", "positive", "p_value"},
                 expected, seen, findings);
}

}  // namespace hopyard::verify

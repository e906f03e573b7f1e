// SPDX-License-Identifier: Apache-2.0
// A table of checks, each about one thing, run in order.
#include "plan/checks.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "fmt/format.h"
#include "plan/cells.h"
#include "plan/quantity.h"
#include "plan/schema.h"

namespace hopyard::plan {
namespace {

// The rule of quoting percentiles: samples that must lie beyond one. stats/ holds the same for what is
// quoted.
constexpr uint64_t kSamplesBeyond = 5;

// The median needs no more than one.
uint64_t samples_needed(uint32_t percentile) {
  return percentile == 50 ? 1 : (kSamplesBeyond * 100 + 99 - percentile) / (100 - percentile);
}

struct Context {
  const v1::Campaign& campaign;
  const Known& known;
  const Places& places;
  Problems& problems;

  void at_value(const std::string& path, std::string_view message, std::string_view expected) const {
    problems.add(places.value(path), message, expected);
  }
  void at_key(const std::string& path, std::string_view message, std::string_view expected) const {
    problems.add(places.key(path), message, expected);
  }
  // `name` at `path` is the name of none of `right`, some of which may lack theirs.
  void unknown(const std::string& path, std::string_view what, const std::string& name,
               std::vector<std::string> right) const {
    right.erase(std::remove(right.begin(), right.end(), ""), right.end());
    at_value(path, fmt::format("no {} is called {}{}", what, quoted(name), suggestion(name, right)),
             right.empty() ? "a name that exists; there is none" : enumerated(right));
  }
};

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

template <typename Items>
std::vector<std::string> names_of(const Items& items) {
  std::vector<std::string> names;
  for (const auto& item : items) names.push_back(item.name());
  return names;
}

template <typename Values>
void refuse_repeats(const Context& context, const Values& values, const std::string& path) {
  std::set<typename Values::value_type> seen;
  for (int i = 0; i < values.size(); ++i) {
    if (seen.insert(values[i]).second) continue;
    context.at_value(fmt::format("{}[{}]", path, i), fmt::format("`{}` is listed twice", values[i]),
                     "it once");
  }
}

void check_variants(const Context& context) {
  for (int i = 0; i < context.campaign.cases_size(); ++i) {
    const std::string& variant = context.campaign.cases(i).variant();
    const std::string path = fmt::format("cases[{}].variant", i);
    if (!context.places.written(path) || contains(context.known.variants, variant)) continue;
    context.unknown(path, "variant", variant, context.known.variants);
  }
}

// Keys that only some variants know.
void check_directives(const Context& context) {
  for (int i = 0; i < context.campaign.cases_size(); ++i) {
    const std::string& variant = context.campaign.cases(i).variant();
    const auto own = context.known.directives.find(variant);
    if (!contains(context.known.variants, variant)) continue;  // refused itself
    for (const Key& key : keys_of(*v1::Server::descriptor())) {
      const std::string path = fmt::format("cases[{}].server.{}", i, key.name);
      if (!key.rule->by_variant() || !context.places.written(path)) continue;
      if (own != context.known.directives.end() && contains(own->second, key.name)) continue;
      std::vector<std::string> right;
      for (const auto& [name, directives] : context.known.directives) {
        if (contains(directives, key.name)) right.push_back(name);
      }
      context.at_key(path, fmt::format("variant {} has no directive {}", quoted(variant), quoted(key.name)),
                     right.empty() ? "no such key: no variant has it"
                                   : fmt::format("`variant: {}`, or no such key", enumerated(right)));
    }
  }
}

void check_dynamic_records(const Context& context) {
  constexpr uint64_t kSizeLo = 1369, kSizeHi = 4229;  // the server's defaults
  constexpr int64_t kMillisecondNs = 1'000'000;
  for (int i = 0; i < context.campaign.cases_size(); ++i) {
    const v1::Server& server = context.campaign.cases(i).server();
    const std::string at = fmt::format("cases[{}].server", i);
    const uint64_t lo = server.has_ssl_dyn_rec_size_lo_bytes() ? server.ssl_dyn_rec_size_lo_bytes() : kSizeLo;
    const uint64_t hi = server.has_ssl_dyn_rec_size_hi_bytes() ? server.ssl_dyn_rec_size_hi_bytes() : kSizeHi;
    if (lo >= hi) {
      const bool hi_written = context.places.written(at + ".ssl_dyn_rec_size_hi");
      context.at_value(
          at + (hi_written ? ".ssl_dyn_rec_size_hi" : ".ssl_dyn_rec_size_lo"),
          fmt::format("records of {} bytes are followed by records of {}", lo, hi),
          "an `ssl_dyn_rec_size_hi` (4229B if absent) above `ssl_dyn_rec_size_lo` (1369B if absent)");
    }
    if (server.ssl_dyn_rec_timeout_ns() % kMillisecondNs != 0) {
      context.at_value(at + ".ssl_dyn_rec_timeout",
                       "`ssl_dyn_rec_timeout` is no whole number of milliseconds",
                       "a time that nginx can hold, such as `1s` or `250ms`");
    }
  }
}

void check_kernels(const Context& context) {
  std::vector<std::string> kernels = context.known.kernels;
  if (!contains(kernels, "auto")) kernels.insert(kernels.begin(), "auto");
  for (int i = 0; i < context.campaign.kernel_size(); ++i) {
    const std::string& kernel = context.campaign.kernel(i);
    if (contains(kernels, kernel)) continue;
    context.unknown(fmt::format("kernel[{}]", i), "kernel", kernel, kernels);
  }
  refuse_repeats(context, context.campaign.kernel(), "kernel");
}

// "auto" finds one that has it.
void check_clock(const Context& context) {
  if (context.campaign.clock() != "virtual") return;
  std::vector<std::string> able = context.known.virtual_kernels;
  able.insert(able.begin(), "auto");
  for (int i = 0; i < context.campaign.kernel_size(); ++i) {
    const std::string& kernel = context.campaign.kernel(i);
    if (contains(able, kernel) || !contains(context.known.kernels, kernel)) continue;
    context.at_value(fmt::format("kernel[{}]", i),
                     fmt::format("{} has no virtual clock, which `clock: virtual` asks for", quoted(kernel)),
                     enumerated(able));
  }
}

void check_unix_path(const Context& context, const std::string& path) {
  for (const char* key : {"rtt", "rate", "loss", "limit"}) {
    const std::string impairment = path + "." + key;
    if (!context.places.written(impairment)) continue;
    context.at_key(impairment, fmt::format("`{}` on a path of kind `unix`", key),
                   "no impairment there, or kind `routed`");
  }
}

// Either kind that has netem.
void check_impaired_path(const Context& context, const v1::Path& path, const std::string& at) {
  for (const char* key : {"rtt", "rate", "loss"}) {
    if (!context.places.written(at + "." + key) || context.places.written(at + ".limit")) continue;
    context.at_key(at + "." + key, fmt::format("`{}` without a packet `limit`", key),
                   "a limit in packets that the path's queue cannot reach unnoticed, such as `limit: 10000`");
    break;
  }
  if (path.rtt_ns() % 2 != 0) {
    context.at_value(at + ".rtt", "`rtt` cannot be halved in whole nanoseconds",
                     "an even number of nanoseconds");
  }
  if (path.rate_bps() % 8 != 0) {
    context.at_value(at + ".rate", "`rate` is no whole number of bytes a second, in which netem counts",
                     "a multiple of 8 bit/s");
  }
}

void check_paths(const Context& context) {
  for (int i = 0; i < context.campaign.paths_size(); ++i) {
    const v1::Path& path = context.campaign.paths(i);
    const std::string at = fmt::format("paths[{}]", i);
    if (path.kind() == "unix") check_unix_path(context, at);
    if (path.kind() == "routed" || path.kind() == "loopback") check_impaired_path(context, path, at);
  }
}

// `request` waits for another one of its workload, an earlier one.
void check_after(const Context& context, const v1::Workload& workload, int index, const std::string& at) {
  const v1::After& after = workload.requests(index).after();
  const std::vector<std::string> names = names_of(workload.requests());
  const auto awaited = std::find(names.begin(), names.end(), after.request());
  if (!context.places.written(at + ".request")) return;
  if (awaited == names.end()) {
    const std::vector<std::string> earlier(names.begin(), names.begin() + index);
    return context.unknown(at + ".request", "request", after.request(), earlier);
  }
  if (awaited - names.begin() >= index) {
    const bool itself = *awaited == workload.requests(index).name();
    return context.at_value(at + ".request",
                            fmt::format("{} waits for {}", quoted(names[static_cast<size_t>(index)]),
                                        itself ? "itself" : "a later request, " + quoted(*awaited)),
                            "the name of a request above it");
  }
  const uint64_t whole = workload.requests(static_cast<int>(awaited - names.begin())).body_bytes();
  if (whole == 0 || after.body_bytes() <= whole) return;
  context.at_value(at + ".body",
                   fmt::format("{} has no more than {}", quoted(*awaited),
                               format_quantity(static_cast<double>(whole), v1::UNIT_SIZE)),
                   "a part of the awaited body");
}

// HTTP/1.1 carries one response after the other.
void check_h1_request(const Context& context, const v1::Workload& workload, int index,
                      const std::string& at) {
  if (context.places.written(at + ".after.body")) {
    context.at_key(at + ".after.body", "`body` in `after` of an h1 workload",
                   "no `body` there (HTTP/1.1 has one response at a time), or protocol h2");
  }
  if (index == 0) return;
  const std::string& before = workload.requests(index - 1).name();
  const bool waits = context.places.written(at + ".after");
  const std::string expected =
      fmt::format("`after: {{request: {}}}`: HTTP/1.1 has one response at a time", before);
  if (!waits) {
    context.at_value(at, fmt::format("request {} of an h1 workload waits for none", index + 1), expected);
  } else if (context.places.written(at + ".after.request") &&
             workload.requests(index).after().request() != before) {
    context.at_value(at + ".after.request", "an h1 request waits for another than the one before it",
                     expected);
  }
}

void check_workloads(const Context& context) {
  for (int i = 0; i < context.campaign.workloads_size(); ++i) {
    const v1::Workload& workload = context.campaign.workloads(i);
    const std::string at = fmt::format("workloads[{}]", i);
    const std::string& protocol = workload.protocol();
    const bool known = protocol == "h1" || protocol == "h2";
    if (known && context.places.written(at + ".name") && workload.name().rfind(protocol + "-", 0) != 0) {
      context.at_value(at + ".name",
                       fmt::format("{} does not begin with its protocol", quoted(workload.name())),
                       fmt::format("a name that begins with `{}-`", protocol));
    }
    if (workload.requests_size() > kMaxRequests) {
      context.at_key(at + ".requests", fmt::format("{} requests on one connection", workload.requests_size()),
                     fmt::format("at most {}", kMaxRequests));
      continue;
    }
    for (int j = 0; j < workload.requests_size(); ++j) {
      const std::string request = fmt::format("{}.requests[{}]", at, j);
      if (workload.requests(j).has_after()) check_after(context, workload, j, request + ".after");
      if (protocol == "h1") check_h1_request(context, workload, j, request);
    }
  }
}

// One kind of thing that `cells` may name.
struct Named {
  template <typename Items>
  Named(std::string_view kind, const Items& items) : what(kind), names(names_of(items)) {
    lookup.insert(names.begin(), names.end());
  }
  std::string_view what;
  std::vector<std::string> names;
  std::unordered_set<std::string> lookup;
};

template <typename Names>
void check_references(const Context& context, const Names& names, const Named& right,
                      const std::string& path) {
  for (int i = 0; i < names.size(); ++i) {
    if (right.lookup.contains(names[i])) continue;
    if (context.problems.full()) return;
    context.unknown(fmt::format("{}[{}]", path, i), right.what, names[i], right.names);
  }
  refuse_repeats(context, names, path);
}

// What the entries of any `cells` may name.
struct Names {
  explicit Names(const v1::Campaign& campaign)
      : cases("case", campaign.cases()),
        paths("path", campaign.paths()),
        workloads("workload", campaign.workloads()) {}
  Named cases;
  Named paths;
  Named workloads;
};

template <typename CellList>
void check_cells(const Context& context, const Names& names, const CellList& cells, const std::string& path) {
  for (int i = 0; i < cells.size(); ++i) {
    const std::string at = fmt::format("{}[{}]", path, i);
    check_references(context, cells[i].cases(), names.cases, at + ".cases");
    check_references(context, cells[i].paths(), names.paths, at + ".paths");
    check_references(context, cells[i].workloads(), names.workloads, at + ".workloads");
  }
}

std::string extension_at(int index) { return fmt::format("extensions[{}]", index); }

void check_extension(const Context& context, const Names& names, int index) {
  const v1::Extension& extension = context.campaign.extensions(index);
  const std::string at = extension_at(index);
  if (extension.name() == kInitialPhase) {
    context.at_value(at + ".name",
                     fmt::format("{} is the phase before all extensions", quoted(kInitialPhase)),
                     "a name of its own");
  }
  check_cells(context, names, extension.cells(), at + ".cells");
}

void check_selections(const Context& context) {
  const Names names(context.campaign);
  check_cells(context, names, context.campaign.cells(), "cells");
  for (int i = 0; i < context.campaign.extensions_size(); ++i) check_extension(context, names, i);
}

bool is_case(const Context& context, const std::string& path, const std::string& name,
             const std::vector<std::string>& cases) {
  if (contains(cases, name)) return true;
  if (context.places.written(path)) context.unknown(path, "case", name, cases);
  return false;
}

// Every two of an entry's cases have its margin, so no other entry may name both.
void check_margins(const Context& context, const v1::Equivalence& entry, const std::string& at,
                   std::set<std::pair<std::string, std::string>>& pairs) {
  for (int i = 0; i < entry.cases_size(); ++i) {
    for (int j = i + 1; j < entry.cases_size(); ++j) {
      if (pairs.insert(std::minmax(entry.cases(i), entry.cases(j))).second) continue;
      return context.at_value(
          fmt::format("{}.cases[{}]", at, j),
          fmt::format("{} and {} have a margin already", quoted(entry.cases(i)), quoted(entry.cases(j))),
          "one margin for two cases");
    }
  }
}

void check_equivalence(const Context& context) {
  const Named cases("case", context.campaign.cases());
  std::set<std::pair<std::string, std::string>> pairs;
  for (int i = 0; i < context.campaign.equivalence_size(); ++i) {
    const v1::Equivalence& entry = context.campaign.equivalence(i);
    const std::string at = fmt::format("equivalence[{}]", i);
    check_references(context, entry.cases(), cases, at + ".cases");
    if (entry.cases_size() == 1)
      context.at_value(at + ".cases", "one case alone", "two cases or more, such as `[D, F]`");
    check_margins(context, entry, at, pairs);
  }
}

void check_factorials(const Context& context) {
  const std::vector<std::string> cases = names_of(context.campaign.cases());
  for (int i = 0; i < context.campaign.factorials_size(); ++i) {
    const v1::Factorial& four = context.campaign.factorials(i);
    const std::pair<const char*, const std::string&> corners[] = {{"neither", four.neither()},
                                                                  {"first", four.first()},
                                                                  {"second", four.second()},
                                                                  {"both", four.both()}};
    std::set<std::string> seen;
    for (const auto& [key, name] : corners) {
      const std::string path = fmt::format("factorials[{}].{}", i, key);
      if (!is_case(context, path, name, cases) || seen.insert(name).second) continue;
      context.at_value(path, fmt::format("{} stands in two corners", quoted(name)), "four different cases");
    }
  }
}

// What follows looks at every cell. Phase 0 is the initial one, phase n the extension before n.
void check_unix_cases(const Context& context, const std::vector<Phase>& phases) {
  std::set<int> reported;
  for (size_t i = 0; i < phases.size(); ++i) {
    for (const Cell& cell : phases[i].cells) {
      const v1::Path& path = context.campaign.paths(cell.path);
      const v1::Case& the_case = context.campaign.cases(cell.the_case);
      if (path.kind() != "unix" || !the_case.has_tcp() || !reported.insert(cell.the_case).second) continue;
      context.at_key(i == 0 ? fmt::format("cases[{}].tcp", cell.the_case)
                            : extension_at(static_cast<int>(i) - 1) + ".cells",
                     fmt::format("case {} has `tcp` settings, and path {} has no TCP",
                                 quoted(the_case.name()), quoted(path.name())),
                     "no `tcp` there, or `cells` that keep the two apart");
    }
  }
}

// Of any cell, over all phases; zero where some repetitions are wrong or missing, which is listed.
uint32_t fewest_repetitions(const std::vector<Phase>& phases) {
  uint32_t fewest = UINT32_MAX;
  for (const Phase& phase : phases) {
    for (const Cell& cell : phase.cells) fewest = cell.repetitions == 0 ? 0 : fewest;
  }
  for (const Cell& cell : cells_in_all(phases)) fewest = std::min(fewest, cell.repetitions);
  return fewest;
}

void check_percentiles(const Context& context, const std::vector<Phase>& phases) {
  refuse_repeats(context, context.campaign.percentiles(), "percentiles");
  const uint32_t fewest = fewest_repetitions(phases);
  if (fewest == 0) return;
  for (int i = 0; i < context.campaign.percentiles_size(); ++i) {
    const uint32_t percentile = context.campaign.percentiles(i);
    if (fewest >= samples_needed(percentile)) continue;
    const std::string at = fmt::format("percentiles[{}]", i);
    // An extension by itself: the percentiles were written elsewhere.
    context.at_value(context.places.written(at)
                         ? at
                         : extension_at(context.campaign.extensions_size() - 1) + ".repetitions",
                     fmt::format("p{} cannot be estimated from {} repetitions of a cell", percentile, fewest),
                     fmt::format("at least {} repetitions of every cell ({} samples beyond it), or no p{}",
                                 samples_needed(percentile), kSamplesBeyond, percentile));
  }
}

double trials_of(const Context& context, const Phase& phase) {
  double trials = 0;
  for (const Cell& cell : phase.cells) trials += cell.repetitions;
  return trials * context.campaign.kernel_size();
}

void check_size(const Context& context, const std::vector<Phase>& phases) {
  const double own = trials_of(context, phases[0]);
  const std::string at_most = fmt::format("at most {:.0f} in one campaign", kMaxTrials);
  if (own > kMaxTrials) {
    return context.at_value("repetitions",
                            fmt::format("{:.0f} trials ({} cells on {} kernels)", own, phases[0].cells.size(),
                                        context.campaign.kernel_size()),
                            at_most);
  }
  double trials = own;
  for (size_t i = 1; i < phases.size(); ++i) {
    const std::string at = extension_at(static_cast<int>(i) - 1) + ".repetitions";
    trials += trials_of(context, phases[i]);
    const uint32_t blocks = phases[i].first_block + phases[i].blocks;
    if (trials > kMaxTrials) {
      return context.at_value(at, fmt::format("{:.0f} trials up to this phase", trials), at_most);
    }
    if (blocks > kMaxBlocks) {
      return context.at_value(at, fmt::format("{} blocks up to this phase", blocks),
                              fmt::format("at most {} in one campaign", kMaxBlocks));
    }
  }
}

bool check_cells_named(const Context& context) {
  const double named = cells_named(context.campaign);
  if (named <= kMaxCellsNamed) return true;
  const bool extended = context.campaign.extensions_size() > 0;
  context.at_key(extended                           ? "extensions"
                 : context.campaign.cells().empty() ? "cases"
                                                    : "cells",
                 fmt::format("{:.0f} cells to run or look at", named),
                 fmt::format("at most {:.0f} trials in one campaign", kMaxTrials));
  return false;
}

void check_whole(const Context& context) {
  if (!check_cells_named(context)) return;
  const std::vector<Phase> phases = phases_of(context.campaign);
  check_unix_cases(context, phases);
  check_percentiles(context, phases);
  check_size(context, phases);
}

}  // namespace

void check_campaign(const v1::Campaign& campaign, const Known& known, const Places& places,
                    Problems& problems) {
  const Context context{campaign, known, places, problems};
  for (const auto check :
       {check_variants, check_directives, check_dynamic_records, check_kernels, check_clock, check_paths,
        check_workloads, check_selections, check_equivalence, check_factorials}) {
    check(context);
  }
  check_whole(context);
}

void check_last_extension(const v1::Campaign& campaign, const Places& places, Problems& problems) {
  const Known nothing;
  const Context context{campaign, nothing, places, problems};
  const int last = campaign.extensions_size() - 1;
  const std::string& name = campaign.extensions(last).name();
  check_extension(context, Names(campaign), last);
  for (int i = 0; i < last; ++i) {
    if (campaign.extensions(i).name() != name) continue;
    context.at_value(extension_at(last) + ".name", fmt::format("{} is a phase of it already", quoted(name)),
                     "another name");
  }
  check_whole(context);
}

}  // namespace hopyard::plan

// SPDX-License-Identifier: Apache-2.0
// See chart_table.h.
#include "report/chart_table.h"

#include "fmt/format.h"

namespace hopyard::report {

std::optional<double> given(bool present, double value) {
  return present ? std::optional<double>(value) : std::nullopt;
}

std::string counted(std::string_view name, uint32_t count) {
  return fmt::format("<span class=\"{}\">{}</span>", name, count);
}

std::string row_attributes(const std::string& group, const std::string& label, const std::string& more,
                           bool fresh) {
  return fmt::format(" data-group=\"{}\" data-label=\"{}\"{}{}", escaped(group), escaped(label), more,
                     fresh ? " class=\"new-path\"" : "");
}

void write_plot(const Milestone& milestone, size_t place, std::string_view kind, std::string_view title,
                std::string_view about, Output& out) {
  out.put(fmt::format(
      "<figcaption>{}</figcaption>\n<div class=\"plot\" data-kind=\"{}\" data-figure=\"{}\" "
      "data-title=\"{}, {}: {}\" data-about=\"{}\"></div>\n",
      title, kind, place, escaped(milestone.workload), escaped(title_of(milestone)), title, about));
}

}  // namespace hopyard::report

// SPDX-License-Identifier: Apache-2.0
// What tables with a chart above them share. The script draws the chart from the table's rows.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "report/html.h"
#include "report/model.h"

namespace hopyard::report {

std::optional<double> given(bool present, double value);
// A count the script looks for by its name.
std::string counted(std::string_view name, uint32_t count);
// What the chart needs to know of a row that its cells do not say; `fresh`: the first of its group.
std::string row_attributes(const std::string& group, const std::string& label, const std::string& more,
                           bool fresh);
// The place of a chart, filled by the script.
void write_plot(const Milestone& milestone, size_t place, std::string_view kind, std::string_view title,
                std::string_view about, Output& out);

}  // namespace hopyard::report

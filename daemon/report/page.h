// SPDX-License-Identifier: Apache-2.0
// report.html, report.css and report.js as they were when this was built.
#pragma once

namespace hopyard::report {

extern const char kPageHtml[];
extern const char kPageCss[];
extern const char kPageJs[];

}  // namespace hopyard::report

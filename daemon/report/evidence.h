// SPDX-License-Identifier: Apache-2.0
// What a report says beside figures: the heading's facts, what the trials ran with and were held to, the
// campaign's text.
#pragma once

#include "report/html.h"
#include "report/model.h"

namespace hopyard::report {

void write_facts(const Model& model, Output& out);
void write_evidence(const Model& model, Output& out);
void write_campaign_text(const Model& model, Output& out);

}  // namespace hopyard::report

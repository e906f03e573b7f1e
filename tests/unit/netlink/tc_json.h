// SPDX-License-Identifier: Apache-2.0
// What `tc -s -j qdisc` prints, held against QdiscInfo key by key.
#pragma once

#include <string>

#include "netlink/qdisc.h"

namespace hopyard::netlink_test {

// `json`: tc's list; `link_name`: whose root qdisc `info` is. Every key tc prints must be in `info` with the
// same value, and what tc leaves out must be nothing. Gives the number of keys compared.
size_t expect_as_tc_says(const std::string& json, const std::string& link_name,
                         const netlink::QdiscInfo& info);

}  // namespace hopyard::netlink_test

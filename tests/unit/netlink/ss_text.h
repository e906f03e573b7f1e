// SPDX-License-Identifier: Apache-2.0
// What `ss -tinmoH` prints of one socket, held against a SocketInfo figure by figure.
#pragma once

#include <string>

#include "netlink/sock_diag.h"

namespace hopyard::netlink_test {

// `ss` prints its line between two dumps of the same socket: each of its figures must lie between theirs, and
// each figure that it leaves out must be nothing (or the default it leaves out). A word it prints that no
// rule here knows fails the test. Gives the number of figures compared.
size_t expect_as_ss_says(const std::string& ss_line, const netlink::SocketInfo& before,
                         const netlink::SocketInfo& after);

}  // namespace hopyard::netlink_test

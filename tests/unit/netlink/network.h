// SPDX-License-Identifier: Apache-2.0
// Network namespaces, TCP connections and commands for the tests of netlink/, on the machine and in guests.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/status.h"

namespace hopyard::netlink_test {

// Makes the caller root of a fresh user namespace. Once, before any thread is started.
absl::Status enter_user_namespace();

// Each test begins in a fresh network namespace with loopback up; needs root there (see above).
class NetworkTest : public testing::Test {
 protected:
  void SetUp() override;
};

base::Fd current_netns();
// A fresh namespace; the caller stays where it was.
base::Fd new_netns();
// Calls `what` inside `netns` and comes back.
void inside(const base::Fd& netns, const std::function<void()>& what);

// Runs a program to its end and gives its output; a failed program fails the test.
std::string output_of(const std::vector<std::string>& argv);

// An established TCP connection inside the current namespace.
struct TcpPair {
  base::Fd client;
  base::Fd server;
  uint16_t client_port = 0;
  uint16_t server_port = 0;
};
// `address` IPv4 or IPv6; congestion_control empty: the default.
TcpPair connect_tcp(const std::string& address, const std::string& congestion_control = "");
// Its two halves, for ends in different namespaces.
base::Fd listen_tcp(const std::string& address, const std::string& congestion_control);
TcpPair connect_to(const base::Fd& listener, const std::string& congestion_control);
// A connected UDP socket; nobody need listen.
base::Fd udp_to(const std::string& address);
// Writes `bytes` from one end and reads them at the other.
void transfer(const base::Fd& from, const base::Fd& to, size_t bytes);

}  // namespace hopyard::netlink_test

// ASSERT_OK_AND_TAKE(auto value, expression): a test's HOPYARD_ASSIGN_OR_RETURN.
#define ASSERT_OK_AND_TAKE(declaration, expression) \
  ASSERT_OK_AND_TAKE_IMPL_(HOPYARD_CONCAT_(taken_, __LINE__), declaration, expression)
#define ASSERT_OK_AND_TAKE_IMPL_(result, declaration, expression) \
  auto result = (expression);                                     \
  ASSERT_TRUE(result.ok()) << result.status();                    \
  declaration = std::move(result).value()

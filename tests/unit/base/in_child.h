// SPDX-License-Identifier: Apache-2.0
// Runs a piece of a test in a process of its own: what it does to that process is gone with it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "base/fd.h"
#include "fmt/format.h"

namespace hopyard::base {

// What `body` says in a child, and the signal by which that ended, if one did.
inline std::string in_child(const std::function<std::string()>& body) {
  auto pipe = make_pipe();
  EXPECT_TRUE(pipe.ok());
  const pid_t child = ::fork();
  if (child == 0) {
    (void)write_all(pipe->write.get(), body());
    ::_exit(0);
  }
  pipe->write.reset();
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(pipe->read.get(), buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? fmt::format("{}signal {}", text, WTERMSIG(status)) : text;
}

}  // namespace hopyard::base
